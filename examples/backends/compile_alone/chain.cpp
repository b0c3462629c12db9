// A backend with the hook `compile` only: chains of one-operand operators, run in one pass over the elements. Without a
// hook `support`, it supports everything that its patterns match, in plain formats. The region's label says which
// pattern matched.
#include <algorithm>
#include <cmath>

#include <backend/function_kernel.h>
#include <backend/hooks.h>

namespace {

using namespace collage;

/// The operators, and the byte for each in an artifact.
constexpr std::string_view kOperators[] = {"Neg", "Abs", "Relu", "Floor"};

float apply(char operation, float x) {
  switch (operation) {
    case 0:
      return -x;
    case 1:
      return std::fabs(x);
    case 2:
      return x > 0 || std::isnan(x) ? x : 0;  // Relu gives NaN for NaN
    default:
      return std::floor(x);
  }
}

/// One line of pattern says all: a chain of these operators on f32, of any length; an absolute value written as two.
PartitionRules rules(const BackendOptions&) {
  return {.patterns = {{"chain", "Neg|Abs|Relu|Floor{type=f32} -> Neg|Abs|Relu|Floor{type=f32}*"},
                       {"magnitude", "Max{type=f32}(a=*, Neg($a))"}}};
}

/// The pattern that the region matched, by its label; its nodes need not be examined.
bool is_labelled(const Region& region, std::string_view label) {
  return std::ranges::any_of(region.matches, [&](const Match& match) { return match.label == label; });
}

/// An artifact is bytes: here one for each operator, in the order of the chain, which is that of the graph.
std::expected<Artifact, Refusal> compile_one(const CompileRequest& request) {
  Artifact artifact;
  if (is_labelled(request.region, "magnitude")) {
    artifact.bytes = '\1';  // Abs
    artifact.in_place = {{0, 0}};
    return artifact;
  }
  for (const std::size_t n : request.region.nodes.members()) {
    const auto found = std::ranges::find(kOperators, request.graph->nodes[n].op_type);
    if (found == std::end(kOperators))
      return std::unexpected(Refusal{RefusalReason::kOperator, request.graph->nodes[n].op_type});
    artifact.bytes += static_cast<char>(found - std::begin(kOperators));
  }
  artifact.in_place = {{0, 0}};  // each number is read before it is written, so input and output may share memory
  return artifact;
}

std::vector<std::expected<Artifact, Refusal>> compile(const BackendOptions&, std::span<const CompileRequest> requests,
                                                      const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts(requests.size());
  std::ranges::transform(requests, artifacts.begin(), compile_one);
  return artifacts;
}

/// Artifacts made by another build of this file never come here: they say nothing of compatibility, so that the program
/// keeps them to the build that made them.
Result<std::unique_ptr<Kernel>> load(const BackendOptions&, const LoadRequest& request) {
  const std::int64_t count = element_count(request.inputs.at(0).type.extents());
  return make_kernel([chain = std::string(request.artifact.bytes), count](const Buffers& buffers) -> Result<void> {
    const auto* in = static_cast<const float*>(buffers.inputs[0]);
    auto* out = static_cast<float*>(buffers.outputs[0]);
    for (std::int64_t i = 0; i < count; ++i) {
      float x = in[i];
      for (const char operation : chain) x = apply(operation, x);
      out[i] = x;
    }
    return {};
  });
}

constexpr BackendHooks kHooks = {.kind = "example_chain", .rules = rules, .compile = compile, .load = load};

}  // namespace

extern "C" const collage::BackendHooks* collage_backend_hooks() { return &kHooks; }
