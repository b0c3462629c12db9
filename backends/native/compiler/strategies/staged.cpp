// Pointwise convolutions and products over rows whose input is computed by data movement or element-wise operators:
// merging attention heads before a projection, concatenating channels or scaling before a convolution. A block of
// positions at a time is computed into a small buffer in the order that the product needs; the whole tensor is never
// stored.
// Source: packing of blocks in matrix products (Goto and van de Geijn, TOMS 2008).
#include <algorithm>
#include <set>

#include "compiler/codegen/loops.h"
#include "compiler/expressions/move.h"
#include "compiler/strategies/convolution.h"
#include "compiler/strategies/families.h"
#include "compiler/strategies/pointwise.h"
#include "compiler/strategies/product.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

bool is_product(const Site& site) { return site.anchor->op_type != "Conv"; }

std::expected<Dense, Refusal> dense_of(const Site& site) {
  auto dense = is_product(site) ? product_of(site) : convolution_of(site);
  if (!dense) return dense;
  if (!is_matrix_product(*dense)) return refuse(RefusalReason::kStructure, "windows of moved elements");
  if (constant_of(site.graph, dense->weights) == nullptr) return refuse(RefusalReason::kStructure, "computed weights");
  return dense;
}

/// Values that nodes of `nodes` make.
bool makes(const Site& site, const NodeSet& nodes, ValueId id) {
  return std::ranges::any_of(nodes.members(), [&](std::size_t n) {
    return std::ranges::find(site.graph.nodes[n].outputs, id) != site.graph.nodes[n].outputs.end();
  });
}

/// The nodes before the anchor feed its first operand and nothing else.
std::expected<void, Refusal> check_feeding(const Site& site) {
  const auto is_free = [&](ValueId id) { return !id.valid() || !makes(site, site.before, id); };
  const auto& inputs = site.anchor->inputs;
  bool is_fed = std::all_of(inputs.begin() + 1, inputs.end(), is_free);
  for (const std::size_t n : site.after.members())
    is_fed = is_fed && std::ranges::all_of(site.graph.nodes[n].inputs, is_free);
  if (!is_fed) return refuse(RefusalReason::kStructure, "work before " + site.anchor->op_type + " that others read");
  return {};
}

/// Element-wise work on the result of a heavy operator is cheaper there, and views cost nothing as they are.
std::expected<void, Refusal> check_worth(const Site& site) {
  static const std::set<std::string, std::less<>> kViews = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"};
  static const std::set<std::string, std::less<>> kHeavy = {"Conv", "ConvTranspose", "MatMul", "Gemm"};
  const auto& nodes = site.graph.nodes;
  if (std::ranges::all_of(site.before.members(), [&](std::size_t n) { return kViews.contains(nodes[n].op_type); }))
    return refuse(RefusalReason::kStructure, "the same bytes under another shape");
  if (site.moves) return {};
  for (const std::size_t n : site.before.members())
    for (const ValueId id : nodes[n].inputs)
      for (const Node& maker : nodes)
        if (kHeavy.contains(maker.op_type) && maker.outputs[0] == id && id.valid())
          return refuse(RefusalReason::kStructure, "work that " + maker.op_type + " takes along");
  return {};
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (site.before.empty()) return refuse(RefusalReason::kStructure, "nothing before " + site.anchor->op_type);
  if (auto ok = check_feeding(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_worth(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto dense = dense_of(site);
  if (!dense) return std::unexpected(dense.error());
  if (is_product(site) && !are_seen(site, site.after, dense->space, plain()))
    return refuse(RefusalReason::kShape, "an epilogue that broadcasts along some rows");
  Facts facts = facts_of(*dense, site);
  facts["is_product"] = is_product(site) ? 1 : 0;
  return facts;
}

/// A buffer that stays in the caches beside the weights; weights that do not should be read for many places at once.
constexpr std::int64_t kBufferBytes = std::int64_t{128} << 10;
constexpr std::int64_t kLargeBufferBytes = std::int64_t{1} << 20;
/// Tiles of one buffer, whose numbers are no more than the large buffer holds.
constexpr std::int64_t kMostStaged = 1024;
constexpr std::string_view kChoices = "tile_c: 1..6, tile_x: 1..28, tiles: 1..1024";
const std::string kTile =
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= out_w and tile_c <= group_vectors and ";
const std::string kLegal =
    kTile + "tiles * tile_x < out_w + tile_x and tiles * tile_x * channels <= 262144 or " + kTile + "tiles == 1";

std::vector<Schedule> space(const Site& site, const Facts&) {
  const Dense dense = *dense_of(site);
  const std::int64_t weight_bytes = 4 * dense.channels() * dense.outputs();
  const std::int64_t buffer_bytes = weight_bytes > kLargeBufferBytes ? kLargeBufferBytes : kBufferBytes;
  std::vector<Schedule> schedules;
  for (const Schedule& tile : dense_space(dense, site)) {
    const std::int64_t tiles = ceil_div(dense.out(2), tile["tile_x"]);
    const std::int64_t fitting = buffer_bytes / (4 * dense.channels() * tile["tile_x"]);
    schedules.push_back({{"tile_x", tile["tile_x"]},
                         {"tile_c", tile["tile_c"]},
                         {"tiles", std::clamp<std::int64_t>(fitting, 1, std::min(tiles, kMostStaged))}});
  }
  return schedules;
}

/// ONNX indices of the anchor's first operand from those of a Dense's source.
Indices operand_indices(const Site& site, const Dense& dense, const Loops& loops) {
  const Extents in = site.extents(dense.source);
  Indices at(in.size(), Expr(0));
  if (is_product(site) && site.anchor->op_type == "Gemm" && attribute_or<std::int64_t>(*site.anchor, "transA", 0) != 0)
    return {loops.c, loops.x};
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const auto& group = dense.space.axes[axis];
    Expr rest = loops.all[axis];
    for (std::size_t i = group.size(); i-- > 0;) {
      at[group[i]] = i == 0 ? rest : rest % to_int(in[group[i]]);
      rest = rest / to_int(in[group[i]]);
    }
  }
  at[is_product(site) ? in.size() - 1 : 1] = loops.c;
  return at;
}

/// The operand's blocks in the order in which the product reads them.
void schedule_staged(Func staged, const Site& site, const Dense& dense, std::int64_t places) {
  const Loops loops;
  const std::size_t channel_axis = is_product(site) ? site.extents(dense.source).size() - 1 : 1;
  const std::int64_t common = common_part(site, dense.source, channel_axis);
  constexpr std::int64_t kMostPieces = 16;
  Var inner = loops.c;
  // Parts of a Concat are cut apart, so that no vector spans two.
  if (common > 0 && common < dense.channels() && dense.channels() / common <= kMostPieces) {
    staged.split(loops.c, loops.co, loops.ci, to_int(common)).unroll(loops.co);
    inner = loops.ci;
  }
  const std::int64_t length = inner.name() == loops.c.name() ? dense.channels() : common;
  if (length >= site.lanes()) staged.vectorize(inner, to_int(site.lanes()), TailStrategy::ShiftInwards);
  staged.bound_extent(loops.c, to_int(dense.channels())).bound_extent(loops.x, to_int(places));
  for (const Var& one : {loops.y, loops.d, loops.n}) staged.bound_extent(one, 1);
}

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Loops loops;
  const Dense dense = *dense_of(site);
  const std::int64_t tile_x = schedule["tile_x"];
  const std::int64_t tiles = schedule["tiles"];
  Places places(lowering);
  Func staged("staged");
  staged(innermost_first(loops.all)) = Halide::Internal::common_subexpression_elimination(
      places.value(dense.source, operand_indices(site, dense, loops)));
  Pointwise product = pointwise_of(dense, tile_x, schedule["tile_c"], "product", staged, lowering);
  Func out = define_output(site, lowering, dense.space, loops.all, value_of(product, site, lowering));
  const Extents extents = dense.space.extents();
  schedule_pointwise(out, product, site);
  const std::int64_t all_tiles = ceil_div(extents[3], tile_x);
  out.split(loops.xo, loops.chunk, loops.xo, to_int(tiles),
            all_tiles % tiles != 0 ? TailStrategy::GuardWithIf : TailStrategy::RoundUp)
      .reorder(loops.cv, loops.cu, loops.xi, loops.xo, loops.co, loops.chunk, loops.y, loops.d, loops.n);
  const Extents counts = {extents[0], extents[1], extents[2], ceil_div(all_tiles, tiles)};
  const Var block = parallelise(out, {loops.n, loops.d, loops.y, loops.chunk}, counts, site);
  staged.compute_at(out, block);
  schedule_staged(staged, site, dense, std::min(tiles * tile_x, extents[3]));
}

const std::array<Domain, 1> kDomains = {{{"is_product", 0, 1}}};

const std::array<Implementation, 2> kImplementations = {{{.name = "staged",
                                                          .condition = "is_product == 0",
                                                          .priority = 10,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build,
                                                          .choices = kChoices,
                                                          .legal = kLegal},
                                                         {.name = "staged_rows",
                                                          .condition = "is_product == 1",
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain},
                                                          .space = space,
                                                          .build = build,
                                                          .choices = kChoices,
                                                          .legal = kLegal}}};

}  // namespace

const Family kStagedFamily = {.name = "staged",
                              .operators = "Conv|MatMul|Gemm",
                              .read = read,
                              .implementations = kImplementations,
                              .domains = kDomains,
                              .takes_moves = true};

}  // namespace collage::native
