#include "backends/common/window/window.h"

namespace collage {
namespace {

std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

Extents list_or(const Node& node, std::string_view name, Extents fallback) {
  return attribute_or<std::vector<std::int64_t>>(node, name, std::move(fallback));
}

std::int64_t reach(const Window& window, std::size_t axis) {
  return (window.kernel[axis] - 1) * window.dilations[axis] + 1;
}

/// Strides, dilations and the pads as the attributes give them; auto_pad is resolved by the callers.
std::expected<Window, Refusal> attributes_of(const Node& node, const Extents& kernel) {
  const std::size_t rank = kernel.size();
  const Extents pads = list_or(node, "pads", Extents(2 * rank, 0));
  Window window{.kernel = kernel,
                .strides = list_or(node, "strides", Extents(rank, 1)),
                .dilations = list_or(node, "dilations", Extents(rank, 1)),
                .begin = {},
                .end = {}};
  if (pads.size() != 2 * rank || window.strides.size() != rank || window.dilations.size() != rank)
    return refuse(RefusalReason::kAttribute, "pads, strides or dilations of another rank");
  window.begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  window.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
  return window;
}

/// Splits the padding that SAME_* asks for; the odd one goes to the end for SAME_UPPER.
void pad_same(Window& window, std::size_t axis, std::int64_t total, bool upper) {
  total = std::max<std::int64_t>(total, 0);
  window.begin[axis] = upper ? total / 2 : total - total / 2;
  window.end[axis] = total - window.begin[axis];
}

}  // namespace

std::expected<Window, Refusal> window_of(const Node& node, const Extents& kernel, const Extents& in, const Extents& out,
                                         const Extents& extra_begin, const Extents& extra_end) {
  auto window = attributes_of(node, kernel);
  if (!window) return window;
  const auto auto_pad = attribute_or<std::string>(node, "auto_pad", "NOTSET");
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t stride = window->strides[axis];
    if (auto_pad == "VALID") window->begin[axis] = window->end[axis] = 0;
    if (auto_pad.starts_with("SAME"))
      pad_same(*window, axis, (out[axis] - 1) * stride + reach(*window, axis) - in[axis], auto_pad == "SAME_UPPER");
    if (!extra_begin.empty()) {
      window->begin[axis] += extra_begin[axis];
      window->end[axis] += extra_end[axis];
    }
    const std::int64_t needed = (out[axis] - 1) * stride + reach(*window, axis) - in[axis] - window->begin[axis];
    if (needed > window->end[axis]) {
      window->sticks_out = true;
      window->end[axis] = needed;
    } else if (window->end[axis] - needed >= stride) {
      window->end[axis] = needed;
    }
    if (window->begin[axis] < 0 || stride < 1) return refuse(RefusalReason::kAttribute, "negative padding or stride");
  }
  return window;
}

std::expected<Window, Refusal> transposed_window_of(const Node& node, const Extents& kernel, const Extents& in,
                                                    const Extents& out) {
  auto window = attributes_of(node, kernel);
  if (!window) return window;
  const auto auto_pad = attribute_or<std::string>(node, "auto_pad", "NOTSET");
  const bool given = find_attribute<std::vector<std::int64_t>>(node, "output_shape") == nullptr;
  for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
    const std::int64_t full = (in[axis] - 1) * window->strides[axis] + reach(*window, axis);
    if (auto_pad == "VALID") window->begin[axis] = 0;
    if (auto_pad.starts_with("SAME") || !given) pad_same(*window, axis, full - out[axis], auto_pad == "SAME_UPPER");
    // Cutting less at the end than the attribute says is what output_padding means.
    window->end[axis] = full - out[axis] - window->begin[axis];
    if (window->begin[axis] < 0) return refuse(RefusalReason::kAttribute, "negative padding");
  }
  return window;
}

}  // namespace collage
