#include "api/c/port_view.h"

#include <utility>

namespace collage::c_api {
namespace {

// The names of C are those of ir/type.h; the last one says whether one is missing.
static_assert(COLLAGE_UNDEFINED == std::to_underlying(ElementType::kUndefined));
static_assert(COLLAGE_FLOAT32 == std::to_underlying(ElementType::kFloat32));
static_assert(COLLAGE_INT64 == std::to_underlying(ElementType::kInt64));
static_assert(COLLAGE_FLOAT16 == std::to_underlying(ElementType::kFloat16));
static_assert(COLLAGE_BFLOAT16 == std::to_underlying(ElementType::kBfloat16));
static_assert(COLLAGE_INT4 == std::to_underlying(ElementType::kInt4));
static_assert(COLLAGE_INT2 == std::to_underlying(ElementType::kInt2));

constexpr std::int64_t kOpen = -1;

}  // namespace

void PortView::show(const TensorPort& port) {
  extents_.clear();
  symbols_.clear();
  info_ = {.size = sizeof info_,
           .name = port.name.c_str(),
           .element_type =
               std::to_underlying(port.type.kind == ValueKind::kTensor ? port.type.element : ElementType::kUndefined),
           .rank = kOpen,
           .extents = nullptr,
           .symbols = nullptr,
           .bytes = port.bytes};
  if (!port.type.shape) return;
  for (const Dim& dim : *port.type.shape) {
    extents_.push_back(dim.is_static() ? dim.extent : kOpen);
    symbols_.push_back(dim.is_static() || dim.symbol.empty() ? nullptr : dim.symbol.c_str());
  }
  info_.rank = static_cast<std::int32_t>(extents_.size());
  if (extents_.empty()) return;
  info_.extents = extents_.data();
  info_.symbols = symbols_.data();
}

}  // namespace collage::c_api
