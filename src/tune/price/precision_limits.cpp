#include "tune/price/precision_limits.h"

#include <fmt/format.h>

namespace collage {
namespace {

void add(const NodeSet& nodes, NodeSet& to) {
  if (to.universe() == 0) to = NodeSet(nodes.universe());
  to |= nodes;
}

NodeSet nodes_in_fixed_point(const CandidatePool& pool, std::size_t count) {
  NodeSet nodes(count);
  for (const Candidate& candidate : pool.candidates)
    if (is_fixed_point(candidate.variant)) nodes |= pool.regions[candidate.region].nodes;
  return nodes;
}

}  // namespace

bool PrecisionLimits::forbids(const Variant& variant, const NodeSet& nodes) const {
  if (!has_16_bits(variant)) return false;
  if (full_.universe() != 0 && nodes.intersects(full_)) return true;
  return fixed_point_.universe() != 0 && nodes.intersects(fixed_point_) && !is_fixed_point(variant);
}

void PrecisionLimits::forbid_floats(const NodeSet& nodes, const CandidatePool& pool) {
  const NodeSet may_be_fixed = nodes_in_fixed_point(pool, nodes.universe());
  NodeSet fixed = nodes & may_be_fixed;
  if (full_.universe() != 0) fixed -= full_;
  if (!fixed.empty()) add(fixed, fixed_point_);
  forbid_16_bits(nodes - may_be_fixed);
}

void PrecisionLimits::forbid_16_bits(const NodeSet& nodes) {
  if (nodes.empty()) return;
  add(nodes, full_);
  if (fixed_point_.universe() != 0) fixed_point_ -= nodes;
}

std::string to_text(const PrecisionLimits& limits, std::size_t nodes) {
  std::string text = fmt::format("{} of {} nodes keep full precision", limits.full().count(), nodes);
  if (!limits.fixed_point().empty())
    text += fmt::format(", {} round in fixed point alone", limits.fixed_point().count());
  return text;
}

}  // namespace collage
