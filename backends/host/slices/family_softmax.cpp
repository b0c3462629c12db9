// Softmax and LogSoftmax along any axis of f32 tensors, in both common formats.
#include "backend/float_ports.h"
#include "family.h"
#include "slices/slice_kernel.h"

namespace collage::host {
namespace {

bool knows(const Node& node) { return is_op(node, "Softmax") || is_op(node, "LogSoftmax"); }

std::optional<Refusal> objection(const Site& site) {
  if (site.output_type(0).element != ElementType::kFloat32)
    return Refusal{RefusalReason::kType, to_string(site.output_type(0))};
  if (!site.input_port(site.node.inputs[0])) return Refusal{RefusalReason::kStructure, "constant data"};
  return std::nullopt;
}

Variants support(const Site& site) {
  if (auto no = objection(site)) return std::unexpected(*no);
  return uniform_variants(site);
}

Drafted compile(const Site& site, const Variant& variant) {
  if (auto no = objection(site)) return std::unexpected(*no);
  const Extents extents = site.input_type(0).extents();
  const std::int64_t axis = from_front(attribute_or<std::int64_t>(site.node, "axis", -1), extents.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(extents.size()))
    return refuse(RefusalReason::kAttribute, "axis outside the rank");
  const auto slices = slices_of(extents, variant.input_formats.front(), {axis});
  Draft draft;
  draft.program = {{"outer", slices->outer},
                   {"length", slices->length},
                   {"inner", slices->inner},
                   {"logarithmic", site.node.op_type == "LogSoftmax"}};
  return draft;
}

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& json, const LoadRequest& request) {
  const Slices slices{.outer = json.at("outer").get<std::int64_t>(),
                      .length = json.at("length").get<std::int64_t>(),
                      .inner = json.at("inner").get<std::int64_t>()};
  const std::int64_t elements =
      request.outputs.size() == 1 && request.inputs.size() == 1 ? floats_in(request.outputs[0]) : -1;
  if (elements < 0 || floats_in(request.inputs[0]) != elements ||
      stated_size({slices.outer, slices.length, slices.inner}) != elements)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", "a Softmax outside its ports", "one inside them");
  const SliceLoops loops = slice_loops();
  const SliceLoops::Loop loop = json.at("logarithmic").get<bool>() ? loops.log_softmax : loops.softmax;
  return make_slice_kernel(slices, loop, SliceResult::kWhole, 0, request.threads);
}

}  // namespace

const Family kSoftmax = {
    .name = "softmax", .knows = knows, .support = support, .compile = compile, .load = load, .takes_chains = false};

}  // namespace collage::host
