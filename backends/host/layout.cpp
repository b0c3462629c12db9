#include "layout.h"

#include <algorithm>

#include "base/error.h"

namespace collage::host {

Strides strides_of(const Extents& extents, const Format& format) {
  std::vector<std::size_t> order;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) order.push_back(axis);
  if (format.full().is_channels_last()) {
    COLLAGE_CHECK(extents.size() >= 3 && extents.size() <= 5, "channels_last of another rank");
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  }
  Strides strides(extents.size(), 1);
  std::int64_t stride = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    strides[*axis] = stride;
    stride *= extents[*axis];
  }
  return strides;
}

std::optional<std::vector<SharedAxis>> shared_axes(const Extents& from, const Strides& from_strides, const Extents& to,
                                                   const Strides& to_strides) {
  if (element_count(from) != element_count(to)) return std::nullopt;
  if (element_count(from) == 0) return std::vector<SharedAxis>{SharedAxis{.extent = 0}};
  // From the innermost axis outwards: cut off the smaller of the two open extents, which must divide the larger.
  std::vector<SharedAxis> axes;
  std::size_t i = from.size();
  std::size_t j = to.size();
  std::int64_t from_left = 1;
  std::int64_t to_left = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  while (true) {
    while (from_left == 1 && i > 0) {
      --i;
      from_left = from[i];
      from_stride = from_strides[i];
    }
    while (to_left == 1 && j > 0) {
      --j;
      to_left = to[j];
      to_stride = to_strides[j];
    }
    if (from_left == 1 && to_left == 1) break;
    const std::int64_t cut = std::min(from_left, to_left);
    if (cut == 1 || from_left % cut != 0 || to_left % cut != 0) return std::nullopt;
    axes.push_back({cut, from_stride, to_stride});
    from_left /= cut;
    to_left /= cut;
    from_stride *= cut;
    to_stride *= cut;
  }
  std::ranges::reverse(axes);
  return axes;
}

}  // namespace collage::host
