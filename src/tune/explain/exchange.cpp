#include "tune/explain/exchange.h"

#include <algorithm>
#include <set>

namespace collage {
namespace {

/// Larger gaps are not filled: a cover that far away says little about one step.
constexpr std::size_t kMostToFill = 64;

bool is_view(const Variant& variant) { return variant.name == "view"; }

/// The format of a value at one of the ports; null when it does not cross the border.
const Format* format_at(const std::vector<ValueId>& ports, const std::vector<Format>& formats, ValueId value) {
  const auto port = std::ranges::find(ports, value);
  const auto index = static_cast<std::size_t>(port - ports.begin());
  return port == ports.end() || index >= formats.size() ? nullptr : &formats[index];
}

/// Every value that crosses the border of one of the regions, each once.
void add_border(const Region& region, std::vector<ValueId>& values) {
  values.insert(values.end(), region.inputs.begin(), region.inputs.end());
  values.insert(values.end(), region.outputs.begin(), region.outputs.end());
}

void make_unique(std::vector<ValueId>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

}  // namespace

Exchange::Exchange(const CostView& view, const Cover& cover, std::vector<bool> may_fill)
    : view_(view),
      may_fill_(std::move(may_fill)),
      candidates_of_(view.graph->nodes.size()),
      owner_(view.graph->nodes.size(), 0),
      repeaters_(view.graph->nodes.size()) {
  const CandidatePool& pool = *view_.pool;
  for (std::uint32_t c = 0; c < pool.candidates.size(); ++c) {
    const Region& region = pool.regions[pool.candidates[c].region];
    by_nodes_[region.nodes].push_back(c);
    if (!nanoseconds_of(view_.costs[c]) || !may_fill_[c]) continue;
    for (const std::size_t node : region.covered().members()) candidates_of_[node].push_back(c);
  }
  add_cover(cover);
}

void Exchange::add_cover(const Cover& cover) {
  std::int64_t sum = 0;
  std::vector<ValueId> values = view_.graph->outputs;
  for (const CoverStep& step : cover.steps) {
    const Region* const region = chosen_region(step);
    if (region == nullptr || region->nodes.empty()) continue;
    Part part{.region = region,
              .variant = chosen_variant(step),
              .step = &step,
              .candidate = candidate_of(step.backend, *region, *chosen_variant(step)),
              .location = location_of(step)};
    // A step's own cost may be corrected for its place in a plan; the pool's is that measured alone.
    const auto alone = part.candidate ? nanoseconds_of(view_.costs[*part.candidate]) : std::nullopt;
    part.cost_ns = alone.value_or(nanoseconds_of(step.cost).value_or(0));
    if (!is_view(*part.variant)) part.cost_ns += view_.launch_ns;
    sum += part.cost_ns;
    add_border(*region, values);
    put(part);
  }
  make_unique(values);
  if (const auto conversions = conversions_of(values)) total_ns_ = sum + *conversions;
}

std::optional<std::uint32_t> Exchange::candidate_of(const std::string& backend, const Region& region,
                                                    const Variant& variant) const {
  const auto same = by_nodes_.find(region.nodes);
  if (same == by_nodes_.end()) return std::nullopt;
  for (const std::uint32_t c : same->second) {
    const Candidate& candidate = view_.pool->candidates[c];
    if (candidate.backend == backend && candidate.variant == variant && view_.pool->regions[candidate.region] == region)
      return c;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Exchange::candidate_at(std::size_t node) const { return parts_[owner_[node]].candidate; }

std::optional<Exchange::Part> Exchange::part_of(std::uint32_t candidate) const {
  const auto cost = nanoseconds_of(view_.costs[candidate]);
  if (!cost) return std::nullopt;
  const Candidate& made = view_.pool->candidates[candidate];
  return Part{.region = &view_.pool->regions[made.region],
              .variant = &made.variant,
              .cost_ns = *cost + (is_view(made.variant) ? 0 : view_.launch_ns),
              .step = nullptr,
              .candidate = candidate,
              .location = view_.locations.of(made.backend)};
}

void Exchange::put(const Part& part) {
  parts_.push_back(part);
  own(parts_.size() - 1);
  if (part.region->repeated.universe() == 0) return;
  for (const std::size_t node : part.region->repeated.members()) repeaters_[node].push_back(parts_.size() - 1);
}

void Exchange::take_last() {
  const NodeSet& repeated = parts_.back().region->repeated;
  if (repeated.universe() != 0)
    for (const std::size_t node : repeated.members()) repeaters_[node].pop_back();
  parts_.pop_back();
}

void Exchange::own(std::size_t part) {
  for (const std::size_t node : parts_[part].region->covered().members()) owner_[node] = part;
}

bool Exchange::is_in_place(std::size_t part) const { return owner_[parts_[part].region->covered().next()] == part; }

std::vector<std::size_t> Exchange::overlapped(const Region& region) const {
  std::set<std::size_t> found;
  for (const std::size_t node : region.covered().members()) found.insert(owner_[node]);
  return {found.begin(), found.end()};
}

bool Exchange::fill(NodeSet left, std::vector<Part>& parts) const {
  if (left.count() > kMostToFill) return false;
  for (std::size_t node = left.next(); node < left.universe(); node = left.next()) {
    std::optional<Part> best;
    std::int64_t best_share = 0;
    for (const std::uint32_t c : candidates_of_[node]) {
      const NodeSet covered = view_.pool->regions[view_.pool->candidates[c].region].covered();
      if (!covered.is_subset_of(left)) continue;
      const std::optional<Part> part = part_of(c);
      const std::int64_t share = part->cost_ns / static_cast<std::int64_t>(covered.count());
      if (best && share >= best_share) continue;
      best = part;
      best_share = share;
    }
    if (!best) return false;
    left -= best->region->covered();
    parts.push_back(*best);
  }
  return true;
}

std::optional<std::int64_t> Exchange::way_ns(ValueId value, const Place& from, const Place& to) const {
  const auto direct = [&](const Place& a, const Place& b) -> std::optional<std::int64_t> {
    if (a == b) return 0;
    const auto choice = view_.conversions(value, a, b);
    const auto ns = choice ? nanoseconds_of(choice->cost) : std::nullopt;
    if (!ns) return std::nullopt;
    return *ns == 0 ? 0 : *ns + view_.launch_ns;
  };
  if (const auto ns = direct(from, to); ns || from.location == to.location) return ns;
  const Place arrived{.location = kHome, .format = from.format};
  const Place leaving{.location = kHome, .format = to.format};
  const auto home = direct(from, arrived);
  const auto there = direct(arrived, leaving);
  const auto away = direct(leaving, to);
  if (!home || !there || !away) return std::nullopt;
  return *home + *there + *away;
}

std::optional<std::int64_t> Exchange::conversions_of(ValueId value) const {
  const NodeId maker = view_.uses->producer[value.index];
  if (!maker.valid() && std::ranges::find(view_.graph->inputs, value) == view_.graph->inputs.end()) return 0;
  const Part* made_by = maker.valid() ? &parts_[owner_[maker.index]] : nullptr;
  std::set<Place> wanted;
  const auto want = [&](const Part& part) {
    if (&part == made_by) return;
    if (const Format* format = format_at(part.region->inputs, part.variant->input_formats, value))
      wanted.insert({.location = part.location, .format = *format});
  };
  for (const NodeId reader : view_.uses->consumers[value.index]) {
    want(parts_[owner_[reader.index]]);
    for (const std::size_t repeater : repeaters_[reader.index])
      if (is_in_place(repeater)) want(parts_[repeater]);
  }
  Place source;
  if (made_by) {
    const Format* format = format_at(made_by->region->outputs, made_by->variant->output_formats, value);
    // It lives inside one step. Another that repeats a reader of it would need it.
    if (!format) return wanted.empty() ? std::optional<std::int64_t>(0) : std::nullopt;
    source = {.location = made_by->location, .format = *format};
  }
  if (view_.uses->is_output[value.index]) wanted.insert(Place{});
  wanted.erase(source);
  std::vector<Place> made = {source};
  std::int64_t sum = 0;
  for (const Place& place : wanted) {
    std::optional<std::int64_t> cheapest;
    for (const Place& from : made) {
      const auto ns = way_ns(value, from, place);
      if (ns && (!cheapest || *ns < *cheapest)) cheapest = *ns;
    }
    if (!cheapest) return std::nullopt;
    sum += *cheapest;
    made.push_back(place);
  }
  return sum;
}

std::optional<std::int64_t> Exchange::conversions_of(const std::vector<ValueId>& values) const {
  std::int64_t sum = 0;
  for (const ValueId value : values) {
    const auto ns = conversions_of(value);
    if (!ns) return std::nullopt;
    sum += *ns;
  }
  return sum;
}

/// Whether the new parts and the old ones from `first` on (the first one replaced) can run one after the other. A cycle
/// must contain a new part, and the old parts between two new ones keep their order, so it suffices to check up to the
/// last old part from which a new part reads.
bool Exchange::can_be_ordered(std::size_t first, std::size_t first_new) const {
  std::size_t last = first;
  for (std::size_t p = first_new; p < parts_.size(); ++p)
    for (const ValueId value : parts_[p].region->inputs)
      if (const NodeId maker = view_.uses->producer[value.index]; maker.valid() && owner_[maker.index] < first_new)
        last = std::max(last, owner_[maker.index]);
  std::set<std::size_t> waiting;
  for (std::size_t p = first; p <= last; ++p)
    if (is_in_place(p)) waiting.insert(p);
  for (std::size_t p = first_new; p < parts_.size(); ++p) waiting.insert(p);
  const auto waits = [&](std::size_t p) {
    return std::ranges::any_of(parts_[p].region->inputs, [&](ValueId value) {
      const NodeId maker = view_.uses->producer[value.index];
      return maker.valid() && waiting.contains(owner_[maker.index]);
    });
  };
  for (bool moved = true; moved && !waiting.empty();) {
    moved = false;
    for (auto p = waiting.begin(); p != waiting.end();) {
      const bool ready = !waits(*p);
      moved = moved || ready;
      p = ready ? waiting.erase(p) : std::next(p);
    }
  }
  return waiting.empty();
}

std::optional<std::int64_t> Exchange::change_ns(std::uint32_t candidate) {
  const std::optional<Part> wanted = part_of(candidate);
  if (!wanted || !total_ns_) return std::nullopt;
  const std::vector<std::size_t> old = overlapped(*wanted->region);
  std::vector<Part> replacements = {*wanted};
  NodeSet left(view_.graph->nodes.size());
  for (const std::size_t p : old) left |= parts_[p].region->covered();
  left -= wanted->region->covered();
  if (!fill(left, replacements)) return std::nullopt;

  std::vector<ValueId> values;
  std::int64_t change = 0;
  for (const std::size_t p : old) {
    add_border(*parts_[p].region, values);
    change -= parts_[p].cost_ns;
  }
  for (const Part& part : replacements) {
    add_border(*part.region, values);
    change += part.cost_ns;
  }
  make_unique(values);
  const auto before = conversions_of(values);
  const std::size_t first_new = parts_.size();
  for (const Part& part : replacements) put(part);
  const auto after = conversions_of(values);
  const bool legal = after && can_be_ordered(old.front(), first_new);
  while (parts_.size() > first_new) take_last();
  for (const std::size_t p : old) own(p);
  if (!before || !legal) return std::nullopt;
  return change + *after - *before;
}

}  // namespace collage
