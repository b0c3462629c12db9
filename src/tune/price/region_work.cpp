#include "tune/price/region_work.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace collage {
namespace {

/// Time that no kernel goes below.
constexpr double kFloorNs = 300;
constexpr std::size_t kLongestText = 80;
/// Of the heavy operators' time: what light ones move is a part of its own from there on, less is hidden behind them.
constexpr double kMovedShare = 0.25;

bool is_heavy(const Node& node) {
  return is_op(node, "Conv") || is_op(node, "ConvTranspose") || is_op(node, "MatMul") || is_op(node, "Gemm");
}

std::string kind_of(const Node& node) {
  std::string kind = node.op_type;
  for (const char* attribute : {"kernel_shape", "strides"})
    if (const auto* extents = find_attribute<std::vector<std::int64_t>>(node, attribute))
      for (const std::int64_t extent : *extents) kind += fmt::format(",{}", extent);
  return kind + (attribute_or<std::int64_t>(node, "group", 1) > 1 ? ",grouped" : "");
}

}  // namespace

std::size_t RegionWork::heavy_parts() const {
  return static_cast<std::size_t>(std::ranges::count_if(parts, [](const auto& part) { return part->is_heavy; }));
}

WorkOfRegions::WorkOfRegions(const Graph& graph, const PeakRates& peak, int threads)
    : graph_(graph), uses_(uses_of(graph)), peak_(peak), threads_(threads), heavy_(graph.nodes.size()) {}

std::shared_ptr<const Work> WorkOfRegions::work(const Region& region, std::string kind, bool is_heavy) const {
  const std::int64_t ns = roofline_ns(graph_, region, Accuracy::kStrict, peak_, threads_);
  return std::make_shared<Work>(Work{.operation = measured_key(graph_, region),
                                     .kind = std::move(kind),
                                     .roofline_ns = kFloorNs + static_cast<double>(ns),
                                     .is_heavy = is_heavy});
}

/// Null where it is hidden behind the heavy operators: a small convolution may scale a large tensor.
std::shared_ptr<const Work> WorkOfRegions::moved_beside(const Region& region, const RegionWork& heavy) const {
  if (heavy.rest.empty()) return nullptr;
  double heavy_ns = 0;
  for (const auto& part : heavy.parts) heavy_ns += part->roofline_ns;
  const auto all_ns = static_cast<double>(roofline_ns(graph_, region, Accuracy::kStrict, peak_, threads_));
  if (all_ns - heavy_ns < kMovedShare * heavy_ns) return nullptr;
  return std::make_shared<Work>(Work{.operation = "beside " + measured_key(graph_, region),
                                     .kind = heavy.rest,
                                     .roofline_ns = all_ns - heavy_ns,
                                     .is_heavy = false});
}

RegionWork WorkOfRegions::of(const Region& region) {
  RegionWork made;
  for (const std::size_t n : region.nodes.members()) {
    const Node& node = graph_.nodes[n];
    if (!is_heavy(node)) {
      if (made.rest.size() < kLongestText) made.rest += node.op_type + ",";
      continue;
    }
    if (!heavy_[n]) {
      NodeSet alone(graph_.nodes.size());
      alone.insert(n);
      heavy_[n] = work(make_region(graph_, uses_, alone), kind_of(node), true);
    }
    made.parts.push_back(heavy_[n]);
  }
  if (made.parts.empty())
    made.parts.push_back(work(region, std::exchange(made.rest, ""), false));
  else if (auto moved = moved_beside(region, made))
    made.parts.push_back(std::move(moved));
  return made;
}

}  // namespace collage
