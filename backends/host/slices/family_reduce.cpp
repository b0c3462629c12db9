// Reductions of f32 tensors over axes that lie beside each other in memory: ReduceMean, ReduceSum, ReduceMax,
// ReduceMin, ReduceL2, ReduceSumSquare, GlobalAveragePool, GlobalMaxPool.
#include <algorithm>
#include <array>

#include "backend/float_ports.h"
#include "family.h"
#include "slices/slice_kernel.h"

namespace collage::host {
namespace {

struct Operator {
  std::string_view name;
  SliceLoops::Loop SliceLoops::*loop;
  bool is_pool = false;  ///< over all spatial axes
};

constexpr std::array kOperators = {
    Operator{"ReduceMean", &SliceLoops::mean},
    Operator{"ReduceSum", &SliceLoops::sum},
    Operator{"ReduceMax", &SliceLoops::max},
    Operator{"ReduceMin", &SliceLoops::min},
    Operator{"ReduceL2", &SliceLoops::norm},
    Operator{"ReduceSumSquare", &SliceLoops::sum_of_squares},
    Operator{"GlobalAveragePool", &SliceLoops::mean, true},
    Operator{"GlobalMaxPool", &SliceLoops::max, true},
};

const Operator* operator_of(std::string_view name) {
  const auto found = std::ranges::find(kOperators, name, &Operator::name);
  return found == kOperators.end() ? nullptr : &*found;
}

bool knows(const Node& node) { return node.domain.empty() && operator_of(node.op_type) != nullptr; }

std::expected<std::vector<std::int64_t>, Refusal> axes_of(const Site& site) {
  const std::size_t rank = site.input_type(0).extents().size();
  std::vector<std::int64_t> axes;
  if (operator_of(site.node.op_type)->is_pool) {
    for (std::size_t i = 2; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
  }
  if (input_of(site.node, 1).valid() && !site.integers(1)) return refuse(RefusalReason::kStructure, "computed axes");
  axes = site.integers(1).value_or(attribute_or<std::vector<std::int64_t>>(site.node, "axes", {}));
  if (axes.empty()) {
    if (attribute_or<std::int64_t>(site.node, "noop_with_empty_axes", 0) != 0)
      return refuse(RefusalReason::kAttribute, "nothing to reduce");
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  for (std::int64_t& axis : axes) {
    axis = from_front(axis, rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
      return refuse(RefusalReason::kAttribute, "axis outside the rank");
  }
  return axes;
}

/// The slices to reduce. The results lie in the order of the input's other axes; that order must be the output's.
std::expected<Slices, Refusal> slices_under(const Site& site, const Variant& variant) {
  if (site.output_type(0).element != ElementType::kFloat32 || site.input_type(0).element != ElementType::kFloat32)
    return refuse(RefusalReason::kType, to_string(site.output_type(0)));
  const auto port = site.input_port(site.node.inputs[0]);
  if (!port) return refuse(RefusalReason::kStructure, "constant data");
  const auto axes = axes_of(site);
  if (!axes) return std::unexpected(axes.error());
  const Extents extents = site.input_type(0).extents();
  const auto slices = slices_of(extents, variant.input_formats[*port], *axes);
  if (!slices) return refuse(RefusalReason::kFormat, "reduced axes with others between them");
  if (slices->outer * slices->length * slices->inner == 0) return refuse(RefusalReason::kShape, "no elements");
  return *slices;
}

/// Whether the input's format, reduced, is the output's: with the axes kept it is; without, only plain to plain.
bool formats_agree(const Site& site, const Variant& variant) {
  const auto port = site.input_port(site.node.inputs[0]);
  const Format& from = variant.input_formats[*port];
  const Format& to = variant.output_formats.front();
  const bool keeps_rank = site.input_type(0).extents().size() == site.output_type(0).extents().size();
  return keeps_rank ? from == to : from.is_plain() && to.is_plain();
}

Variants support(const Site& site) {
  std::vector<Variant> variants;
  std::optional<Refusal> refusal;
  if (!site.input_port(site.node.inputs[0])) return refuse(RefusalReason::kStructure, "constant data");
  for (Variant& variant : uniform_variants(site)) {
    const auto slices = slices_under(site, variant);
    if (slices && formats_agree(site, variant)) {
      variants.push_back(std::move(variant));
    } else if (!refusal) {
      refusal = slices ? Refusal{RefusalReason::kFormat, "formats of different ranks"} : slices.error();
    }
  }
  if (variants.empty()) return std::unexpected(*refusal);
  return variants;
}

Drafted compile(const Site& site, const Variant& variant) {
  const auto slices = slices_under(site, variant);
  if (!slices) return std::unexpected(slices.error());
  if (!formats_agree(site, variant)) return refuse(RefusalReason::kFormat, "formats of different ranks");
  Draft draft;
  draft.program = {{"operator", site.node.op_type},
                   {"input", *site.input_port(site.node.inputs[0])},
                   {"outer", slices->outer},
                   {"length", slices->length},
                   {"inner", slices->inner}};
  return draft;
}

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& json, const LoadRequest& request) {
  const Slices slices{.outer = json.at("outer").get<std::int64_t>(),
                      .length = json.at("length").get<std::int64_t>(),
                      .inner = json.at("inner").get<std::int64_t>()};
  const Operator* op = operator_of(json.at("operator").get<std::string>());
  const auto input = json.at("input").get<std::uint32_t>();
  const bool fits = op != nullptr && input < request.inputs.size() && request.outputs.size() == 1 &&
                    slices.length > 0 && slices.outer > 0 && slices.inner > 0 &&
                    stated_size({slices.outer, slices.inner}) == floats_in(request.outputs[0]) &&
                    stated_size({slices.outer, slices.length, slices.inner}) == floats_in(request.inputs[input]);
  if (!fits)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", "a reduction outside its ports",
                "one inside them");
  return make_slice_kernel(slices, slice_loops().*(op->loop), SliceResult::kOne, input, request.threads);
}

}  // namespace

const Family kReduce = {
    .name = "reduce", .knows = knows, .support = support, .compile = compile, .load = load, .takes_chains = false};

}  // namespace collage::host
