// Image operators of old models: Upsample (7 to 9) and Resize 10, whose coordinates are asymmetric and whose nearest
// neighbour is the one below; and Affine, Crop and ImageScaler, experiments of the first ONNX that Windows ML exported.
#include <limits>

#include "onnx/legacy/legacy_rules.h"
#include "onnx/small_value.h"

namespace collage {
namespace {

/// Downsampling by Resize 10 takes the neighbour above, as ONNX Runtime does.
Result<const char*> nearest_mode(const pb::NodeProto& node, const std::vector<double>& scales) {
  bool up = false;
  bool down = false;
  for (const double scale : scales) {
    up = up || scale > 1;
    down = down || scale < 1;
  }
  if (up && down)
    return fail(ExitCode::kUnsupported, "import/unsupported-legacy", describe(node),
                "nearest scaling that grows one axis and shrinks another", "scales all above or all below one");
  return down ? "ceil" : "floor";
}

std::string float_constant(Rewrite& rewrite, const std::string& stem, std::vector<std::int64_t> dims,
                           const std::vector<float>& values) {
  return rewrite.constant(float_tensor(rewrite.names.fresh(stem), dims, values));
}

}  // namespace

Result<bool> rewrite_resize(const pb::NodeProto& node, Rewrite& rewrite) {
  if (node.input_size() < 1 || node.output_size() != 1) return false;
  std::string scales;
  std::vector<double> known;
  if (const auto* attribute = attribute_of(node, "scales")) {
    const std::vector<float> values(attribute->floats().begin(), attribute->floats().end());
    known.assign(values.begin(), values.end());
    scales = float_constant(rewrite, node.output(0) + "_scales", {static_cast<std::int64_t>(values.size())}, values);
  } else if (node.input_size() == 2) {
    scales = node.input(1);
    if (const auto* tensor = rewrite.initialiser(scales))
      if (const auto value = read_small(*tensor)) known = value->floats;
  } else {
    return false;
  }
  const std::string mode = string_attribute(node, "mode", "nearest");
  pb::NodeProto& resize = rewrite.add_final(node, "Resize", {node.input(0), "", scales}, node.output(0));
  set_string(resize, "coordinate_transformation_mode", "asymmetric");
  set_string(resize, "mode", mode == "bilinear" ? "linear" : mode);
  if (mode == "nearest") {
    COLLAGE_TRY(const char* nearest, nearest_mode(node, known));
    set_string(resize, "nearest_mode", nearest);
  }
  return true;
}

Result<bool> rewrite_affine(const pb::NodeProto& node, Rewrite& rewrite) {
  if (node.input_size() != 1 || node.output_size() != 1) return false;
  const std::string& y = node.output(0);
  const std::string scaled = rewrite.names.fresh(y + "_scaled");
  rewrite.add(node, "Mul",
              {node.input(0), float_constant(rewrite, y + "_alpha", {}, {float_attribute(node, "alpha", 1.0F)})},
              scaled);
  rewrite.add(node, "Add", {scaled, float_constant(rewrite, y + "_beta", {}, {float_attribute(node, "beta", 0.0F)})},
              y);
  return true;
}

/// border = left, top, right, bottom; scale = height, width of the result, which replaces right and bottom.
Result<bool> rewrite_crop(const pb::NodeProto& node, Rewrite& rewrite) {
  const auto border = ints_attribute(node, "border");
  const auto scale = ints_attribute(node, "scale");
  if (node.input_size() != 1 || node.output_size() != 1 || border.size() != 4 || (!scale.empty() && scale.size() != 2))
    return fail(ExitCode::kBadInput, "import/invalid-model", describe(node), "a Crop without its four borders",
                "border of 4 and scale of 2 numbers");
  const auto end = [](std::int64_t left_out) {
    return left_out == 0 ? std::numeric_limits<std::int32_t>::max() : -left_out;
  };
  const std::int64_t left = border[0];
  const std::int64_t top = border[1];
  const std::vector<std::int64_t> ends =
      scale.empty() ? std::vector{end(border[3]), end(border[2])} : std::vector{top + scale[0], left + scale[1]};
  const std::string& y = node.output(0);
  const auto constant = [&](const char* stem, const std::vector<std::int64_t>& values) {
    return rewrite.constant(int64_tensor(rewrite.names.fresh(y + stem), {2}, values));
  };
  rewrite.add_final(
      node, "Slice",
      {node.input(0), constant("_starts", {top, left}), constant("_ends", ends), constant("_axes", {2, 3})}, y);
  return true;
}

/// y = scale * x + bias of the channel.
Result<bool> rewrite_image_scaler(const pb::NodeProto& node, Rewrite& rewrite) {
  if (node.input_size() != 1 || node.output_size() != 1) return false;
  const std::string& y = node.output(0);
  std::vector<float> bias;
  if (const auto* attribute = attribute_of(node, "bias"))
    bias.assign(attribute->floats().begin(), attribute->floats().end());
  const std::string scaled = rewrite.names.fresh(y + "_scaled");
  const float scale = float_attribute(node, "scale", 1.0F);
  rewrite.add(node, "Mul", {node.input(0), float_constant(rewrite, y + "_scale", {}, {scale})},
              bias.empty() ? y : scaled);
  if (bias.empty()) return true;
  const auto channels = static_cast<std::int64_t>(bias.size());
  rewrite.add(node, "Add", {scaled, float_constant(rewrite, y + "_bias", {channels, 1, 1}, bias)}, y);
  return true;
}

}  // namespace collage
