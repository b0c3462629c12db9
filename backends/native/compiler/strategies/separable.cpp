// Depthwise convolution fused with the pointwise convolutions around it: expand + depthwise + project (an inverted
// bottleneck), expand + depthwise, depthwise + project. Only a few rows of the intermediate tensors exist at a time.
// How: sliding windows over the rows of the expanded tensor: each row is computed once and kept as long as windows
//       reach it.
// Example: a 3x3 depthwise convolution of stride 1 keeps three expanded rows; for the next output row one new row is
// computed.
// Source: MobileNetV2 (Sandler et al., CVPR 2018); sliding windows of Halide (Ragan-Kelley et al., PLDI 2013).
#include <algorithm>
#include <bit>

#include "compiler/analysis/chain.h"
#include "compiler/codegen/loops.h"
#include "compiler/strategies/convolution.h"
#include "compiler/strategies/families.h"
#include "compiler/strategies/pointwise.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::TailStrategy;
using Halide::Var;

/// One convolution of the chain.
struct Link {
  Stage stage;
  Dense dense;
};

struct Separable {
  std::optional<Link> expand;
  Link depthwise;
  std::optional<Link> project;
  [[nodiscard]] const Link& last() const { return project ? *project : depthwise; }
};

bool is_depthwise(const Dense& dense) {
  return dense.groups > 1 && dense.groups == dense.channels() && dense.groups == dense.outputs();
}

/// With rows and columns apart, also where they could be one loop.
std::expected<Link, Refusal> link_of(const Site& site, const Stage& stage) {
  const Site part = site_of(site, stage);
  const Extents in = site.extents(stage.anchor->inputs[0]);
  if (in.size() != 4) return refuse(RefusalReason::kShape, "rank " + std::to_string(in.size()));
  auto dense = convolution_of(part);
  if (!dense) return std::unexpected(dense.error());
  if (constant_of(site.graph, dense->weights) == nullptr) return refuse(RefusalReason::kStructure, "computed weights");
  dense->space = activation_space(site.extents(part.result()));
  dense->view = *view_of(in, channels_last(), activation_space(in));
  return Link{.stage = stage, .dense = *dense};
}

std::expected<Separable, Refusal> separable_of(const Site& site) {
  const auto stages = stages_of(site);
  if (!stages) return std::unexpected(stages.error());
  std::vector<Link> links;
  for (const Stage& stage : *stages) {
    auto link = link_of(site, stage);
    if (!link) return std::unexpected(link.error());
    links.push_back(*std::move(link));
  }
  const std::size_t middle = links.size() == 2 && is_depthwise(links[0].dense) ? 0 : 1;
  for (std::size_t i = 0; i < links.size(); ++i)
    if (i == middle ? !is_depthwise(links[i].dense) : !is_matrix_product(links[i].dense))
      return refuse(RefusalReason::kStructure, "convolutions other than pointwise ones around a depthwise one");
  Separable separable{.expand = std::nullopt, .depthwise = links[middle], .project = std::nullopt};
  if (middle == 1) separable.expand = links[0];
  if (middle + 1 < links.size()) separable.project = links.back();
  return separable;
}

std::expected<Facts, Refusal> read(const Site& site) {
  const auto separable = separable_of(site);
  if (!separable) return std::unexpected(separable.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  Facts facts = facts_of(separable->depthwise.dense, site);
  facts["expands"] = separable->expand ? 1 : 0;
  facts["projects"] = separable->project ? 1 : 0;
  const auto add_most = [&](const std::string& name, const std::optional<Link>& link) {
    facts[name + "_most_x"] = link ? link->dense.out(2) : 1;
    facts[name + "_most_c"] = link ? ceil_div(link->dense.outputs(), site.lanes()) : 1;
  };
  add_most("expand", separable->expand);
  add_most("project", separable->project);
  return facts;
}

std::int64_t tile_of(std::int64_t width) {
  for (std::int64_t tile = std::min<std::int64_t>(7, width); tile > 3; --tile)
    if (width % tile == 0) return tile;
  return std::min<std::int64_t>(7, width);
}

std::vector<Schedule> space(const Site& site, const Facts&) {
  const Separable separable = *separable_of(site);
  const auto tile = [&](const std::optional<Link>& link) {
    return link ? dense_space(link->dense, site).front() : Schedule{{"tile_x", 1}, {"tile_c", 1}};
  };
  const Schedule expand = tile(separable.expand);
  const Schedule project = tile(separable.project);
  const std::int64_t height = separable.depthwise.dense.out(1);
  std::vector<Schedule> schedules;
  for (const std::int64_t rows : {2, 4, 1, 7, 3, 5})
    if (height % rows == 0)
      schedules.push_back({{"rows", rows},
                           {"tile_x", tile_of(separable.depthwise.dense.out(2))},
                           {"expand_x", expand["tile_x"]},
                           {"expand_c", expand["tile_c"]},
                           {"project_x", project["tile_x"]},
                           {"project_c", project["tile_c"]}});
  // Blocks that threads share evenly first.
  const std::int64_t threads = site.options.threads;
  std::ranges::stable_partition(
      schedules, [&](const Schedule& one) { return threads < 2 || height / one["rows"] % (2 * threads) == 0; });
  return schedules;
}

/// The stage's result as a Func of the kernel's inside.
Func inner_stage(const std::string& name, const Link& link, Lowering& lowering, const Expr& anchor_value) {
  const std::vector<Var> all = Loops().all;
  Func func(name);
  func(innermost_first(all)) = result_of(link.stage, lowering, link.dense.space, as_indices(all), anchor_value);
  func.bound_extent(all[4], to_int(link.dense.outputs())).bound_extent(all[3], to_int(link.dense.out(2)));
  func.bound_extent(all[1], 1).bound_extent(all[0], 1);
  return func;
}

Expr window_sum(const Dense& dense, const Func& source, Lowering& lowering) {
  const Loops loops;
  const auto& kernel = dense.kernel;
  const std::int64_t channels = dense.channels();
  const Func weights = lowering.packed(
      dense.weights,
      {.kind = PackingKind::kPanels,
       .numbers = {channels, dense.taps(), 1, dense.out_stride, dense.tap_stride, dense.in_stride, channels}},
      ElementType::kFloat32, {kernel[1], kernel[2], channels});
  const auto along = [&](const Var& at, std::int64_t tap, std::size_t axis) {
    return at * to_int(dense.strides[axis]) + to_int(tap * dense.dilations[axis] - dense.begin[axis]);
  };
  Expr sum = 0.0F;
  for (std::int64_t kh = 0; kh < kernel[1]; ++kh)
    for (std::int64_t kw = 0; kw < kernel[2]; ++kw)
      sum += weights(loops.c, to_int(kw), to_int(kh)) *
             source(loops.c, along(loops.x, kw, 2), along(loops.y, kh, 1), loops.d, loops.n);
  return sum;
}

void schedule_window(Func stage, const Dense& dense, const Site& site, const Schedule& schedule) {
  const Loops loops;
  stage.split(loops.c, loops.co, loops.ci, to_int(site.lanes()), tail_of(dense.outputs(), site.lanes()))
      .split(loops.x, loops.xo, loops.xi, to_int(schedule["tile_x"]), TailStrategy::ShiftInwards)
      .vectorize(loops.ci)
      .unroll(loops.xi);
}

/// Blocks of a chunk for `wanted` chunks. All of one length, for rows of two chunks would be a race and may differ in
/// the last bit; two blocks at least, so that rows slide.
std::int64_t chunk_of(std::int64_t blocks, std::int64_t wanted) {
  for (std::int64_t chunk = blocks / wanted; chunk > 1; --chunk)
    if (blocks % chunk == 0) return chunk;
  return blocks;
}

/// Cuts the rows of the result into blocks, and these into chunks for threads.
Extents split_rows(Func out, const Dense& dense, const Site& site, std::int64_t rows) {
  const Loops loops;
  const std::int64_t batch = dense.space.extent(0);
  const std::int64_t blocks = ceil_div(dense.out(1), rows);
  const std::int64_t chunk = chunk_of(blocks, ceil_div(site.options.threads, batch));
  out.split(loops.y, loops.yo, loops.yi, to_int(rows), TailStrategy::ShiftInwards)
      .split(loops.yo, loops.chunk, loops.yo, to_int(chunk));
  return {batch, blocks / chunk};
}

/// Rows of the expanded map slide along with the blocks of the result's rows.
void slide(Func expanded, Pointwise& expand, const Dense& window, Func out, const Var& chunk, const Site& site,
           std::int64_t rows) {
  const Loops loops;
  // Rows between windows are passed over, but computed.
  const std::int64_t reach = std::max((rows - 1) * window.strides[1] + (window.kernel[1] - 1) * window.dilations[1] + 1,
                                      rows * window.strides[1]);
  schedule_pointwise(expanded, expand, site);
  expanded.reorder(loops.cv, loops.cu, loops.xi, loops.xo, loops.y, loops.co, loops.d, loops.n)
      .store_at(out, chunk)
      .compute_at(out, loops.yo)
      .fold_storage(loops.y, to_int(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(reach)))));
}

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  const Loops loops;
  const Separable separable = *separable_of(site);
  const Link& depthwise = separable.depthwise;
  const Dense& first = separable.expand ? separable.expand->dense : depthwise.dense;
  const std::int64_t rows = schedule["rows"];
  Func source = lowering.read(first.source, first.view).func;
  std::optional<Pointwise> expand;
  std::optional<Pointwise> project;
  Func expanded;
  if (separable.expand) {
    expand = pointwise_of(first, schedule["expand_x"], schedule["expand_c"], "expand", source, lowering);
    expanded = inner_stage("expanded", *separable.expand, lowering, value_of(*expand, site, lowering));
    source = expanded;
  }
  source = padded_source(depthwise.dense, source, {1, 2});
  const Expr sum = window_sum(depthwise.dense, source, lowering);
  Expr value = with_bias(depthwise.dense, site, lowering, as_indices(loops.all), sum);
  Func window;
  if (separable.project) {
    window = inner_stage("window", depthwise, lowering, value);
    project = pointwise_of(separable.project->dense, schedule["project_x"], schedule["project_c"], "project", window,
                           lowering);
    value = value_of(*project, site, lowering);
  }
  const Dense& last = separable.last().dense;
  Func out = define_output(site, lowering, last.space, loops.all, value);
  const Extents counts = split_rows(out, last, site, rows);
  if (project) {
    schedule_pointwise(out, *project, site);
    out.reorder(loops.cv, loops.cu, loops.xi, loops.xo, loops.yi, loops.co, loops.yo, loops.chunk, loops.n, loops.d);
    schedule_window(window, depthwise.dense, site, schedule);
    window.reorder(loops.ci, loops.xi, loops.xo, loops.y, loops.co, loops.d, loops.n)
        .compute_at(out, loops.yo)
        .bound_extent(loops.y, to_int(rows));
  } else {
    schedule_window(out, depthwise.dense, site, schedule);
    out.reorder(loops.ci, loops.xi, loops.xo, loops.yi, loops.co, loops.yo, loops.chunk, loops.n, loops.d);
  }
  const Var chunk = parallelise(out, {loops.n, loops.chunk}, counts, site);
  if (expand) slide(expanded, *expand, depthwise.dense, out, chunk, site, rows);
}

constexpr std::string_view kChoices =
    "expand_c: 1..6, expand_x: 1..28, project_c: 1..6, project_x: 1..28, rows: 1..14, tile_x: 1..14";
/// Blocks of rows of one length; a convolution that is not there has one tile.
constexpr std::string_view kLegal =
    "out_h % rows == 0 and tile_x <= out_w and expand_x <= expand_most_x and expand_c <= expand_most_c and "
    "expand_x * expand_c + expand_c + 1 <= registers and project_x <= project_most_x and "
    "project_c <= project_most_c and project_x * project_c + project_c + 1 <= registers";

const std::array<Implementation, 1> kImplementations = {{{.name = "sliding",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build,
                                                          .choices = kChoices,
                                                          .legal = kLegal}}};

}  // namespace

const Family kSeparableFamily = {
    .name = "separable", .operators = "Conv+Conv|Conv+Conv+Conv", .read = read, .implementations = kImplementations};

}  // namespace collage::native
