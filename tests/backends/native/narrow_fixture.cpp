#include "narrow_fixture.h"

#include <algorithm>

#include "backend/narrow_element.h"
#include "base/narrow_float.h"
#include "instruction_set.h"

namespace collage::test {
namespace {

float rounded(float number, ElementType element) {
  return element == ElementType::kBfloat16 ? from_bfloat(to_bfloat(number)) : from_half(to_half(number));
}

}  // namespace

bool has_narrow_arithmetic() {
  const native::InstructionSet* const set = native::best_instruction_set();
  return set != nullptr && set->has_bf16 && multiplied_narrow_element(fast_options()).has_value();
}

std::vector<Tensor> narrow_inputs_of(const Graph& graph, ElementType element) {
  std::vector<Tensor> inputs = inputs_of(graph);
  for (Tensor& input : inputs) {
    if (input.type != ElementType::kFloat32) continue;
    std::vector<float> numbers;
    for (const float number : input.data.as<float>()) numbers.push_back(rounded(number, element));
    input = make_tensor(input.type, input.extents, numbers);
  }
  return inputs;
}

std::vector<Tensor> narrow_expected_of(const Graph& graph, ElementType element) {
  return expected_of(graph, narrow_inputs_of(graph, element));
}

std::string narrow_problem_of(const Graph& graph, ElementType element, const std::vector<Tensor>& expected,
                              const Variant& variant) {
  const auto ran = VariantRunner("native", graph, narrow_inputs_of(graph, element), fast_options()).run(variant);
  if (!ran) return "not compiled: " + ran.error().detail;
  return difference(ran->outputs, expected, Accuracy::kFast);
}

std::vector<std::string> expect_right_narrow(const std::string& text, ElementType element, const std::string& name) {
  const NarrowElement forced(element);
  const Graph graph = graph_of(text);
  const std::vector<Variant> usual = variants_of(compiling(), graph);
  const std::vector<Tensor> expected = narrow_expected_of(graph, element);
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(compiling(), graph, fast_options())) {
    if (!variant.name.starts_with(name) || std::ranges::find(usual, variant) != usual.end()) continue;
    SCOPED_TRACE(variant.name + '\n' + text);
    EXPECT_EQ(narrow_problem_of(graph, element, expected, variant), "");
    names.push_back(variant.name);
  }
  return names;
}

}  // namespace collage::test
