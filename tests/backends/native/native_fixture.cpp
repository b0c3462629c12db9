#include "native_fixture.h"

#include <algorithm>
#include <set>

#include "backend/roles.h"
#include "numbers/compare.h"
#include "numbers/magnitude_twin.h"
#include "numbers/quantisers.h"
#include "numbers/reference_run.h"
#include "numbers/region_numbers.h"
#include "tests/support/dice.h"

namespace collage::test {
namespace {

std::uint64_t seed_of(const std::string& name) {
  std::uint64_t seed = 7;
  for (const char letter : name) seed = seed * 131 + static_cast<unsigned char>(letter);
  return seed;
}

template <class T>
Tensor drawn(const Value& value, double low, double high) {
  Dice dice(seed_of(value.name));
  const Extents extents = value.type.extents();
  std::vector<T> numbers(static_cast<std::size_t>(element_count(extents)));
  for (T& number : numbers)
    number = static_cast<T>(low + (high - low) * static_cast<double>(dice.next() >> 11) * 0x1p-53);
  return make_tensor(value.type.element, extents, numbers);
}

Tensor drawn(const Value& value) {
  const bool is_positive = value.name.starts_with('p') || value.name.starts_with("wp");
  switch (value.type.element) {
    case ElementType::kFloat32:
      if (value.name.starts_with("zeros")) return drawn<float>(value, 0, 0);
      return drawn<float>(value, is_positive ? 0.5 : -1, 1);
    case ElementType::kFloat64:
      return drawn<double>(value, is_positive ? 0.5 : -1, 1);
    case ElementType::kBool:
      return drawn<std::uint8_t>(value, 0, 2);
    case ElementType::kInt8:
      return drawn<std::int8_t>(value, is_positive ? 1 : -6, 6);
    case ElementType::kUint8:
      return drawn<std::uint8_t>(value, is_positive ? 1 : 0, 12);
    case ElementType::kInt32:
      return drawn<std::int32_t>(value, is_positive ? 1 : -9, 9);
    case ElementType::kInt64:
      return drawn<std::int64_t>(value, is_positive ? 1 : -9, 9);
    default:
      COLLAGE_CHECK(false, "no numbers of type " + to_string(value.type));
  }
  return {};
}

/// Sums in another order may be rounded to the next step.
bool rounds_sums(const Graph& graph, ValueId id) {
  static const std::set<std::string, std::less<>> kSums = {"Conv", "Gemm", "MatMul", "QLinearConv", "QLinearMatMul"};
  return is_after_quantiser(graph, uses_of(graph), id) &&
         std::ranges::any_of(graph.nodes, [](const Node& node) { return kSums.contains(node.op_type); });
}

/// In the order of the region's outputs: a region names them in the order in which they are made.
Result<std::vector<Tensor>> reference_outputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  COLLAGE_TRY(ReferenceRun run, ReferenceRun::create(compiling(kReferenceEngine), graph));
  COLLAGE_TRY(std::vector<Tensor> outputs, run.run(inputs));
  std::vector<Tensor> ordered;
  for (const ValueId id : region_of(graph).outputs)
    ordered.push_back(outputs[static_cast<std::size_t>(std::ranges::find(graph.outputs, id) - graph.outputs.begin())]);
  return ordered;
}

bool transforms_weights(const Variant& variant) { return variant.name.starts_with("winograd"); }

}  // namespace

bool has_reference() { return is_usable(kReferenceEngine); }

Graph graph_of(const std::string& text) {
  auto parsed = parse_graph(text);
  COLLAGE_CHECK(parsed.has_value(), parsed ? "" : to_string(parsed.error()) + '\n' + text);
  Graph graph = *std::move(parsed);
  graph.opsets[""] = 26;
  for (const ValueId id : graph.inputs)
    if (Value& value = graph.value(id); value.name.starts_with('w')) value.constant = drawn(value);
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

std::vector<Tensor> inputs_of(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) inputs.push_back(drawn(graph.value(id)));
  return inputs;
}

std::vector<Tensor> expected_of(const Graph& graph) { return expected_of(graph, inputs_of(graph)); }

std::vector<Tensor> expected_of(const Graph& graph, const std::vector<Tensor>& inputs) {
  auto outputs = reference_outputs(graph, inputs);
  COLLAGE_CHECK(outputs.has_value(), outputs ? "" : to_string(outputs.error()) + '\n' + to_text(graph));
  return *std::move(outputs);
}

std::vector<Tensor> sizes_of(const Graph& graph) {
  if (!study(graph, uses_of(graph), region_of(graph)).may_size) return {};
  std::vector<Tensor> magnitudes;
  for (const Tensor& input : inputs_of(graph)) magnitudes.push_back(magnitudes_of(input));
  auto sizes = reference_outputs(magnitude_twin(graph), magnitudes);
  return sizes ? *std::move(sizes) : std::vector<Tensor>{};
}

std::vector<Variant> variants_of(Backend& backend, const Graph& graph, const CompileOptions& options) {
  auto variants = backend.support(graph, region_of(graph), options);
  if (variants) return *std::move(variants);
  ADD_FAILURE() << name_of(variants.error().reason) << ": " << variants.error().detail << '\n' << to_text(graph);
  return {};
}

Variant variant_of(Backend& backend, const Graph& graph, const std::string& name, const CompileOptions& options) {
  for (Variant& variant : variants_of(backend, graph, options))
    if (variant.name.starts_with(name)) return std::move(variant);
  COLLAGE_CHECK(false, "no variant " + name);
  return {};
}

Artifact artifact_of(Backend& backend, const Graph& graph, const Variant& variant, const CompileOptions& options) {
  const CompileRequest request{.graph = &graph, .region = region_of(graph), .variant = variant, .model_bytes = {}};
  auto artifacts = backend.compile({&request, 1}, options);
  COLLAGE_CHECK(artifacts.size() == 1);
  if (artifacts[0]) return *artifacts[0];
  ADD_FAILURE() << variant.name << ": " << artifacts[0].error().detail << '\n' << to_text(graph);
  return {};
}

std::vector<Tensor> run_kernel(const Kernel& kernel, const Graph& graph, const Variant& variant,
                               std::size_t workspace_bytes) {
  Artifact scratch;
  scratch.workspace_bytes = workspace_bytes;
  std::vector<Tensor> inputs;
  for (const ValueId id : region_of(graph).inputs) inputs.push_back(drawn(graph.value(id)));
  return run_twice(kernel, request_of(graph, variant, scratch), inputs);
}

std::vector<Tensor> run_variant(const Graph& graph, const Variant& variant, const CompileOptions& options,
                                const std::string& instance) {
  const auto ran = VariantRunner(instance, graph, inputs_of(graph), options).run(variant);
  EXPECT_TRUE(ran) << variant.name << ": " << ran.error().detail << '\n' << to_text(graph);
  return ran ? ran->outputs : std::vector<Tensor>{};
}

std::string difference(const std::vector<Tensor>& seen, const std::vector<Tensor>& expected, Accuracy accuracy,
                       const std::vector<bool>& one_step, const std::vector<Tensor>& sizes) {
  if (seen.size() != expected.size()) return std::to_string(seen.size()) + " outputs";
  for (std::size_t i = 0; i < seen.size(); ++i) {
    Comparison judged = compare(seen[i], expected[i], accuracy, false, !one_step.empty() && one_step[i] ? 1 : 0);
    if (!judged.ok && !sizes.empty() && judged.mismatch.empty() && expected[i].type == ElementType::kFloat32)
      judged = compare_sized(seen[i], expected[i], sizes[i], accuracy, false);
    if (!judged.ok) return "output " + std::to_string(i) + ": " + to_string(judged);
  }
  return "";
}

std::string problem_of(const Graph& graph, const std::vector<Tensor>& expected, const Variant& variant,
                       const CompileOptions& options, const std::string& instance, const std::vector<Tensor>& sizes) {
  const auto ran = VariantRunner(instance, graph, inputs_of(graph), options).run(variant);
  if (!ran) return "not compiled: " + ran.error().detail;
  std::vector<bool> one_step;
  for (const ValueId id : region_of(graph).outputs) one_step.push_back(rounds_sums(graph, id));
  return difference(ran->outputs, expected, transforms_weights(variant) ? Accuracy::kStandard : Accuracy::kStrict,
                    one_step, sizes);
}

std::vector<std::string> expect_right(const std::string& text, const CompileOptions& options,
                                      const std::string& instance) {
  const Graph graph = graph_of(text);
  const std::vector<Tensor> expected = expected_of(graph);
  std::vector<std::string> names;
  for (const Variant& variant : variants_of(compiling(instance), graph, options)) {
    SCOPED_TRACE(instance + ' ' + variant.name + ", " + std::to_string(options.threads) + " threads\n" + text);
    EXPECT_EQ(problem_of(graph, expected, variant, options, instance), "");
    names.push_back(variant.name);
  }
  return names;
}

}  // namespace collage::test
