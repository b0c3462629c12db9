// Variants in accuracy class fast: those with bfloat16 elements at their ports, and those that pack weights so.
// In: texts as native_fixture.h reads them. Out: findings for GoogleTest.
// Cost: as there.
// Source: ours.
#pragma once

#include "native_fixture.h"

namespace collage::test {

/// Whether kernels compute in bfloat16 here.
bool has_narrow();
inline CompileOptions fast_options() { return {.accuracy = Accuracy::kFast}; }

/// Inputs of the graph, those in f32 rounded to bfloat16: what a narrow port can hold.
std::vector<Tensor> narrow_inputs_of(const Graph& graph);
/// The reference's outputs for these inputs.
std::vector<Tensor> narrow_expected_of(const Graph& graph);
/// "" when the variant's outputs are as close to them as class fast asks for.
std::string narrow_problem_of(const Graph& graph, const std::vector<Tensor>& expected, const Variant& variant);
/// Runs every variant of class fast whose name begins so and that other classes do not have; gives their names.
std::vector<std::string> expect_right_narrow(const std::string& text, const std::string& name);

}  // namespace collage::test
