// Graphs from text, and running every variant that the native backend offers for them against ONNX Runtime.
// In: texts in which every type is written; inputs called w... become constants. Out: plain tensors, findings for
// GoogleTest. All numbers follow from the names of the values, so that a text is a whole test case.
// Cost: 0.1 to 0.5 s of compiling a variant.
// Source: ours.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/extensions/constants_extension.h"
#include "backend/registry.h"
#include "region/variant.h"
#include "tests/support/variant_runner.h"

namespace collage::test {

inline Backend& compiling() { return compiling("native"); }
inline Backend& loading() { return loading("native"); }
/// Whether there is something to compare with.
bool has_reference();

Graph graph_of(const std::string& text);
/// Inputs of the graph, in order. Names that begin with p have positive numbers, those with zeros zeros.
std::vector<Tensor> inputs_of(const Graph& graph);
/// What ONNX Runtime makes of the graph without optimisation. A refusal stops the test program.
std::vector<Tensor> expected_of(const Graph& graph);
std::vector<Tensor> expected_of(const Graph& graph, const std::vector<Tensor>& inputs);

/// The variants of the whole graph; none, and a finding, when it is refused.
std::vector<Variant> variants_of(Backend& backend, const Graph& graph, const CompileOptions& options = {});
/// The first variant whose name begins so. None stops the test program.
Variant variant_of(Backend& backend, const Graph& graph, const std::string& name, const CompileOptions& options = {});
/// The artifact of one variant; an empty one, and a finding, when it is refused.
Artifact artifact_of(Backend& backend, const Graph& graph, const Variant& variant, const CompileOptions& options = {});
/// run_twice() on inputs_of the graph.
std::vector<Tensor> run_kernel(const Kernel& kernel, const Graph& graph, const Variant& variant,
                               std::size_t workspace_bytes);
/// Compiled by one instance, loaded and run by another; nothing, and a finding, when that fails.
std::vector<Tensor> run_variant(const Graph& graph, const Variant& variant, const CompileOptions& options = {},
                                const std::string& instance = "native");

/// "" when they are as close as the class asks for, else the first difference. Integers of outputs marked in `one_step`
/// may differ by one. `sizes` as in problem_of.
std::string difference(const std::vector<Tensor>& seen, const std::vector<Tensor>& expected, Accuracy accuracy,
                       const std::vector<bool>& one_step = {}, const std::vector<Tensor>& sizes = {});
/// The sums of |a||b| that rounding errors of the outputs are bounded by (numbers/magnitude_twin.h); none where no
/// such sums bound them.
std::vector<Tensor> sizes_of(const Graph& graph);
/// "" when the variant computes what ONNX Runtime does: strictly, unless it transforms its weights. With `sizes`
/// results may be as far off as these allow.
std::string problem_of(const Graph& graph, const std::vector<Tensor>& expected, const Variant& variant,
                       const CompileOptions& options = {}, const std::string& instance = "native",
                       const std::vector<Tensor>& sizes = {});
/// Runs every variant and reports each that is wrong; gives the names of the variants.
std::vector<std::string> expect_right(const std::string& text, const CompileOptions& options = {},
                                      const std::string& instance = "native");

}  // namespace collage::test
