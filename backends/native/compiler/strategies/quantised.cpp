// Convolutions and products of 8-bit integers by constant ones.
#include "compiler/strategies/quantised.h"

#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"
#include "compiler/strategies/families.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

void build_quantised_depthwise(const Quantised& quantised, const Site& site, const Schedule& schedule,
                               Lowering& lowering) {
  const Dense& dense = quantised.dense;
  QuantisedCode code(quantised, site, lowering);
  const std::vector<Var> v = {Var("dc"), Var("dx"), Var("dy"), Var("dd"), Var("dn")};
  const auto difference = [](const Expr& value, const Expr& zero) {
    return cast<float>(cast<std::int32_t>(value) - cast<std::int32_t>(zero));
  };
  const Func port = lowering.read(dense.source, dense.view).func;
  const Expr element = port(v[0], v[1], v[2], v[3], v[4]);
  Func source("source");
  source(v) = quantised.is_source_real ? element : difference(element, code.whole(quantised.source_zero));
  const Func packed = depthwise_weights(dense, lowering);
  Func weights("weights");
  weights(v[0], v[1], v[2], v[3]) =
      packed(v[0], v[1], v[2], v[3]) - cast<float>(cast<std::int32_t>(code.by_output(quantised.weight_zero, v[0])));
  const auto result = [&](const Indices& at, const Expr& sum) {
    if (quantised.is_source_real) return code.result(at, sum);
    Expr steps = cast<std::int32_t>(sum);
    if (quantised.steps.valid() && !quantised.steps_scale.valid())
      steps = steps + code.by_output(quantised.steps, at.back());
    return code.result(at, steps);
  };
  build_depthwise(dense, {.source = padded_source(dense, source, {0, 1, 2}), .weights = weights, .result = result},
                  site, schedule, lowering);
}

void build_scaled(const Quantised& quantised, const Site& site, const Schedule& schedule, Lowering& lowering) {
  QuantisedCode code(quantised, site, lowering);
  build_dense(quantised.dense, site, schedule, lowering,
              [&](const Indices& at, const Expr& sum) { return code.result(at, sum); });
}

namespace {

template <auto form_of>
std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto form = form_of(site);
  if (!form) return std::unexpected(form.error());
  Facts facts = facts_of(form->dense, site);
  facts["is_source_real"] = form->is_source_real ? 1 : 0;
  facts["byte_groups"] = ceil_div(form->dense.channels(), bytes_of_lane(site));
  return facts;
}

/// How groups can be computed: 1 one group, 2 depthwise, 3 whole vectors of outputs by a real source.
constexpr std::array<Domain, 2> kConvolutionDomains = {{{"grouping", 1, 3}, {"is_source_real", 0, 1}}};
constexpr std::array<Domain, 1> kProductDomains = {{{"is_source_real", 0, 1}}};

/// Groups of bytes that are neither one nor depthwise have no sums here.
std::expected<Facts, Refusal> read_convolution(const Site& site) {
  auto facts = read<quantised_convolution_of>(site);
  if (!facts) return facts;
  const auto fact = [&](std::string_view name) { return facts->find(name)->second; };
  const std::int64_t groups = fact("groups");
  const bool is_depthwise = groups == fact("channels") && groups == fact("outputs") && fact("taps") <= 256;
  const bool has_vectors = fact("is_source_real") == 1 && fact("group_outputs") % fact("lanes") == 0;
  if (groups > 1 && !is_depthwise && !has_vectors)
    return refuse(RefusalReason::kStructure, "groups of bytes that are not depthwise");
  facts->emplace("grouping", groups == 1 ? 1 : is_depthwise ? 2 : 3);
  return facts;
}

std::expected<Facts, Refusal> read_product(const Site& site) {
  auto facts = read<quantised_product_of>(site);
  if (facts && !are_seen(site, site.after, quantised_product_of(site)->dense.space, plain()))
    return refuse(RefusalReason::kShape, "an epilogue that broadcasts along some rows");
  return facts;
}

template <auto form_of>
std::vector<Schedule> space_of_quads(const Site& site, const Facts&) {
  return quads_space(*form_of(site), site);
}

template <auto form_of>
std::vector<Schedule> space_of_scaled(const Site& site, const Facts&) {
  return dense_space(form_of(site)->dense, site);
}

template <auto form_of, auto build_form>
void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build_form(*form_of(site), site, schedule, lowering);
}

/// A step of the reduction is a lane's bytes.
constexpr std::string_view kQuadsLegal =
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x <= out_w and tile_c <= group_vectors and "
    "byte_groups % unroll == 0";

const std::array<Implementation, 3> kConvolutions = {
    {{.name = "depthwise_bytes",
      .condition = "grouping == 2",
      .priority = 15,
      .layouts = {Layout::kChannelsLast},
      .space = depthwise_space,
      .build = build<quantised_convolution_of, build_quantised_depthwise>,
      .choices = kDepthwiseChoices,
      .legal = kDepthwiseLegal,
      .narrow = NarrowUse::kRefused},
     {.name = "quads",
      .condition = "grouping == 1 and is_source_real == 0",
      .priority = 10,
      .layouts = {Layout::kChannelsLast},
      .space = space_of_quads<quantised_convolution_of>,
      .build = build<quantised_convolution_of, build_quads>,
      .choices = kDenseChoices,
      .legal = kQuadsLegal,
      .narrow = NarrowUse::kRefused},
     {.name = "scaled",
      .condition = "grouping == 3 or grouping == 1 and is_source_real == 1",
      .priority = 10,
      .layouts = {Layout::kChannelsLast},
      .space = space_of_scaled<quantised_convolution_of>,
      .build = build<quantised_convolution_of, build_scaled>,
      .choices = kDenseChoices,
      .legal = kDenseLegal,
      .narrow = NarrowUse::kRefused}}};

const std::array<Implementation, 2> kProducts = {{{.name = "quads",
                                                   .condition = "is_source_real == 0",
                                                   .priority = 10,
                                                   .layouts = {Layout::kPlain},
                                                   .space = space_of_quads<quantised_product_of>,
                                                   .build = build<quantised_product_of, build_quads>,
                                                   .choices = kDenseChoices,
                                                   .legal = kQuadsLegal,
                                                   .narrow = NarrowUse::kRefused},
                                                  {.name = "scaled",
                                                   .condition = "is_source_real == 1",
                                                   .priority = 10,
                                                   .layouts = {Layout::kPlain},
                                                   .space = space_of_scaled<quantised_product_of>,
                                                   .build = build<quantised_product_of, build_scaled>,
                                                   .choices = kDenseChoices,
                                                   .legal = kDenseLegal,
                                                   .narrow = NarrowUse::kRefused}}};

}  // namespace

const Family kQuantisedConvolutionFamily = {.name = "quantised_convolution",
                                            .operators = "Conv|QLinearConv|ConvInteger",
                                            .read = read_convolution,
                                            .implementations = kConvolutions,
                                            .domains = kConvolutionDomains};
const Family kQuantisedProductFamily = {.name = "quantised_product",
                                        .operators = "MatMul|Gemm|QLinearMatMul|MatMulInteger",
                                        .read = read_product,
                                        .implementations = kProducts,
                                        .domains = kProductDomains};

}  // namespace collage::native
