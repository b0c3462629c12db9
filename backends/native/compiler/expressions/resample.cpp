#include "compiler/expressions/resample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace collage::native {
namespace {

/// Attributes of one Resize.
struct Form {
  std::string mode, coordinates, rounding;
  double cubic = -0.75;
  bool excludes_outside = false;
};

Form form_of(const Node& node) {
  return {.mode = attribute_or<std::string>(node, "mode", "nearest"),
          .coordinates = attribute_or<std::string>(node, "coordinate_transformation_mode", "half_pixel"),
          .rounding = attribute_or<std::string>(node, "nearest_mode", "round_prefer_floor"),
          .cubic = attribute_or<float>(node, "cubic_coeff_a", -0.75F),
          .excludes_outside = attribute_or<std::int64_t>(node, "exclude_outside", 0) != 0};
}

/// Output over input by axis: the scales of the node, or the ratio of the extents.
std::vector<double> scales_of(const Graph& graph, const Node& node, const Extents& in, const Extents& out) {
  std::vector<double> scales;
  for (std::size_t i = 0; i < in.size(); ++i)
    scales.push_back(static_cast<double>(out[i]) / static_cast<double>(in[i]));
  const Tensor* given = constant_of(graph, input_of(node, 2));
  if (given == nullptr || given->size() == 0) return scales;
  const std::vector<double> values = *floats_of(*given);
  const Extents axes = attribute_or<Extents>(node, "axes", {});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t axis = axes.empty() ? static_cast<std::int64_t>(i) : axes[i];
    scales[static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(in.size()) : axis)] = values[i];
  }
  return scales;
}

/// Where output pixel `x` lies in the input, in pixels.
double position_of(const Form& form, std::int64_t x, double scale, std::int64_t in, std::int64_t out) {
  const auto at = static_cast<double>(x);
  if (form.coordinates == "asymmetric") return at / scale;
  if (form.coordinates == "align_corners")
    return out == 1 ? 0 : at * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  if (form.coordinates == "pytorch_half_pixel" && out == 1) return 0;
  if (form.coordinates == "half_pixel_symmetric") {
    const double whole = scale * static_cast<double>(in);
    const double adjustment = static_cast<double>(out) / whole;
    const double centre = static_cast<double>(in) / 2;
    return centre * (1 - adjustment) + (at + 0.5) / scale - 0.5;
  }
  return (at + 0.5) / scale - 0.5;
}

double rounded(const Form& form, double x) {
  if (form.rounding == "floor") return std::floor(x);
  if (form.rounding == "ceil") return std::ceil(x);
  if (form.rounding == "round_prefer_ceil") return std::floor(x + 0.5);
  return std::ceil(x - 0.5);
}

/// Weights of the four neighbours of a place `t` after the second (Keys, 1981).
std::array<double, 4> cubic_weights(double a, double t) {
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {far(1 + t), near(t), near(1 - t), far(2 - t)};
}

void fill(const Form& form, double scale, std::int64_t in, std::int64_t out, ResampledAxis& axis) {
  for (std::int64_t x = 0; x < out; ++x) {
    const auto at = static_cast<int>(x);
    double position = position_of(form, x, scale, in, out);
    const auto put = [&](int tap, double source, double weight) {
      axis.sources(tap, at) = static_cast<int>(std::clamp<double>(source, 0, static_cast<double>(in - 1)));
      axis.weights(tap, at) = static_cast<float>(weight);
    };
    if (form.mode == "nearest") {
      put(0, rounded(form, position), 1);
    } else if (form.mode == "linear") {
      position = std::clamp(position, 0.0, static_cast<double>(in - 1));
      const double below = std::floor(position);
      put(0, below, 1 - (position - below));
      put(1, below + 1, position - below);
    } else {
      const double below = std::floor(position);
      std::array<double, 4> weights = cubic_weights(form.cubic, position - below);
      if (form.excludes_outside) {
        double sum = 0;
        for (int tap = 0; tap < 4; ++tap) {
          const double source = below - 1 + tap;
          if (source < 0 || source >= static_cast<double>(in)) weights.at(static_cast<std::size_t>(tap)) = 0;
          sum += weights.at(static_cast<std::size_t>(tap));
        }
        for (double& weight : weights) weight /= sum;
      }
      for (int tap = 0; tap < 4; ++tap) put(tap, below - 1 + tap, weights.at(static_cast<std::size_t>(tap)));
    }
  }
}

/// The whole number by which each pixel is repeated; 0 when it is not so.
std::int64_t repeats_of(const ResampledAxis& axis, std::int64_t out) {
  if (axis.taps != 1 || out % axis.extent != 0) return 0;
  const std::int64_t repeats = out / axis.extent;
  for (std::int64_t x = 0; x < out; ++x)
    if (axis.sources(0, static_cast<int>(x)) != static_cast<int>(x / repeats)) return 0;
  return repeats;
}

}  // namespace

Halide::Expr ResampledAxis::source(std::size_t tap, const Halide::Expr& at) const {
  if (repeats > 0) return at / static_cast<int>(repeats);
  return sources(static_cast<int>(tap), at);
}

Halide::Expr ResampledAxis::weight(std::size_t tap, const Halide::Expr& at) const {
  return weights(static_cast<int>(tap), at);
}

bool is_known_resize(const Graph& graph, const Node& node) {
  const Form form = form_of(node);
  const ValueId scales = input_of(node, 2);
  const ElementType type = graph.value(node.inputs[0]).type.element;
  return form.coordinates != "tf_crop_and_resize" && attribute_or<std::int64_t>(node, "antialias", 0) == 0 &&
         attribute_or<std::string>(node, "keep_aspect_ratio_policy", "stretch") == "stretch" &&
         (!scales.valid() || constant_of(graph, scales) != nullptr) &&
         (form.mode == "nearest" || type == ElementType::kFloat32);
}

Resample resample_of(const Graph& graph, const Node& node) {
  const Form form = form_of(node);
  const Extents in = graph.value(node.inputs[0]).type.extents();
  const Extents out = graph.value(node.outputs[0]).type.extents();
  const std::vector<double> scales = scales_of(graph, node, in, out);
  Resample resample;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in[i] == out[i] && scales[i] == 1) continue;
    ResampledAxis axis{.axis = i,
                       .extent = in[i],
                       .taps = form.mode == "nearest"  ? 1U
                               : form.mode == "linear" ? 2U
                                                       : 4U};
    axis.sources = Halide::Buffer<int>(static_cast<int>(axis.taps), static_cast<int>(out[i]));
    axis.weights = Halide::Buffer<float>(static_cast<int>(axis.taps), static_cast<int>(out[i]));
    fill(form, scales[i], in[i], out[i], axis);
    axis.repeats = repeats_of(axis, out[i]);
    resample.axes.push_back(axis);
  }
  return resample;
}

}  // namespace collage::native
