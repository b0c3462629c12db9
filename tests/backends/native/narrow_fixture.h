// Variants in accuracy class fast: those with 16-bit elements at their ports, and those that pack weights so.
// In: texts as native_fixture.h reads them, the element type. Out: findings for GoogleTest.
// How: a type that is not this processor's own is forced: it is rounded in the same places, by other instructions.
// Cost: as there.
// Source: ours.
#pragma once

#include <array>
#include <string>

#include "native_fixture.h"
#include "tests/support/scoped_variable.h"

namespace collage::test {

/// Whether kernels compute in bfloat16 here, by instructions of the processor.
bool has_narrow_arithmetic();
/// The types that are tested.
inline constexpr std::array kNarrowElements = {ElementType::kBfloat16, ElementType::kFloat16};

/// As long as it lives, this type is the one that kernels are offered in.
class NarrowElement : public ScopedVariable {
 public:
  explicit NarrowElement(ElementType element)
      : ScopedVariable("COLLAGE_NARROW_ELEMENT", std::string(name_of(element))) {}
};

inline CompileOptions fast_options() { return {.accuracy = Accuracy::kFast}; }

/// Inputs of the graph, those in f32 rounded to the type of 16 bits: what a narrow port can hold.
std::vector<Tensor> narrow_inputs_of(const Graph& graph, ElementType element);
/// The reference's outputs for these inputs.
std::vector<Tensor> narrow_expected_of(const Graph& graph, ElementType element);
/// "" when the variant's outputs are as close to them as class fast asks for.
std::string narrow_problem_of(const Graph& graph, ElementType element, const std::vector<Tensor>& expected,
                              const Variant& variant);
/// Runs every variant of class fast whose name begins so and that other classes do not have; gives their names.
std::vector<std::string> expect_right_narrow(const std::string& text, ElementType element, const std::string& name);

}  // namespace collage::test
