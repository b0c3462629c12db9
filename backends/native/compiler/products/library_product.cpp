#include "compiler/products/library_product.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/hash.h"
#include "blas_call.h"
#include "compiler/codegen/loops.h"
#include "embedded/kernel_runtime.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

namespace {

/// A tile of the product stays in the second cache beside what the library packs.
constexpr std::int64_t kTileBytes = std::int64_t{512} << 10;
/// Fewer rows do not pay for packing the other factor again.
constexpr std::int64_t kLeastTileRows = 64;
/// More leave threads without work.
constexpr std::int64_t kMostTileRows = 256;
/// The library with the best code first.
constexpr std::array<const char*, 3> kLibraries = {"mkl", "openblas", "blis"};

/// Tiles of equal size, the same for any number of threads: a library may sum a row in another order when it stands
/// elsewhere in a tile.
std::int64_t tile_rows(const LibraryProduct& product) {
  const std::int64_t most = std::max(std::min(kTileBytes / 4 / product.columns(), kMostTileRows), kLeastTileRows);
  for (std::int64_t rows = std::min(product.rows(), most); rows >= kLeastTileRows / 2; --rows)
    if (product.rows() % rows == 0) return rows;
  return product.rows();
}

/// Halide asks what a stage it did not make reads: the corners of what a place needs.
Expr corners(const FactorBuffer& a, const FactorBuffer& b, const std::vector<Var>& loops) {
  const std::size_t rank = loops.size();
  const auto at = [&](const FactorBuffer& factor, std::size_t summed, std::int64_t step) {
    Indices where = as_indices(loops);
    where[summed] = to_int(step);
    for (std::size_t i = 0; i < rank; ++i)
      if (factor.view.extents[i] == 1) where[i] = 0;
    return Expr(factor.buffer(innermost_first(where)));
  };
  const std::int64_t last = a.view.extents.back() - 1;
  return at(a, rank - 1, 0) + at(a, rank - 1, last) + at(b, rank - 2, 0) + at(b, rank - 2, last);
}

}  // namespace

Func product_stage(const std::string& symbol, const FactorBuffer& a, const FactorBuffer& b,
                   const std::vector<Var>& loops) {
  Func stage("product");
  stage.define_extern(symbol, {a.buffer, b.buffer}, Halide::Float(32), innermost_first(loops), Halide::NameMangling::C);
  stage.function().extern_definition_proxy_expr() = corners(a, b, loops);
  return stage;
}

std::string library_condition() { return "libraries > 0 and " + std::string(kIsMatrixProduct); }

LibraryProduct library_product_of(const Dense& dense, const Site& site) {
  return {.a = dense.source,
          .b = dense.weights,
          .a_view = dense.view,
          .b_view = {.extents = {1, 1, 1, dense.channels(), dense.outputs()},
                     .strides = {0, 0, 0, dense.in_stride, dense.out_stride}},
          .space = dense.space,
          .value = [dense, &site](Lowering& lowering, const Indices& at, const Expr& product) {
            return with_bias(dense, site, lowering, at, product);
          }};
}

void add_library_facts(const Site& site, Facts& facts) {
  facts["libraries"] = std::ranges::count_if(
      kLibraries, [&](const char* name) { return !site.options.linkable && blas_library(name).has_value(); });
}

std::vector<Schedule> library_space(const LibraryProduct& product, const Site&) {
  const std::int64_t rows = tile_rows(product);
  const std::vector<std::string> names = blas::library_names();
  std::vector<Schedule> schedules;
  for (const char* name : kLibraries) {
    const auto& library = blas_library(name);
    if (!library) continue;
    const std::uint64_t build = hash_bytes(library->build.data(), library->build.size(), 0);
    schedules.push_back({{"library", std::ranges::find(names, name) - names.begin()},
                         {"build", static_cast<std::int64_t>(build % 1'000'000)},
                         {"rows", rows}});
  }
  return schedules;
}

void build_library_product(const LibraryProduct& product, const Site& site, const Schedule& schedule,
                           Lowering& lowering) {
  lowering.call_library(blas::library_names().at(static_cast<std::size_t>(schedule["library"])));
  const Extents extents = product.space.extents();
  const std::vector<Var> loops = loop_variables(extents.size());
  const Var row = loops[loops.size() - 2];
  const Var column = loops.back();
  Func stage = product_stage(kProductSymbol, {lowering.buffer(product.a, product.a_view), product.a_view},
                             {lowering.buffer(product.b, product.b_view), product.b_view}, loops);
  const Expr sum = stage(innermost_first(as_indices(loops)));
  Func out = define_output(site, lowering, product.space, loops, product.value(lowering, as_indices(loops), sum));

  const auto whole = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(product.columns())));
  const std::int64_t lanes = std::min(site.lanes(), whole);
  const std::int64_t tile = schedule["rows"];
  const Var tiles("tiles");
  const Var inner("inner");
  const Var block("block");
  const Var lane("lane");
  out.split(row, tiles, inner, to_int(tile), TailStrategy::RoundUp)
      .split(column, block, lane, to_int(lanes), TailStrategy::ShiftInwards)
      .vectorize(lane);
  std::vector<Var> order = {lane, block, inner, tiles};
  std::vector<Var> outer(loops.begin(), loops.end() - 2);
  order.insert(order.end(), outer.rbegin(), outer.rend());
  out.reorder({order.begin(), order.end()});
  outer.push_back(tiles);
  Extents counts(extents.begin(), extents.end() - 2);
  counts.push_back(ceil_div(product.rows(), tile));
  stage.compute_at(out, parallelise(out, outer, counts, site))
      .bound_extent(row, to_int(tile))
      .bound_extent(column, to_int(product.columns()));
  for (const Var& one : std::vector<Var>(loops.begin(), loops.end() - 2)) stage.bound_extent(one, 1);
}

}  // namespace collage::native
