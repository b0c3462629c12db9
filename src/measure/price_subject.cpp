#include "measure/price_subject.h"

#include "base/hash.h"
#include "numbers/inputs.h"
#include "numbers/quantisers.h"

namespace collage {
namespace {

/// The range of floats: quicker to draw from than a normal distribution.
constexpr std::pair<double, double> kConverted = {-4.0, 4.0};

/// Random elements of any type; conversions move bits, so any pattern will do for types without random numbers.
Tensor conversion_data(const ValueType& type, std::uint64_t seed) {
  const auto range = is_float(type.element) ? std::optional(kConverted) : std::nullopt;
  if (auto made = make_input("conversion", type, seed, range)) return *std::move(made);
  Tensor tensor{.type = type.element, .extents = type.extents()};
  tensor.data = Buffer::make(byte_count(type.element, tensor.extents), [&](std::span<std::byte> out) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(hash_bytes(&i, sizeof i, seed));
  });
  return tensor;
}

Result<PriceSubject> conversion_subject(const Conversion& conversion, std::uint64_t seed) {
  if (!conversion.type.is_static())
    return fail(ExitCode::kBug, "measure/open-shape", "conversion", to_string(conversion.type), "a static tensor");
  const Tensor data = conversion_data(conversion.type, seed);
  PriceSubject subject{.conversion = conversion};
  subject.inputs.push_back(
      {.port = {.name = "in", .type = conversion.type, .place = conversion.from}, .recorded = data});
  subject.outputs.push_back(
      {.port = {.name = "out", .type = conversion.type, .place = conversion.to}, .recorded = data});
  return subject;
}

/// A port of the region with what the record holds for it.
Result<TrialPort> recorded_port(const Workbench::LoadedGraph& loaded, ValueId id, const Record& record) {
  const Value& value = loaded.graph.value(id);
  COLLAGE_TRY(Tensor tensor, record.tensor(value.name));
  return TrialPort{.port = {.name = value.name, .type = value.type}, .recorded = std::move(tensor)};
}

/// What the indices in an output were chosen from, when the record holds it.
std::optional<Choice> recorded_choice(const Workbench::LoadedGraph& loaded, const Region& region, ValueId output,
                                      const Record& record) {
  const auto rule = choice_behind(loaded.graph, loaded.uses, region, output);
  if (!rule || !rule->data.valid()) return std::nullopt;
  auto data = record.tensor(loaded.graph.value(rule->data).name);
  if (!data) return std::nullopt;
  return Choice{.data = *std::move(data), .axis = rule->axis, .kind = rule->kind};
}

Result<NodeSet> nodes_of(const Graph& graph, const PriceTarget& target, const std::vector<std::uint32_t>& indices) {
  NodeSet nodes(graph.nodes.size());
  for (const std::uint32_t node : indices) {
    if (node >= nodes.universe())
      return fail(ExitCode::kBug, "measure/no-such-node", target.graph_file, std::to_string(node),
                  "a node of the graph");
    nodes.insert(node);
  }
  return nodes;
}

Result<PriceSubject> region_subject(const PriceTarget& target, Workbench& bench) {
  COLLAGE_TRY(const Workbench::LoadedGraph* loaded, bench.graph(target.graph_file));
  COLLAGE_TRY(const Record* record, bench.record(target.record_file));
  COLLAGE_TRY(NodeSet nodes, nodes_of(loaded->graph, target, target.nodes));
  COLLAGE_TRY(NodeSet repeated, nodes_of(loaded->graph, target, target.repeated));
  PriceSubject subject{.graph = &loaded->graph,
                       .uses = &loaded->uses,
                       .region = make_region(loaded->graph, loaded->uses, std::move(nodes), std::move(repeated))};
  for (const ValueId id : subject.region.inputs) {
    COLLAGE_TRY(TrialPort port, recorded_port(*loaded, id, *record));
    subject.inputs.push_back(std::move(port));
  }
  for (const ValueId id : subject.region.outputs) {
    COLLAGE_TRY(TrialPort port, recorded_port(*loaded, id, *record));
    port.slack = step_of(loaded->graph, loaded->uses, subject.region, id);
    port.choice = recorded_choice(*loaded, subject.region, id, *record);
    subject.outputs.push_back(std::move(port));
  }
  return subject;
}

}  // namespace

Result<PriceSubject> price_subject(const PriceJob& job, Workbench& bench) {
  return job.target.conversion ? conversion_subject(*job.target.conversion, job.judging.seed)
                               : region_subject(job.target, bench);
}

}  // namespace collage
