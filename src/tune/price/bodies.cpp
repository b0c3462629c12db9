#include "tune/price/bodies.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/roles.h"
#include "numbers/graph_file.h"
#include "numbers/recorded_extents.h"
#include "plan/control.h"
#include "region/narrow_variant.h"
#include "tune/jobs.h"
#include "tune/price/body_record.h"
#include "tune/proposers.h"
#include "tune/stages.h"

namespace collage {
namespace {

/// What an iteration takes beside its steps: counting, and both sides of each copy at this many bytes per nanosecond.
constexpr std::int64_t kIterationNs = 50;
constexpr std::int64_t kCopyBytesPerNs = 20;
/// How often a body is searched again because an artifact of its best cover could not be made.
constexpr int kMostAttempts = 5;

std::int64_t bytes_of(const ValueType& type) {
  return type.is_static() ? static_cast<std::int64_t>(byte_count(type.element, type.extents())) : 0;
}

/// Time of one iteration beside the body's steps: values carried and slices copied. An If has none.
std::int64_t iteration_ns(const Node& node, const Graph& body) {
  if (is_op(node, "If")) return 0;
  std::int64_t bytes = 0;
  for (const ValueId id : body.outputs) bytes += bytes_of(body.value(id).type);
  for (const ValueId id : body.inputs) bytes += bytes_of(body.value(id).type);
  return kIterationNs + bytes / kCopyBytesPerNs;
}

/// Errors that say something about the body, not about this machine's files and workers.
bool is_refusal(const Error& error) {
  return error.exit == ExitCode::kUnsupported || error.exit == ExitCode::kBadInput;
}

NodeSet single(const Graph& graph, std::size_t node) {
  NodeSet nodes(graph.nodes.size());
  nodes.insert(node);
  return nodes;
}

/// The region of one node in the pool, which is added when it is new.
std::uint32_t region_of(const Graph& graph, const Uses& uses, std::size_t node, CandidatePool& pool) {
  const NodeSet nodes = single(graph, node);
  const auto found = std::ranges::find(pool.regions, nodes, &Region::nodes);
  if (found == pool.regions.end()) {
    pool.regions.push_back(make_region(graph, uses, nodes));
    return static_cast<std::uint32_t>(pool.regions.size() - 1);
  }
  return static_cast<std::uint32_t>(found - pool.regions.begin());
}

/// Somebody takes the node, alone or among others.
bool has_candidate(const CandidatePool& pool, std::size_t node) {
  return std::ranges::any_of(
      pool.candidates, [&](const Candidate& candidate) { return pool.regions[candidate.region].nodes.contains(node); });
}

Refusal too_late() {
  return {.reason = RefusalReason::kResources, .detail = "the budget ran out before all of its bodies was measured"};
}

/// Rules that do not name nodes, which are those of the model.
UserRules rules_for_bodies(UserRules rules) {
  std::erase_if(rules, [](const UserRule& rule) { return rule.kind == UserRule::Kind::kFuse; });
  return rules;
}

}  // namespace

/// One body, ready for a plan.
struct BodyPlacer::PlacedBody {
  Cover cover;
  std::vector<Artifact> artifacts;
};

BodyPlacer::BodyPlacer(BodiesOptions options, const BodiesContext& context)
    : options_(std::move(options)), context_(context) {
  options_.user_rules = rules_for_bodies(std::move(options_.user_rules));
}

Result<Placements> BodyPlacer::place(const Graph& graph, CandidatePool& pool, std::vector<Cost>& costs) {
  return place(graph, options_.pricing, pool, costs);
}

Result<Placements> BodyPlacer::place(const Graph& graph, const PricingOptions& pricing, CandidatePool& pool,
                                     std::vector<Cost>& costs) {
  Placements placements;
  const Uses uses = uses_of(graph);
  const auto is_late = [&] { return Clock::now() > options_.limits.deadline; };
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (!control_operator_of(node) || !is_allowed(graph, single(graph, n), kControlBackend, options_.rules) ||
        !allows(graph, uses, options_.user_rules, single(graph, n), kControlBackend))
      continue;
    if (options_.limits.stop.stop_requested()) break;
    std::optional<Refusal> refusal = refuse_bodies(graph, node);
    const bool is_needed = pricing.always_covers && !has_candidate(pool, n);
    if (!refusal && !is_needed && is_late()) refusal = too_late();
    if (!refusal) {
      PricingOptions inside = pricing;
      inside.always_covers = is_needed;
      auto placed = place_node(graph, node, inside);
      if (!placed && !is_refusal(placed.error())) return std::unexpected(placed.error());
      if (placed) {
        const std::uint32_t region = region_of(graph, uses, n, pool);
        pool.candidates.push_back({.region = region,
                                   .backend = std::string(kControlBackend),
                                   .variant = placed_variant(pool.regions[region])});
        costs.emplace_back(Estimated{placed->cost_ns});
        placements.emplace(n, std::move(*placed));
        continue;
      }
      refusal = {.reason = RefusalReason::kStructure, .detail = to_string(placed.error())};
      if (!is_needed && is_late()) refusal = too_late();
    }
    pool.refusals.push_back(
        {.region = region_of(graph, uses, n, pool), .backend = std::string(kControlBackend), .refusal = *refusal});
  }
  return placements;
}

Result<PlacedBodies> BodyPlacer::place_node(const Graph& graph, const Node& node, const PricingOptions& pricing) {
  COLLAGE_TRY(const Record values, Record::open(pricing.files.record_file));
  const std::vector<double> runs = body_runs(graph, node, values);
  std::vector<Graph> bodies = free_bodies(graph, node);
  PlacedBodies placed;
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    PlacedBody body;
    if (!bodies[b].nodes.empty()) {
      COLLAGE_TRY(PricingOptions options, record_body(graph, node, b, bodies[b], values));
      options.always_covers = pricing.always_covers;
      COLLAGE_TRY(body, place_body(bodies[b], options));
    }
    const auto once = static_cast<double>(body.cover.cost_ns + iteration_ns(node, bodies[b]));
    placed.cost_ns += static_cast<std::int64_t>(runs[b] * once);
    placed.covers.push_back(std::move(body.cover));
    placed.artifacts.insert(placed.artifacts.end(), std::move_iterator(body.artifacts.begin()),
                            std::move_iterator(body.artifacts.end()));
  }
  return placed;
}

Result<BodyPlacer::PlacedBody> BodyPlacer::place_body(const Graph& body, const PricingOptions& options) {
  COLLAGE_TRY(std::vector<Proposer> proposers,
              make_proposers(context_.registry, options_.proposing, body, options.measure.compile()));
  add_user_rules(body, options_.user_rules, proposers);
  CandidatePool pool = propose(body, uses_of(body), proposers);
  // Errors of an iteration add up over the next ones, and no later search could take them back.
  std::erase_if(pool.candidates, [](const Candidate& one) { return has_16_bits(one.variant); });
  apply_rules(body, options_.rules, pool);
  Pricing pricing(options, body, context_.registry, context_.store);
  std::vector<Cost> costs(pool.candidates.size(), Unknown{});
  COLLAGE_TRY(const Placements inner, place(body, options, pool, costs));
  candidates_ += pool.candidates.size();

  CoverRequest request;
  request.graph = &body;
  request.pool = &pool;
  request.costs = std::move(costs);
  request.backends = options_.backends;
  request.backends.emplace_back(kControlBackend);
  request.host_fills = options_.host_fills;
  auto placed = search(std::move(request), inner, pricing);
  counts_.measured += pricing.counts().measured;
  counts_.reused += pricing.counts().reused;
  counts_.refused += pricing.counts().refused + pool.refusals.size();
  return placed;
}

Result<BodyPlacer::PlacedBody> BodyPlacer::search(CoverRequest request, const Placements& inner, Pricing& pricing) {
  COLLAGE_TRY(request.costs, price(request, pricing));
  Result<PlacedBody> placed = fail(ExitCode::kUnsupported, "tune/no-artifact", request.graph->name, "no cover");
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    COLLAGE_TRY(std::vector<NamedCover> covers, pricing.search(request, options_.limits));
    Cover cover = std::move(covers.front().result.cover);
    attach_bodies(inner, cover);
    const std::size_t broken = pricing.broken_count();
    auto own = pricing.artifacts(cover, {.stop = options_.limits.stop});
    if (own) {
      std::vector<Artifact> artifacts = with_bodies(inner, cover, std::move(*own));
      placed = PlacedBody{.cover = std::move(cover), .artifacts = std::move(artifacts)};
      break;
    }
    placed = std::unexpected(own.error());
    if (pricing.broken_count() == broken) break;
  }
  return placed;
}

Result<std::vector<Cost>> BodyPlacer::price(CoverRequest request, Pricing& pricing) {
  if (options_.measures_all) return pricing.price(*request.pool, options_.limits, std::move(request.costs));
  const MeasureOptions& options = options_.pricing.measure;
  CostBounds bounds(*request.graph, *request.pool, options.accuracy, peak_rates(context_.store), options.threads, {},
                    {}, engines_of(context_.registry));
  COLLAGE_TRY(LazyPrices prices, pricing.price_lazily(std::move(request), bounds, options_.limits));
  return std::move(prices.costs);
}

Result<PricingOptions> BodyPlacer::record_body(const Graph& graph, const Node& node, std::size_t number, Graph& body,
                                               const Record& values) {
  const auto file = [&](const char* kind) { return context_.folder.file(fmt::format("body-{}-{}", files_++, kind)); };
  const std::string inputs = file("inputs");
  COLLAGE_TRY_VOID(write_body_inputs(graph, node, number, values, inputs));
  PricingOptions options = options_.pricing;
  options.files.graph_file = file("graph.onnx");
  options.files.record_file = file("record");
  COLLAGE_TRY_VOID(write_graph_file(options.files.graph_file, body));
  COLLAGE_TRY_VOID(record(context_.worker, {.graph_file = options.files.graph_file,
                                            .inputs_file = inputs,
                                            .record_file = options.files.record_file,
                                            .backend = kReferenceEngine,
                                            .all_values = true,
                                            .model_file = std::nullopt}));
  COLLAGE_TRY(const Record recorded, Record::open(options.files.record_file));
  COLLAGE_TRY_VOID(note_recorded_extents(recorded, body));
  return options;
}

Result<std::vector<Artifact>> BodyPlacer::artifacts(const Graph& graph, const Cover& cover, Pricing& pricing,
                                                    const ArtifactLimits& limits) {
  return artifacts(graph, options_.pricing.files.record_file, cover, pricing, limits);
}

Result<std::vector<Artifact>> BodyPlacer::artifacts(const Graph& graph, const std::string& record, const Cover& cover,
                                                    Pricing& pricing, const ArtifactLimits& limits) {
  COLLAGE_TRY(std::vector<Artifact> own, pricing.artifacts(cover, limits));
  std::vector<Artifact> all;
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    all.push_back(std::move(own[s]));
    const auto* const control = std::get_if<CoverControl>(&cover.steps[s].work);
    if (control == nullptr) continue;
    const Node& node = graph.nodes[control->region.nodes.next()];
    COLLAGE_TRY(const Record values, Record::open(record));
    std::vector<Graph> bodies = free_bodies(graph, node);
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      if (bodies[b].nodes.empty()) continue;
      COLLAGE_TRY(const PricingOptions options, record_body(graph, node, b, bodies[b], values));
      Pricing inner(options, bodies[b], context_.registry, context_.store);
      COLLAGE_TRY(std::vector<Artifact> inside,
                  artifacts(bodies[b], options.files.record_file, control->bodies[b], inner, limits));
      all.insert(all.end(), std::move_iterator(inside.begin()), std::move_iterator(inside.end()));
    }
  }
  return all;
}

Variant placed_variant(const Region& region) {
  return {.name = "placed",
          .input_formats = std::vector<Format>(region.inputs.size()),
          .output_formats = std::vector<Format>(region.outputs.size())};
}

void attach_bodies(const Placements& placements, Cover& cover) {
  for (CoverStep& step : cover.steps)
    if (auto* const control = std::get_if<CoverControl>(&step.work))
      control->bodies = placements.at(control->region.nodes.next()).covers;
}

std::vector<Artifact> with_bodies(const Placements& placements, const Cover& cover, std::vector<Artifact> own) {
  std::vector<Artifact> artifacts;
  for (std::size_t s = 0; s < cover.steps.size(); ++s) {
    artifacts.push_back(std::move(own[s]));
    const auto* const control = std::get_if<CoverControl>(&cover.steps[s].work);
    if (control == nullptr) continue;
    const std::vector<Artifact>& inside = placements.at(control->region.nodes.next()).artifacts;
    artifacts.insert(artifacts.end(), inside.begin(), inside.end());
  }
  return artifacts;
}

}  // namespace collage
