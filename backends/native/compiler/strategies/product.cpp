// MatMul and Gemm with a constant second factor: rows of the first are the places of a 1x1 convolution.
#include "compiler/strategies/product.h"

#include "compiler/products/fixed_point.h"
#include "compiler/products/micro_product.h"
#include "compiler/products/pairs.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

/// Every axis of the result but the last as one loop.
Space row_space(const Extents& result) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i + 1 < result.size(); ++i) rows.push_back(i);
  return {.result = result, .axes = {{}, {}, {}, rows, {result.size() - 1}}};
}

}  // namespace

std::expected<Dense, Refusal> product_of(const Site& site, ValueId source, ValueId weights) {
  const Node& node = *site.anchor;
  const Extents a = site.extents(source);
  const Extents b = site.extents(weights);
  const Extents out = site.extents(node.outputs[0]);
  if (constant_of(site.graph, weights) == nullptr) return refuse(RefusalReason::kStructure, "a computed second factor");
  if (a.size() < 2 || b.size() != 2) return refuse(RefusalReason::kShape, "not rows by a matrix");
  const bool is_gemm = node.op_type == "Gemm";
  const bool flips_a = is_gemm && attribute_or<std::int64_t>(node, "transA", 0) != 0;
  const bool flips_b = is_gemm && attribute_or<std::int64_t>(node, "transB", 0) != 0;
  const std::int64_t columns = out.back();
  const std::int64_t depth = flips_a ? a[0] : a.back();
  const std::int64_t rows = element_count(out) / columns;
  Dense dense{
      .source = source,
      .view = {.extents = {1, 1, 1, rows, depth}, .strides = {0, 0, 0, flips_a ? 1 : depth, flips_a ? rows : 1}},
      .source_space = {.result = a,
                       .axes = {{},
                                {},
                                {},
                                flips_a ? std::vector<std::size_t>{1} : row_space(a).axes[3],
                                {flips_a ? 0 : a.size() - 1}}},
      .space = row_space(out),
      .weights = weights,
      .out_stride = flips_b ? depth : 1,
      .tap_stride = 1,
      .in_stride = flips_b ? 1 : columns};
  if (is_gemm) {
    dense.alpha = attribute_or<float>(node, "alpha", 1.F);
    dense.beta = attribute_or<float>(node, "beta", 1.F);
  }
  return dense;
}

std::expected<Dense, Refusal> product_of(const Site& site) {
  const Node& node = *site.anchor;
  if (site.type(node.inputs[0]).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  auto dense = product_of(site, node.inputs[0], node.inputs[1]);
  if (!dense || node.op_type != "Gemm" || !input_of(node, 2).valid()) return dense;
  dense->bias = node.inputs[2];
  const auto view = view_of(site.extents(dense->bias), plain(), dense->space);
  if (!view) return refuse(RefusalReason::kShape, "a bias of another shape");
  dense->bias_view = *view;
  return dense;
}

namespace {

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto dense = product_of(site);
  if (!dense) return std::unexpected(dense.error());
  if (!are_seen(site, site.after, dense->space, plain()))
    return refuse(RefusalReason::kShape, "an epilogue that broadcasts along some rows");
  Facts facts = facts_of(*dense, site);
  add_library_facts(site, facts);
  add_micro_facts(facts);
  return facts;
}

std::vector<Schedule> packed_space(const Site& site, const Facts&) { return dense_space(*product_of(site), site); }

void build_packed(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build_dense(*product_of(site), site, schedule, lowering);
}

/// Of few rows: reading the weights is what takes time.
template <ElementType kType>
void build_narrow_weights(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  Dense dense = *product_of(site);
  dense.weight_type = kType;
  build_dense(dense, site, schedule, lowering);
}

std::vector<Schedule> space_of_pairs(const Site& site, const Facts&) { return pairs_space(*product_of(site), site); }

void build_in_pairs(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build_pairs(*product_of(site), site, schedule, lowering);
}

void build_fixed(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build_fixed_point(*product_of(site), site, schedule, lowering);
}

LibraryProduct rows_by_matrix(const Site& site) { return library_product_of(*product_of(site), site); }

const std::string kIsSgemm = library_condition();
const std::string kIsXsmm = micro_condition();

const std::array<Implementation, 7> kImplementations = {
    {{.name = "packed",
      .condition = "",
      .priority = 10,
      .layouts = {Layout::kPlain},
      .space = packed_space,
      .build = build_packed,
      .choices = kDenseChoices,
      .legal = kDenseLegal,
      .open_layouts = {Layout::kPlain}},
     {.name = "pairs",
      .condition = kIsPairs,
      .priority = 12,
      .layouts = {Layout::kPlain},
      .space = space_of_pairs,
      .build = build_in_pairs,
      .choices = kDenseChoices,
      .legal = kPairsLegal,
      .narrow = NarrowUse::kRequired},
     {.name = "packed+i16",
      .condition = kIsFixedPoint,
      .priority = 8,
      .layouts = {Layout::kPlain},
      .space = space_of_pairs,
      .build = build_fixed,
      .choices = kDenseChoices,
      .legal = kPairsLegal,
      .narrow = NarrowUse::kRefused},
     {.name = "bf16_weights",
      .condition = "bf16 == 1 and out_w <= 8",
      .priority = 9,
      .layouts = {Layout::kPlain},
      .space = packed_space,
      .build = build_narrow_weights<ElementType::kBfloat16>,
      .choices = kDenseChoices,
      .legal = kDenseLegal},
     {.name = "f16_weights",
      .condition = "f16 == 1 and out_w <= 8",
      .priority = 9,
      .layouts = {Layout::kPlain},
      .space = packed_space,
      .build = build_narrow_weights<ElementType::kFloat16>,
      .choices = kDenseChoices,
      .legal = kDenseLegal},
     sgemm_row<rows_by_matrix>(Layout::kPlain, kIsSgemm),
     xsmm_row<rows_by_matrix>(Layout::kPlain, kIsXsmm, kMicroLegal)}};

}  // namespace

const Family kProductFamily = {
    .name = "product", .operators = "MatMul|Gemm", .read = read, .implementations = kImplementations};

}  // namespace collage::native
