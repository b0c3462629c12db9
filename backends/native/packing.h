// Packs weights into the order in which a kernel's inner loop reads them: once, at tune time or when a kernel is
// loaded.
// In:  a constant of the graph and a packing. Out: its packed bytes.
// Cost: one pass over the weights. Winograd's weights grow from 3 to m + 2 values along each transformed axis.
// Source: weights [K/B][R][S][C][B] as in blocked convolutions (Georganas et al., SC 2018); Winograd's transform with
//       the points 0, +-1, +-2 (Lavin and Gray, CVPR 2016).
#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "ir/tensor.h"

namespace collage::native {

enum class PackingKind : std::uint8_t {
  kNone,    ///< as in the graph
  kPanels,  ///< numbers {out, taps, in, out stride, tap stride, in stride, block}: [out/block][taps][in][block], zeros
            ///< past `out`; strides in elements of the source; f32, also from bytes. Two more, {outputs of a group,
            ///< group stride}, when the outputs lie in groups
  kWinograd,  ///< numbers {out, in, tile, block}: 3x3 weights [out][in][3][3] -> [out/block][tile+2 squared][in][block]
  kQuads,     ///< numbers {out, taps, in, out stride, tap stride, in stride, block}: signed bytes, unsigned ones less
              ///< 128, [out/block][taps][in/4][block][4], zeros past the ends
  kPairs,     ///< the same numbers and values as i16, [out/block][taps][in/2][block][2]
  kQuadSums,  ///< the same numbers: i32 [out rounded up to block], the sum of each output's bytes in kQuads
  kBfloatPanels,  ///< seven numbers as of kPanels, from f32: bfloat16
  kBfloatPairs,   ///< the same numbers: bfloat16 [out/block][taps][in/2][block][2], zeros past the ends
  kHalfPanels,    ///< as kBfloatPanels, in float16
  kWinogradRows,  ///< numbers {out, in, depth, height, width, tile_d, tile_h, block}: weights [out][in][d][h][w] ->
                  ///< [out/block][points_d][points_h][width][in][block], zeros past `out`. An axis of three taps and a
                  ///< tile of 2 or 4 has tile + 2 points, one of one tap and a tile of 1 has one
  kFixedPairs,    ///< seven numbers as of kPairs and {inputs, taps, levels}, from f32: i16 as in kPairs, each output in
                  ///< units of its own, so that no sum over so many neighbouring inputs and taps, which divide those of
                  ///< the weights, of products with integers up to `levels` leaves 32 bits
  kFixedScales,   ///< the same numbers: f32 [out rounded up to block], the units; NaN for weights that are not finite
  kFixedWinograd,  ///< the numbers of kWinograd and {inputs, levels}: i16 [out/block][tile+2 squared][in/2][block][2],
                   ///< each output and point in units of its own, as kFixedPairs for sums over so many inputs
  kFixedWinogradScales  ///< the same numbers: f32 [out/block][tile+2 squared][block], the units
};

/// Panels in elements of float32, bfloat16 or float16.
[[nodiscard]] PackingKind panels_in(ElementType type);
[[nodiscard]] std::string_view name_of(PackingKind kind);
[[nodiscard]] std::optional<PackingKind> packing_kind_of(std::string_view name);

struct Packing {
  PackingKind kind = PackingKind::kNone;
  Extents numbers = {};
  bool operator==(const Packing&) const = default;
};

/// Bytes of the packed constant.
[[nodiscard]] std::size_t packed_bytes(const Packing& packing, const Tensor& source);

/// The packed bytes, 64-byte aligned; for kNone the constant's own. Error backend/bad-artifact when packing and
/// constant do not fit.
[[nodiscard]] Result<Buffer> pack(const Packing& packing, const Tensor& source);

}  // namespace collage::native
