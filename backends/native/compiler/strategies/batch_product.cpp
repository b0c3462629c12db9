// MatMul of two computed factors, batch by batch: rows of the first broadcast against vectors of the second's columns.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/products/micro_product.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

/// Batch axes, then rows, columns; the factors along batch axes, then their own two.
struct Batches {
  Space space;
  View a, b;
  std::int64_t rows = 1, columns = 1, depth = 1;
};

/// A factor along the batch axes of the result: 0 where it is the same for all.
View factor_view(const Extents& extents, std::size_t rank) {
  const Extents own = aligned(extents, rank);
  const Extents strides = aligned(strides_of(extents, plain()), rank);
  View view{.extents = own, .strides = strides};
  for (std::size_t i = 0; i < rank; ++i)
    if (own[i] == 1) view.strides[i] = 0;
  return view;
}

std::expected<Batches, Refusal> batches_of(const Site& site) {
  const Node& node = *site.anchor;
  const Extents a = site.extents(node.inputs[0]);
  const Extents b = site.extents(node.inputs[1]);
  const Extents out = site.extents(node.outputs[0]);
  if (constant_of(site.graph, node.inputs[1]) != nullptr && b.size() == 2)
    return refuse(RefusalReason::kStructure, "a constant second factor");
  if (site.type(node.inputs[0]).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  if (a.size() < 2 || b.size() < 2) return refuse(RefusalReason::kShape, "a vector");
  Batches batches{.space = {.result = out, .axes = {}},
                  .a = factor_view(a, out.size()),
                  .b = factor_view(b, out.size()),
                  .rows = out[out.size() - 2],
                  .columns = out.back(),
                  .depth = a.back()};
  for (std::size_t i = 0; i < out.size(); ++i) batches.space.axes.push_back({i});
  return batches;
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto batches = batches_of(site);
  if (!batches) return std::unexpected(batches.error());
  Facts facts = {{"rows", batches->rows}, {"columns", batches->columns}, {"depth", batches->depth}};
  add_library_facts(site, facts);
  add_micro_facts(facts);
  return facts;
}

std::vector<Schedule> space(const Site& site, const Facts& facts) {
  const std::int64_t rows = facts.find("rows")->second;
  // Whole vectors, so that the last tile can be shifted back over its neighbour.
  const std::int64_t vectors = std::max<std::int64_t>(facts.find("columns")->second / site.lanes(), 1);
  std::vector<Schedule> schedules;
  for (const std::int64_t tile_c : {std::min<std::int64_t>(vectors, 4), std::min<std::int64_t>(vectors, 2)}) {
    const std::int64_t most = std::max<std::int64_t>((site.set.registers - 1 - tile_c) / tile_c, 1);
    std::int64_t tile_x = std::min(most, rows);
    for (std::int64_t one = tile_x; one > tile_x / 2; --one)
      if (ceil_div(rows, one) * one < ceil_div(rows, tile_x) * tile_x) tile_x = one;
    const Schedule schedule{{"tile_x", tile_x}, {"tile_c", tile_c}};
    if (std::ranges::find(schedules, schedule) == schedules.end()) schedules.push_back(schedule);
  }
  return schedules;
}

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Batches batches = *batches_of(site);
  const std::int64_t lanes = site.lanes();
  const std::int64_t block = schedule["tile_c"] * lanes;
  const Readable a = lowering.read(site.anchor->inputs[0], batches.a);
  const Readable b = lowering.read(site.anchor->inputs[1], batches.b);
  const std::vector<Var> loops = loop_variables(batches.space.rank());
  const Var row = loops[loops.size() - 2];
  const Var column = loops.back();
  const RDom r(0, to_int(batches.depth), "r");
  Indices at_a = as_indices(loops);
  at_a.back() = r.x;
  Indices at_b = as_indices(loops);
  at_b[at_b.size() - 2] = r.x;
  const bool has_tail = batches.columns % block != 0;
  const bool can_shift = batches.columns >= block;
  // Fewer columns than a vector has lanes: what is computed past them is not stored.
  if (!can_shift) at_b.back() = clamped(column, batches.columns);
  Func sum("sum");
  sum(innermost_first(loops)) = 0.0F;
  sum(innermost_first(loops)) += a(at_a) * b(at_b);
  Func out = define_output(site, lowering, batches.space, loops, sum(innermost_first(as_indices(loops))));
  const Extents extents = batches.space.extents();

  const Var xo("xo");
  const Var xi("xi");
  const Var co("co");
  const Var ci("ci");
  const Var cu("cu");
  const Var cv("cv");
  const std::int64_t tile_x = schedule["tile_x"];
  const auto tail = !has_tail   ? TailStrategy::RoundUp
                    : can_shift ? TailStrategy::ShiftInwards
                                : TailStrategy::Predicate;
  out.split(column, co, ci, to_int(block), tail)
      .split(row, xo, xi, to_int(tile_x), TailStrategy::ShiftInwards)
      .split(ci, cu, cv, to_int(lanes))
      .vectorize(cv)
      .unroll(cu)
      .unroll(xi);
  std::vector<Var> order = {cv, cu, xi, xo, co};
  const std::vector<Var> outer(loops.begin(), loops.end() - 2);
  order.insert(order.end(), outer.rbegin(), outer.rend());
  out.reorder({order.begin(), order.end()});
  std::vector<Var> parallel = outer;
  parallel.push_back(co);
  Extents counts(extents.begin(), extents.end() - 2);
  counts.push_back(ceil_div(batches.columns, block));
  parallelise(out, parallel, counts, site);
  const Var su("su");
  const Var sv("sv");
  sum.compute_at(out, xo).bound_extent(column, to_int(block)).bound_extent(row, to_int(tile_x));
  for (const Var& one : outer) sum.bound_extent(one, 1);
  sum.split(column, su, sv, to_int(lanes)).vectorize(sv).unroll(su).unroll(row);
  sum.update().split(column, su, sv, to_int(lanes)).reorder(sv, su, row, r.x).vectorize(sv).unroll(su).unroll(row);
}

/// As of dense.h; narrow matrices have one vector.
constexpr std::string_view kLegal =
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= rows and tile_c * lanes <= columns or "
    "tile_x + 2 <= registers and tile_x <= rows and tile_c == 1";

LibraryProduct product_of(const Site& site) {
  const Batches batches = *batches_of(site);
  return {.a = site.anchor->inputs[0],
          .b = site.anchor->inputs[1],
          .a_view = batches.a,
          .b_view = batches.b,
          .space = batches.space,
          .value = [](Lowering&, const Indices&, const Expr& product) { return product; }};
}

/// Narrow ones are one block.
constexpr std::string_view kMicroLegalHere =
    "tile_x <= rows and block <= columns and block % 16 == 0 or tile_x <= rows and block == columns";

const std::array<Implementation, 3> kImplementations = {
    {{.name = "batched",
      .condition = "",
      .priority = 10,
      .layouts = {Layout::kPlain},
      .space = space,
      .build = build,
      .choices = "tile_c: 1..6, tile_x: 1..28",
      .legal = kLegal},
     sgemm_row<product_of>(Layout::kPlain, "libraries > 0 and rows > 1 and columns > 1 and depth > 1"),
     xsmm_row<product_of>(Layout::kPlain, "micro_kernels > 0 and rows > 1 and columns > 1 and depth > 1",
                          kMicroLegalHere)}};

}  // namespace

const Family kBatchProductFamily = {
    .name = "batch_product", .operators = "MatMul", .read = read, .implementations = kImplementations};

}  // namespace collage::native
