#include "compiler/products/micro_product.h"

#include <algorithm>
#include <bit>

#include "compiler/codegen/loops.h"
#include "compiler/products/micro_kernel.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// Of rows: enough to pay for a call, few enough to stay in the first cache.
constexpr std::int64_t kFewRows = 12;
constexpr std::int64_t kManyRows = 48;
/// A vector of the widest registers: packed weights are the same for all of them.
constexpr std::int64_t kColumns = 16;

/// Constant weights for all batches are packed; other factors lie as they are.
bool is_packed(const LibraryProduct& product, const Site& site) {
  if (constant_of(site.graph, product.b) == nullptr) return false;
  return std::all_of(product.b_view.extents.begin(), product.b_view.extents.end() - 2,
                     [](std::int64_t extent) { return extent == 1; });
}

/// The size with the least waste, the largest of those.
std::int64_t tile_of(std::int64_t extent, std::int64_t least, std::int64_t most) {
  std::int64_t best = std::min(extent, most);
  for (std::int64_t tile = best - 1; tile >= least; --tile)
    if (ceil_div(extent, tile) * tile < ceil_div(extent, best) * best) best = tile;
  return best;
}

/// Sizes of blocks of columns, least waste first.
std::vector<std::int64_t> blocks_of(std::int64_t columns, bool packed) {
  std::vector<std::int64_t> blocks;
  for (const std::int64_t block : {4 * kColumns, 3 * kColumns, 2 * kColumns, kColumns})
    if (packed ? block < columns + kColumns : block <= columns) blocks.push_back(block);
  if (blocks.empty()) return {columns};
  std::ranges::stable_sort(blocks, {}, [&](std::int64_t block) { return ceil_div(columns, block) * block; });
  return blocks;
}

/// A product in tiles: its factors as the micro-kernel reads them, the loops of the stage that calls it, outer to
/// inner, and where among them a place of the result is.
struct Tiled {
  FactorBuffer a, b;
  std::vector<Var> loops;
  Indices at;
};

/// Packed: block by block, which is one more axis, the outermost.
FactorBuffer packed_factor(const LibraryProduct& product, std::int64_t block, Lowering& lowering) {
  const std::size_t rank = product.space.rank();
  const std::int64_t depth = product.a_view.extents.back();
  const Packing packing{.kind = PackingKind::kPanels,
                        .numbers = {product.columns(), 1, depth, product.b_view.strides[rank - 1], 1,
                                    product.b_view.strides[rank - 2], block}};
  Extents extents(rank + 1, 1);
  extents[0] = ceil_div(product.columns(), block);
  extents[rank - 1] = depth;
  extents[rank] = block;
  return {.buffer = lowering.packed_buffer(product.b, packing, ElementType::kFloat32, extents),
          .view = {.extents = extents, .strides = strides_of(extents, plain())}};
}

Tiled tiled(const LibraryProduct& product, const std::vector<Var>& loops, std::int64_t block, bool packed,
            Lowering& lowering) {
  View a = product.a_view;
  if (!packed)
    return {.a = {.buffer = lowering.buffer(product.a, a), .view = a},
            .b = {.buffer = lowering.buffer(product.b, product.b_view), .view = product.b_view},
            .loops = loops,
            .at = as_indices(loops)};
  // The same rows for every block.
  a.extents.insert(a.extents.begin(), 1);
  a.strides.insert(a.strides.begin(), 0);
  Tiled tiled{.a = {.buffer = lowering.buffer(product.a, a), .view = a},
              .b = packed_factor(product, block, lowering),
              .loops = loops,
              .at = as_indices(loops)};
  tiled.loops.back() = Var("ci");
  tiled.loops.insert(tiled.loops.begin(), Var("co"));
  tiled.at.back() = loops.back() % to_int(block);
  tiled.at.insert(tiled.at.begin(), loops.back() / to_int(block));
  return tiled;
}

/// Computes the stage tile by tile inside the output's loops.
void schedule_tiles(const LibraryProduct& product, const Site& site, const Schedule& schedule, bool packed,
                    const std::vector<Var>& loops, Func out, Func stage) {
  const std::int64_t block = schedule["block"];
  const std::int64_t rows = schedule["tile_x"];
  const Var co("co");
  const Var ci("ci");
  const Var cu("cu");
  const Var cv("cv");
  const Var xo("xo");
  const Var xi("xi");
  const auto tail = product.columns() % block == 0 ? TailStrategy::RoundUp
                    : packed                       ? TailStrategy::Predicate
                                                   : TailStrategy::ShiftInwards;
  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(block)));
  out.split(loops.back(), co, ci, to_int(block), tail)
      .split(loops[loops.size() - 2], xo, xi, to_int(rows), TailStrategy::ShiftInwards)
      .split(ci, cu, cv, to_int(std::min(site.lanes(), whole)))
      .vectorize(cv);
  struct Outer {
    Var loop;
    std::int64_t count;
  };
  Outer slow{co, ceil_div(product.columns(), block)};
  Outer fast{xo, ceil_div(product.rows(), rows)};
  if (schedule["outer"] != 0) std::swap(slow, fast);
  const Extents extents = product.space.extents();
  std::vector<Var> outer(loops.begin(), loops.end() - 2);
  Extents counts(extents.begin(), extents.end() - 2);
  outer.insert(outer.end(), {slow.loop, fast.loop});
  counts.insert(counts.end(), {slow.count, fast.count});
  std::vector<Var> order = {cv, cu, xi};
  order.insert(order.end(), outer.rbegin(), outer.rend());
  out.reorder({order.begin(), order.end()});
  stage.compute_at(out, parallelise(out, outer, counts, site));
}

}  // namespace

std::string micro_condition() {
  return "micro_kernels > 0 and channel_stride == 1 and " + std::string(kIsMatrixProduct);
}

void add_micro_facts(Facts& facts) { facts["micro_kernels"] = micro_kernel_version() > 0 ? 1 : 0; }

std::string_view micro_choices() {
  static const std::string choices =
      "block: 1..128, outer: 0|1, tile_x: 1..64, version: " + std::to_string(micro_kernel_version());
  return choices;
}

std::vector<Schedule> micro_space(const LibraryProduct& product, const Site& site) {
  const std::int64_t rows = tile_of(product.rows(), kFewRows, kManyRows);
  // The smaller factor is the one to be read again and again.
  const std::int64_t outer = product.rows() >= product.columns() ? 1 : 0;
  std::vector<Schedule> schedules;
  for (const std::int64_t block : blocks_of(product.columns(), is_packed(product, site)))
    schedules.push_back({{"tile_x", rows}, {"block", block}, {"outer", outer}, {"version", micro_kernel_version()}});
  return schedules;
}

void build_micro_product(const LibraryProduct& product, const Site& site, const Schedule& schedule,
                         Lowering& lowering) {
  const std::int64_t block = schedule["block"];
  const std::int64_t rows = schedule["tile_x"];
  const bool packed = is_packed(product, site);
  const std::size_t rank = product.space.rank();
  const std::vector<Var> loops = loop_variables(rank);
  const Tiled tiles = tiled(product, loops, block, packed, lowering);
  const MicroProduct micro{.rows = rows,
                           .columns = block,
                           .depth = product.a_view.extents.back(),
                           .left_step = product.a_view.strides[rank - 2],
                           .right_step = packed ? block : product.b_view.strides[rank - 2],
                           .result_step = block};
  lowering.call_micro_kernel(micro);
  Func stage = product_stage(symbol_of(micro), tiles.a, tiles.b, tiles.loops);
  const Expr sum = stage(innermost_first(tiles.at));
  const Func out = define_output(site, lowering, product.space, loops, product.value(lowering, as_indices(loops), sum));
  schedule_tiles(product, site, schedule, packed, loops, out, stage);
  for (std::size_t i = 0; i + 2 < tiles.loops.size(); ++i) stage.bound_extent(tiles.loops[i], 1);
  stage.bound_extent(tiles.loops[tiles.loops.size() - 2], to_int(rows)).bound_extent(tiles.loops.back(), to_int(block));
}

}  // namespace collage::native
