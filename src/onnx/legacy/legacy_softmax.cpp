// Before opset 13, Softmax, LogSoftmax and Hardmax flatten their input [d0, ..., dn] to two dimensions at `axis` and
// normalise along the second one; since opset 13 they normalise along one axis. Both are the same when at most one of
// the dimensions from `axis` on is larger than 1. In all other cases the flattening is written out as nodes.
#include <optional>

#include "onnx/legacy/legacy_rules.h"

namespace collage {
namespace {

/// The one axis along which the new operator does what the old one did; nothing when there is none.
std::optional<std::int64_t> equivalent_axis(std::int64_t axis, const std::vector<std::int64_t>& extents) {
  const auto rank = static_cast<std::int64_t>(extents.size());
  if (axis == rank - 1) return axis;
  std::optional<std::int64_t> found;
  for (std::int64_t d = axis; d < rank; ++d) {
    if (extents[static_cast<std::size_t>(d)] == 1) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found ? *found : rank - 1;
}

}  // namespace

Result<bool> rewrite_softmax(const pb::NodeProto& node, Rewrite& rewrite) {
  if (node.input_size() != 1 || node.output_size() != 1) return false;
  const std::string& x = node.input(0);
  const char* op = node.op_type().c_str();
  std::int64_t axis = int_attribute(node, "axis", 1);
  const auto extents = rewrite.extents(x);
  if (extents) {
    const auto rank = static_cast<std::int64_t>(extents->size());
    if (axis < 0) axis += rank;
    if (axis < 0 || axis > rank)
      return fail(ExitCode::kBadInput, "import/invalid-model", describe(node), "axis " + std::to_string(axis),
                  "an axis of its input");
    if (const auto same = axis < rank ? equivalent_axis(axis, *extents) : std::nullopt) {
      set_int(rewrite.add_final(node, op, {x}, node.output(0)), "axis", *same);
      return true;
    }
  } else if (axis == -1) {
    set_int(rewrite.add_final(node, op, {x}, node.output(0)), "axis", -1);
    return true;
  }
  const std::string flat = rewrite.names.fresh(node.output(0) + "_flat");
  const std::string flat_result = rewrite.names.fresh(node.output(0) + "_flat_result");
  const std::string shape = rewrite.names.fresh(node.output(0) + "_shape");
  set_int(rewrite.add_final(node, "Flatten", {x}, flat), "axis", axis);
  set_int(rewrite.add_final(node, op, {flat}, flat_result), "axis", 1);
  rewrite.add_final(node, "Shape", {x}, shape);
  rewrite.add_final(node, "Reshape", {flat_result, shape}, node.output(0));
  return true;
}

}  // namespace collage
