#include "compiler/analysis/space.h"

#include <algorithm>

namespace collage::native {

std::int64_t Space::extent(std::size_t axis) const {
  std::int64_t product = 1;
  for (const std::size_t i : axes[axis]) product *= result[i];
  return product;
}

Extents Space::extents() const {
  Extents out;
  for (std::size_t i = 0; i < rank(); ++i) out.push_back(extent(i));
  return out;
}

bool broadcasts_to(const Extents& own, const Extents& result) {
  if (own.size() > result.size()) return false;
  const Extents wide = aligned(own, result.size());
  for (std::size_t i = 0; i < wide.size(); ++i)
    if (wide[i] != 1 && wide[i] != result[i]) return false;
  return true;
}

Space activation_space(const Extents& extents) {
  Space space{.result = extents, .axes = {{0}, {}, {}, {}, {1}}};
  const std::size_t spatial_rank = extents.size() - 2;
  for (std::size_t i = 0; i < spatial_rank; ++i) space.axes[4 - spatial_rank + i] = {2 + i};
  return space;
}

Extents aligned(const Extents& extents, std::size_t rank) {
  Extents out(rank > extents.size() ? rank - extents.size() : 0, 1);
  out.insert(out.end(), extents.begin(), extents.end());
  return out;
}

Extents strides_of(const Extents& extents, const Format& format) {
  Extents strides(extents.size());
  std::int64_t stride = 1;
  const auto order = memory_order(extents.size(), format);
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = stride;
    stride *= extents[*axis];
  }
  return strides;
}

std::optional<View> view_of(const Extents& extents, const Format& format, const Space& space) {
  const std::size_t rank = space.result.size();
  if (extents.size() > rank) return std::nullopt;
  const Extents own = aligned(extents, rank);
  const Extents strides = aligned(strides_of(extents, format), rank);
  View view;
  for (const auto& group : space.axes) {
    std::int64_t extent = 1;
    std::int64_t stride = 0;
    bool is_broadcast = false;
    // From the innermost: each further axis must go on where the one inside it ends.
    for (auto axis = group.rbegin(); axis != group.rend(); ++axis) {
      if (space.result[*axis] == 1) continue;
      if (own[*axis] == 1) {
        is_broadcast = true;
        continue;
      }
      if (own[*axis] != space.result[*axis]) return std::nullopt;
      if (extent == 1)
        stride = strides[*axis];
      else if (strides[*axis] != stride * extent)
        return std::nullopt;
      extent *= own[*axis];
    }
    if (is_broadcast && extent != 1) return std::nullopt;
    view.extents.push_back(extent);
    view.strides.push_back(extent == 1 ? 0 : stride);
  }
  return view;
}

Space collapsed_space(const Extents& result, const Format& format, const std::vector<Shaped>& tensors) {
  Space space{.result = result, .axes = {}};
  for (const std::size_t axis : memory_order(result.size(), format)) {
    if (result[axis] == 1) continue;
    if (!space.axes.empty()) {
      Space joined = space;
      joined.axes.back().push_back(axis);
      const bool fits = std::ranges::all_of(
          tensors, [&](const Shaped& one) { return view_of(one.extents, one.format, joined).has_value(); });
      if (fits) {
        space = std::move(joined);
        continue;
      }
    }
    space.axes.push_back({axis});
  }
  if (space.axes.empty()) space.axes.emplace_back();
  return space;
}

}  // namespace collage::native
