// Resize of f32 images by linear interpolation along height and width. The interpolation is separable: each source row
// is stretched once, and every output row is a weighted sum of two stretched rows.
// Source: ONNX, Resize-19 (all coordinate transformations; no antialias, no cubic).
#include <algorithm>
#include <array>
#include <cmath>

#include "backend/float_ports.h"
#include "family.h"
#include "layout.h"
#include "parallel.h"
#include "slices/slices.h"

namespace collage::host {
namespace {

/// One axis: output i blends sources below[i] and above[i], the latter with weight[i].
struct BlendAxis {
  std::vector<std::int32_t> below;
  std::vector<std::int32_t> above;
  std::vector<float> weight;

  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(weight.size()); }
};

struct ResizeProgram {
  std::int64_t outer = 1;  ///< images; in the plain format also their channels
  std::int64_t inner = 1;  ///< elements of a pixel
  std::int64_t in_height = 1;
  std::int64_t in_width = 1;
  BlendAxis rows;
  BlendAxis columns;
};

constexpr std::array kCoordinates = {"half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"};

bool knows(const Node& node) {
  return node.domain.empty() && node.op_type == "Resize" &&
         attribute_or<std::string>(node, "mode", "nearest") == "linear";
}

/// Where output pixel `x` lies in the source, in pixels.
double source_of(const std::string& coordinates, std::int64_t x, double scale, std::int64_t in, std::int64_t out) {
  const auto position = static_cast<double>(x);
  if (coordinates == "asymmetric") return position / scale;
  if (coordinates == "align_corners")
    return out == 1 ? 0 : position * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  if (coordinates == "pytorch_half_pixel" && out == 1) return 0;
  return (position + 0.5) / scale - 0.5;
}

BlendAxis blend_axis(const std::string& coordinates, double scale, std::int64_t in, std::int64_t out) {
  BlendAxis axis;
  for (std::int64_t x = 0; x < out; ++x) {
    const double source = std::clamp(source_of(coordinates, x, scale, in, out), 0.0, static_cast<double>(in - 1));
    const auto below = static_cast<std::int32_t>(source);
    axis.below.push_back(below);
    axis.above.push_back(std::min(below + 1, static_cast<std::int32_t>(in - 1)));
    axis.weight.push_back(static_cast<float>(source - below));
  }
  return axis;
}

/// Output over input as the node states it: its scales, or the ratio of the extents.
std::expected<std::vector<double>, Refusal> scales_of(const Site& site, const Extents& in, const Extents& out) {
  std::vector<double> scales;
  for (std::size_t i = 0; i < in.size(); ++i)
    scales.push_back(static_cast<double>(out[i]) / static_cast<double>(in[i]));
  const ValueId given = input_of(site.node, 2);
  if (!given.valid()) return scales;
  const auto& constant = site.graph.value(given).constant;
  if (!constant) return refuse(RefusalReason::kStructure, "computed scales");
  if (constant->data.size() == 0) return scales;
  const auto values = constant->data.as<float>();
  if (constant->type != ElementType::kFloat32 || values.size() != in.size())
    return refuse(RefusalReason::kShape, "scales of another number than the rank");
  return std::vector<double>(values.begin(), values.end());
}

std::optional<Refusal> objection(const Site& site) {
  const Node& node = site.node;
  if (site.input_type(0).element != ElementType::kFloat32) return Refusal{RefusalReason::kType, "not f32"};
  if (!site.input_port(node.inputs[0])) return Refusal{RefusalReason::kStructure, "constant data"};
  const Extents in = site.input_type(0).extents();
  const Extents out = site.output_type(0).extents();
  if (in.size() != 4 || in[0] != out[0] || in[1] != out[1])
    return Refusal{RefusalReason::kShape, "not height and width"};
  if (element_count(in) == 0 || element_count(out) == 0) return Refusal{RefusalReason::kShape, "no elements"};
  if (std::ranges::find(kCoordinates, attribute_or<std::string>(node, "coordinate_transformation_mode",
                                                                "half_pixel")) == kCoordinates.end())
    return Refusal{RefusalReason::kAttribute, "coordinate transformation"};
  if (attribute_or<std::int64_t>(node, "antialias", 0) != 0) return Refusal{RefusalReason::kAttribute, "antialias"};
  if (attribute_or<std::string>(node, "keep_aspect_ratio_policy", "stretch") != "stretch")
    return Refusal{RefusalReason::kAttribute, "keep_aspect_ratio_policy"};
  if (!attribute_or<std::vector<std::int64_t>>(node, "axes", {}).empty())
    return Refusal{RefusalReason::kAttribute, "axes"};
  return std::nullopt;
}

Variants support(const Site& site) {
  if (auto no = objection(site)) return std::unexpected(*std::move(no));
  const auto scales = scales_of(site, site.input_type(0).extents(), site.output_type(0).extents());
  if (!scales) return std::unexpected(scales.error());
  return uniform_variants(site);
}

nlohmann::json json_of(const BlendAxis& axis) {
  return {{"below", axis.below}, {"above", axis.above}, {"weight", axis.weight}};
}

Drafted compile(const Site& site, const Variant& variant) {
  if (auto no = objection(site)) return std::unexpected(*std::move(no));
  const Extents in = site.input_type(0).extents();
  const Extents out = site.output_type(0).extents();
  const auto scales = scales_of(site, in, out);
  if (!scales) return std::unexpected(scales.error());
  const auto coordinates = attribute_or<std::string>(site.node, "coordinate_transformation_mode", "half_pixel");
  const bool last = variant.output_formats.front().is_channels_last();
  Draft draft;
  draft.program = {{"outer", last ? in[0] : in[0] * in[1]},
                   {"inner", last ? in[1] : 1},
                   {"in_height", in[2]},
                   {"in_width", in[3]},
                   {"rows", json_of(blend_axis(coordinates, (*scales)[2], in[2], out[2]))},
                   {"columns", json_of(blend_axis(coordinates, (*scales)[3], in[3], out[3]))}};
  return draft;
}

/// Two stretched rows and which source rows they are.
struct Stretched {
  std::array<std::vector<float>, 2> rows;
  std::array<std::int64_t, 2> sources = {-1, -1};
};

class ResizeCall final : public Call {
 public:
  ResizeCall(const ResizeProgram& program, int threads, ThreadPool* pool, const void* in, void* out)
      : program_(program),
        pool_(pool),
        loops_(slice_loops()),
        in_(static_cast<const float*>(in)),
        out_(static_cast<float*>(out)),
        out_row_(program.columns.size() * program.inner) {
    const std::int64_t rows = program.outer * program.rows.size();
    threads_ = threads_for(threads, rows * out_row_ * static_cast<std::int64_t>(sizeof(float)), rows);
    lanes_.resize(static_cast<std::size_t>(threads_));
    for (Stretched& lane : lanes_)
      for (auto& row : lane.rows) row.resize(static_cast<std::size_t>(out_row_));
  }

  Result<void> run() override {
    in_ranges(pool_, threads_, program_.outer * program_.rows.size(),
              [this](std::int64_t first, std::int64_t last, int thread) {
                Stretched& lane = lanes_[static_cast<std::size_t>(thread)];
                lane.sources = {-1, -1};
                for (std::int64_t row = first; row < last; ++row) blend_row(row, lane);
              });
    return {};
  }

 private:
  void blend_row(std::int64_t row, Stretched& lane) const {
    const std::int64_t image = row / program_.rows.size();
    const auto y = static_cast<std::size_t>(row % program_.rows.size());
    const float* below = stretched(image * program_.in_height + program_.rows.below[y], lane);
    const float* above = stretched(image * program_.in_height + program_.rows.above[y], lane);
    loops_.blend(below, above, program_.rows.weight[y], out_row_, out_ + row * out_row_);
  }

  /// Source rows come in ascending order, so a row's place is that of its parity and its neighbour stays.
  const float* stretched(std::int64_t source, Stretched& lane) const {
    const auto place = static_cast<std::size_t>(source & 1);
    float* row = lane.rows[place].data();
    if (lane.sources[place] == source) return row;
    lane.sources[place] = source;
    const BlendAxis& x = program_.columns;
    loops_.stretch(in_ + source * program_.in_width * program_.inner, x.below.data(), x.above.data(), x.weight.data(),
                   x.size(), program_.inner, row);
    return row;
  }

  const ResizeProgram& program_;
  ThreadPool* pool_;
  SliceLoops loops_;
  const float* in_;
  float* out_;
  std::int64_t out_row_;
  int threads_ = 1;
  std::vector<Stretched> lanes_;
};

class ResizeKernel final : public Kernel {
 public:
  ResizeKernel(ResizeProgram program, int threads) : program_(std::move(program)), threads_(threads) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<ResizeCall>(program_, threads_, buffers.pool, buffers.inputs[0], buffers.outputs[0]);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  ResizeProgram program_;
  int threads_;
};

BlendAxis axis_from(const nlohmann::json& json) {
  return {.below = json.at("below").get<std::vector<std::int32_t>>(),
          .above = json.at("above").get<std::vector<std::int32_t>>(),
          .weight = json.at("weight").get<std::vector<float>>()};
}

bool is_inside(const BlendAxis& axis, std::int64_t extent) {
  const auto inside = [&](std::int32_t source) { return source >= 0 && source < extent; };
  return axis.below.size() == axis.weight.size() && axis.above.size() == axis.weight.size() && axis.size() > 0 &&
         std::ranges::all_of(axis.below, inside) && std::ranges::all_of(axis.above, inside);
}

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& json, const LoadRequest& request) {
  ResizeProgram program{.outer = json.at("outer").get<std::int64_t>(),
                        .inner = json.at("inner").get<std::int64_t>(),
                        .in_height = json.at("in_height").get<std::int64_t>(),
                        .in_width = json.at("in_width").get<std::int64_t>(),
                        .rows = axis_from(json.at("rows")),
                        .columns = axis_from(json.at("columns"))};
  const std::int64_t most = std::int64_t{1} << 20;
  const std::array sizes = {program.outer, program.inner, program.in_height, program.in_width};
  const bool fits = std::ranges::all_of(sizes, [&](std::int64_t n) { return n > 0 && n <= most; }) &&
                    is_inside(program.rows, program.in_height) && is_inside(program.columns, program.in_width) &&
                    !request.inputs.empty() && request.outputs.size() == 1 &&
                    stated_size({program.outer, program.inner, program.in_height, program.in_width}) ==
                        floats_in(request.inputs[0]) &&
                    stated_size({program.outer, program.inner, program.rows.size(), program.columns.size()}) ==
                        floats_in(request.outputs[0]);
  if (!fits)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", "a Resize outside its ports", "one inside");
  return std::make_unique<ResizeKernel>(std::move(program), request.threads);
}

}  // namespace

const Family kResize = {
    .name = "resize", .knows = knows, .support = support, .compile = compile, .load = load, .takes_chains = false};

}  // namespace collage::host
