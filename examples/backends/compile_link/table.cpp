// A backend with the hooks `compile` and `link`: chains of one-operand operators, and one table for all chains of a
// plan. Each compiled chain is an artifact of its own, which a tune measures. When a plan is written, `link` gets all
// of them in one call and makes one artifact, the table, in which equal chains share a line. A step of the plan names
// the table and a line; `load` gets both.
#include <algorithm>
#include <cmath>

#include <backend/function_kernel.h>
#include <backend/hooks.h>

namespace {

using namespace collage;

/// The operators, and the letter for each in an artifact.
constexpr std::string_view kOperators[] = {"Neg", "Abs", "Relu", "Floor"};
constexpr std::string_view kLetters = "narf";

float apply(char letter, float x) {
  switch (letter) {
    case 'n':
      return -x;
    case 'a':
      return std::fabs(x);
    case 'r':
      return x > 0 || std::isnan(x) ? x : 0;  // Relu gives NaN for NaN
    default:
      return std::floor(x);
  }
}

PartitionRules rules(const BackendOptions&) {
  return {.patterns = {{"chain", "Neg|Abs|Relu|Floor{type=f32} -> Neg|Abs|Relu|Floor{type=f32}*"}}};
}

std::expected<Artifact, Refusal> compile_one(const CompileRequest& request) {
  Artifact artifact{.compatibility = "chain 1", .in_place = {{0, 0}}};
  for (const std::size_t n : request.region.nodes.members()) {
    const auto found = std::ranges::find(kOperators, request.graph->nodes[n].op_type);
    if (found == std::end(kOperators))
      return std::unexpected(Refusal{RefusalReason::kOperator, request.graph->nodes[n].op_type});
    artifact.bytes += kLetters[static_cast<std::size_t>(found - std::begin(kOperators))];
  }
  return artifact;
}

std::vector<std::expected<Artifact, Refusal>> compile(const BackendOptions&, std::span<const CompileRequest> requests,
                                                      const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts(requests.size());
  std::ranges::transform(requests, artifacts.begin(), compile_one);
  return artifacts;
}

/// All chains of a plan. The name of an entry point is its chain, so a line is the name too.
Result<LinkedKernels> link(const BackendOptions&, std::span<const LoadRequest> kernels) {
  LinkedKernels linked{.artifacts = {{.bytes = "\n", .compatibility = "table 1"}}, .entries = {}};
  std::string& table = linked.artifacts[0].bytes;
  for (const LoadRequest& kernel : kernels) {
    const std::string chain(kernel.artifact.bytes);
    if (table.find("\n" + chain + "\n") == std::string::npos) table += chain + "\n";
    linked.entries.push_back(EntryPoint{.artifact = 0, .name = chain});
  }
  return linked;
}

/// The chain of a table's line, or of an artifact alone.
Result<std::string> chain_of(const ArtifactView& artifact) {
  if (artifact.entry.empty() && artifact.compatibility == "chain 1") return std::string(artifact.bytes);
  const std::string line = "\n" + std::string(artifact.entry) + "\n";
  if (artifact.compatibility == "table 1" && artifact.bytes.find(line) != std::string_view::npos)
    return std::string(artifact.entry);
  return fail(ExitCode::kBadInput, "backend/incompatible-artifact", "example_table",
              std::string(artifact.compatibility), "chain 1, or table 1 with the entry");
}

Result<std::unique_ptr<Kernel>> load(const BackendOptions&, const LoadRequest& request) {
  COLLAGE_TRY(const std::string chain, chain_of(request.artifact));
  const std::int64_t count = element_count(request.inputs.at(0).type.extents());
  return make_kernel([chain, count](const Buffers& buffers) -> Result<void> {
    const auto* in = static_cast<const float*>(buffers.inputs[0]);
    auto* out = static_cast<float*>(buffers.outputs[0]);
    for (std::int64_t i = 0; i < count; ++i) {
      float x = in[i];
      for (const char letter : chain) x = apply(letter, x);
      out[i] = x;
    }
    return {};
  });
}

constexpr BackendHooks kHooks = {
    .kind = "example_table", .rules = rules, .compile = compile, .load = load, .link = link};

}  // namespace

extern "C" const collage::BackendHooks* collage_backend_hooks() { return &kHooks; }
