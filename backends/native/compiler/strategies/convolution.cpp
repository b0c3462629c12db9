// Conv over one to three spatial axes: what the node says, and the table of ways.
#include "compiler/strategies/convolution.h"

#include "backends/common/window/window.h"
#include "compiler/codegen/loops.h"
#include "compiler/products/fixed_point.h"
#include "compiler/products/micro_product.h"
#include "compiler/products/pairs.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

void merge_places(const Site& site, Dense& dense, const Extents& in, const Extents& out, const Format& format) {
  std::vector<std::size_t> batch = {0};
  std::vector<std::size_t> places;
  // Batches of channels_last tensors go on where the one before ends.
  if (format.is_channels_last()) places.swap(batch);
  for (std::size_t i = 2; i < out.size(); ++i) places.push_back(i);
  const Space source{.result = in, .axes = {batch, {}, {}, places, {1}}};
  const Space merged{.result = out, .axes = source.axes};
  if (!are_seen(site, site.after, merged, format)) return;
  dense.space = merged;
  dense.source_space = source;
  dense.view = *view_of(in, format, source);
}

}  // namespace

std::expected<Dense, Refusal> convolution_of(const Site& site, const Format& format) {
  const Node& node = *site.anchor;
  if (site.type(node.inputs[0]).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "not f32");
  auto dense = convolution_of(site, node.inputs[0], node.inputs[1], format);
  if (!dense) return dense;
  const std::int64_t outputs = site.extents(node.outputs[0])[1];
  dense->bias = input_of(node, 2);
  dense->bias_view = {.extents = {1, 1, 1, 1, outputs}, .strides = {0, 0, 0, 0, outputs > 1 ? 1 : 0}};
  return dense;
}

std::expected<Dense, Refusal> convolution_of(const Site& site, ValueId source, ValueId weights, const Format& format) {
  const Node& node = *site.anchor;
  const Extents in = site.extents(source);
  const Extents out = site.extents(node.outputs[0]);
  if (in.size() < 3 || in.size() > 5) return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()));
  const Extents kernel = spatial(site.extents(weights));
  const auto window = window_of(node, kernel, spatial(in), spatial(out));
  if (!window) return std::unexpected(window.error());
  const auto view = view_of(in, format, activation_space(in));
  const std::int64_t taps = element_count(kernel);
  const std::int64_t groups = attribute_or<std::int64_t>(node, "group", 1);
  Dense dense{.source = source,
              .view = *view,
              .source_space = activation_space(in),
              .space = activation_space(out),
              .weights = weights,
              .out_stride = taps * in[1] / groups,
              .tap_stride = 1,
              .in_stride = taps,
              .groups = groups};
  // A source of one place along an axis has no stride there, and no loop asks for one.
  const auto pads = attribute_or<std::vector<std::int64_t>>(node, "pads", {});
  const bool pads_same = attribute_or<std::string>(node, "auto_pad", "NOTSET").starts_with("SAME");
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const std::size_t axis = 3 - kernel.size() + i;
    // At some extents the last window reaches as far as its padding.
    dense.may_reach_out[axis] =
        site.is_open && ((pads_same && kernel[i] > 1) || (!pads.empty() && pads[kernel.size() + i] > 0));
    dense.kernel[axis] = kernel[i];
    dense.strides[axis] = window->strides[i];
    dense.dilations[axis] = window->dilations[i];
    dense.begin[axis] = window->begin[i];
  }
  if (dense.is_pointwise()) merge_places(site, dense, in, out, format);
  return dense;
}

namespace {

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const auto dense = convolution_of(site);
  if (!dense) return std::unexpected(dense.error());
  Facts facts = facts_of(*dense, site);
  add_library_facts(site, facts);
  add_micro_facts(facts);
  facts["computed_weights"] = constant_of(site.graph, dense->weights) == nullptr ? 1 : 0;
  // Places of a row in plain tensors, where other axes may be one loop.
  const Dense in_planes = *convolution_of(site, plain());
  facts["plain_w"] = in_planes.out(2);
  facts["may_transform"] = site.options.accuracy != Accuracy::kStrict ? 1 : 0;
  // Winograd's tiles in a row of the result.
  facts["tiles2_w"] = ceil_div(facts["out_w"], 2);
  facts["tiles4_w"] = ceil_div(facts["out_w"], 4);
  add_winograd_planes_facts(in_planes, facts);
  return facts;
}

std::vector<Schedule> direct_space(const Site& site, const Facts&) { return dense_space(*convolution_of(site), site); }

void build_direct(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Format format = site.is_open ? lowering.format_of(site.anchor->inputs[0]) : channels_last();
  build_dense(*convolution_of(site, format), site, schedule, lowering);
}

std::vector<Schedule> space_of_pairs(const Site& site, const Facts&) {
  return pairs_space(*convolution_of(site), site);
}

void build_in_pairs(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build_pairs(*convolution_of(site), site, schedule, lowering);
}

void build_fixed(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  build_fixed_point(*convolution_of(site), site, schedule, lowering);
}

LibraryProduct places_by_weights(const Site& site) { return library_product_of(*convolution_of(site), site); }
const std::string kIsSgemm = library_condition() + " and computed_weights == 0";
const std::string kIsXsmm = micro_condition() + " and computed_weights == 0";
const Implementation kSgemm = sgemm_row<places_by_weights>(Layout::kChannelsLast, kIsSgemm);
const Implementation kXsmm = xsmm_row<places_by_weights>(Layout::kChannelsLast, kIsXsmm, kMicroLegal);

const std::string kPairs = std::string(kIsPairs) + " and computed_weights == 0";
const std::string kFixedPoint = std::string(kIsFixedPoint) + " and computed_weights == 0";
const std::string kDepthwise = "groups == channels and groups == outputs and groups > 1 and computed_weights == 0";
const std::string kWinograd =
    "kernel_h == 3 and kernel_w == 3 and kernel_d == 1 and in_d == 1 and groups == 1 and stride_h == 1 and "
    "stride_w == 1 and dilation_h == 1 and dilation_w == 1 and channels % 8 == 0 and outputs % 8 == 0 and "
    "channels >= lanes and outputs >= lanes and may_transform == 1 and computed_weights == 0";
const std::string kWinograd2 = kWinograd + " and out_h >= 4 and out_w >= 4";
const std::string kWinograd4 = kWinograd + " and out_h >= 8 and out_w >= 8";
// Its products in fixed point.
const std::string kMayBeFixed = " and bf16 == 1";
const std::string kWinograd2Fixed = kWinograd2 + kMayBeFixed;
const std::string kWinograd4Fixed = kWinograd4 + kMayBeFixed;
// Where the one in channels_last does not apply or has vectors that are not full.
const std::string kMayTransformPlanes =
    " and groups == 1 and stride_w == 1 and out_w * 2 >= lanes and may_transform == 1 and computed_weights == 0 and ";
std::string where_planes_pay(const std::string& saves) {
  const std::string all = saves + kMayTransformPlanes;
  std::string condition;
  for (const char* other : {"kernel_d == 3", "kernel_h != kernel_w", "dilation_h > 1", "dilation_w > 1",
                            "channels % lanes != 0", "outputs % lanes != 0"})
    condition += (condition.empty() ? "" : " or ") + all + other;
  return condition;
}
const std::string kWinogradPlanes2 = where_planes_pay("planes2_saving >= 30");
const std::string kWinogradPlanes4 = where_planes_pay("planes4_saving >= 35");
// Vectors of a group's outputs, narrow ones where they must be.
const std::string kDirect = "groups == 1 or group_outputs % 4 == 0";
// Such vectors are not full.
const std::string kPlanes = "group_outputs % 4 != 0 or group_outputs % lanes != 0";
const std::string kOddGroups = "groups > 1 and group_outputs % lanes != 0";
const std::string kAcross = kOddGroups + " and groups != channels or " + kOddGroups + " and groups != outputs or " +
                            kOddGroups + " and computed_weights == 1";

// Blocks of rows and columns of tiles, then tiles and vectors of outputs in registers; outer: products of all tiles of
// a block by some outputs after each other.
constexpr std::string_view kWinogradChoices = "columns: 1..128, outer: 0|1, rows: 1..64, tile_c: 1..4, tile_t: 1..28";
const std::string kWinogradTile = "group_vectors % tile_c == 0 and tile_t * tile_c + tile_c + 1 <= registers and ";
const std::string kWinogradLegal4 =
    kWinogradTile + "rows * 4 < out_h + 4 and columns <= tiles4_w and tile_t <= rows * columns";
const std::string kWinogradLegal2 =
    kWinogradTile + "rows * 2 < out_h + 2 and columns <= tiles2_w and tile_t <= rows * columns";
// As register_tiles counts: the smaller side of a tile is kept beside its accumulators.
constexpr std::string_view kAcrossChoices = "rows: 0|1, tile_c: 1..8, tile_x: 1..14";
constexpr std::string_view kWinogradPlanesChoices = "outer: 0|1, tile_c: 1..8, tile_x: 1..6";
constexpr std::string_view kPlanesChoices = "rows: 0|1, tile_c: 1..8, tile_x: 1..6";
const std::string kTile = "group_outputs % tile_c == 0 and tile_x * tile_c + ";
const std::string kAcrossLegal =
    kTile + "tile_x + 1 <= registers and tile_x <= out_w or " + kTile + "tile_c + 1 <= registers and tile_x <= out_w";
const std::string kPlanesLegal = kTile + "tile_x + 1 <= registers and tile_x * lanes <= plain_w or " + kTile +
                                 "tile_c + 1 <= registers and tile_x * lanes <= plain_w or " + kTile +
                                 "tile_x + 1 <= registers and tile_x == 1";

const std::array<Implementation, 14> kImplementations = {{{.name = "winograd4",
                                                           .condition = kWinograd4,
                                                           .priority = 15,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = winograd_4_space,
                                                           .build = build_winograd_4,
                                                           .choices = kWinogradChoices,
                                                           .legal = kWinogradLegal4,
                                                           .open_layouts = {Layout::kChannelsLast}},
                                                          {.name = "winograd2",
                                                           .condition = kWinograd2,
                                                           .priority = 12,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = winograd_2_space,
                                                           .build = build_winograd_2,
                                                           .choices = kWinogradChoices,
                                                           .legal = kWinogradLegal2,
                                                           .open_layouts = {Layout::kChannelsLast}},
                                                          {.name = "winograd4_planes",
                                                           .condition = kWinogradPlanes4,
                                                           .priority = 14,
                                                           .layouts = {Layout::kPlain},
                                                           .space = winograd_planes_space,
                                                           .build = build_winograd_planes_4,
                                                           .choices = kWinogradPlanesChoices,
                                                           .legal = kPlanesLegal},
                                                          {.name = "winograd2_planes",
                                                           .condition = kWinogradPlanes2,
                                                           .priority = 11,
                                                           .layouts = {Layout::kPlain},
                                                           .space = winograd_planes_space,
                                                           .build = build_winograd_planes_2,
                                                           .choices = kWinogradPlanesChoices,
                                                           .legal = kPlanesLegal},
                                                          {.name = "winograd4+i16",
                                                           .condition = kWinograd4Fixed,
                                                           .priority = 10,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = winograd_4_space,
                                                           .build = build_winograd_4_fixed,
                                                           .choices = kWinogradChoices,
                                                           .legal = kWinogradLegal4},
                                                          {.name = "winograd2+i16",
                                                           .condition = kWinograd2Fixed,
                                                           .priority = 9,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = winograd_2_space,
                                                           .build = build_winograd_2_fixed,
                                                           .choices = kWinogradChoices,
                                                           .legal = kWinogradLegal2},
                                                          {.name = "depthwise",
                                                           .condition = kDepthwise,
                                                           .priority = 15,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = depthwise_space,
                                                           .build = build_depthwise,
                                                           .choices = kDepthwiseChoices,
                                                           .legal = kDepthwiseLegal},
                                                          {.name = "pairs",
                                                           .condition = kPairs,
                                                           .priority = 16,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = space_of_pairs,
                                                           .build = build_in_pairs,
                                                           .choices = kDenseChoices,
                                                           .legal = kPairsLegal,
                                                           .narrow = NarrowUse::kRequired},
                                                          {.name = "direct+i16",
                                                           .condition = kFixedPoint,
                                                           .priority = 8,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = space_of_pairs,
                                                           .build = build_fixed,
                                                           .choices = kDenseChoices,
                                                           .legal = kPairsLegal,
                                                           .narrow = NarrowUse::kRefused},
                                                          {.name = "direct",
                                                           .condition = kDirect,
                                                           .priority = 10,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = direct_space,
                                                           .build = build_direct,
                                                           .choices = kDenseChoices,
                                                           .legal = kDenseLegal,
                                                           .open_layouts = {Layout::kChannelsLast, Layout::kPlain}},
                                                          {.name = "across",
                                                           .condition = kAcross,
                                                           .priority = 9,
                                                           .layouts = {Layout::kChannelsLast},
                                                           .space = across_space,
                                                           .build = build_across,
                                                           .choices = kAcrossChoices,
                                                           .legal = kAcrossLegal},
                                                          {.name = "planes",
                                                           .condition = kPlanes,
                                                           .priority = 5,
                                                           .layouts = {Layout::kPlain},
                                                           .space = planes_space,
                                                           .build = build_planes,
                                                           .choices = kPlanesChoices,
                                                           .legal = kPlanesLegal},
                                                          kSgemm,
                                                          kXsmm}};

}  // namespace

const Family kConvolutionFamily = {
    .name = "convolution", .operators = "Conv", .read = read, .implementations = kImplementations};

}  // namespace collage::native
