#include "tune/cost_bounds.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

namespace collage {
namespace {

/// Time that no kernel goes below, added to the roofline so that factors of tiny regions stay sane.
constexpr std::int64_t kFloorNs = 300;
/// How much below the least seen of its kind a candidate may be, for each kind from narrow to wide.
constexpr std::array<double, 2> kMargin = {0.9, 0.7};

bool is_heavy(const Node& node) {
  return is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "MatMul") || is_op(node, "Gemm");
}

/// The operators that decide how well a library does: the heavy ones with their filters, else all of them.
std::string operators_of(const Graph& graph, const Region& region) {
  std::string heavy;
  std::string all;
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph.nodes[n];
    if (all.size() < 80) all += node.op_type + ",";
    if (!is_heavy(node) || heavy.size() > 80) continue;
    heavy += node.op_type;
    if (const auto* kernel = find_attribute<std::vector<std::int64_t>>(node, "kernel_shape"))
      for (const std::int64_t extent : *kernel) heavy += std::to_string(extent);
    if (const auto* strides = find_attribute<std::vector<std::int64_t>>(node, "strides"))
      for (const std::int64_t stride : *strides) heavy += "s" + std::to_string(stride);
    heavy += attribute_or<std::int64_t>(node, "group", 1) > 1 ? "g," : ",";
  }
  return heavy.empty() ? all : heavy;
}

int size_class(std::int64_t ns) { return std::bit_width(static_cast<std::uint64_t>(ns)) / 2; }

}  // namespace

CostBounds::CostBounds(const Graph& graph, const CandidatePool& pool, Accuracy accuracy, const PeakRates& peak,
                       int threads)
    : pool_(pool) {
  for (const Region& region : pool.regions) {
    roofline_.push_back(roofline_ns(graph, region, accuracy, peak, threads));
    signature_.push_back(operators_of(graph, region));
  }
}

std::vector<std::string> CostBounds::kinds_of(std::size_t candidate) const {
  const Candidate& c = pool_.candidates[candidate];
  const std::string& operators = signature_[c.region];
  const int size = size_class(roofline_[c.region] + kFloorNs);
  std::string formats;
  for (const auto* list : {&c.variant.input_formats, &c.variant.output_formats})
    for (const Format& format : *list) formats += format.name.substr(0, 12) + ";";
  return {fmt::format("{}/{}/{}/{}/{}", c.backend, c.variant.name, formats, operators, size),
          fmt::format("{}/{}/{}/{}", c.backend, c.variant.name, operators, size)};
}

std::int64_t CostBounds::bound(std::size_t candidate) const {
  const std::int64_t least = roofline(candidate);
  const std::vector<std::string> kinds = kinds_of(candidate);
  for (std::size_t k = 0; k < kinds.size(); ++k)
    if (const auto found = factor_.find(kinds[k]); found != factor_.end()) {
      const double ns = kMargin[k] * found->second * static_cast<double>(roofline(candidate) + kFloorNs);
      return std::max(least, static_cast<std::int64_t>(ns));
    }
  return least;
}

void CostBounds::learn(std::size_t candidate, const Cost& cost) {
  const auto* measured = std::get_if<Measured>(&cost);
  if (!measured || measured->median_ns == 0) return;
  const double factor = static_cast<double>(measured->median_ns) / static_cast<double>(roofline(candidate) + kFloorNs);
  for (const std::string& kind : kinds_of(candidate)) {
    const auto [found, added] = factor_.emplace(kind, factor);
    if (!added) found->second = std::min(found->second, factor);
  }
}

}  // namespace collage
