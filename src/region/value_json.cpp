#include "region/value_json.h"

#include <array>

namespace collage {
namespace {

constexpr std::array kReasons = {RefusalReason::kOperator,    RefusalReason::kType,    RefusalReason::kShape,
                                 RefusalReason::kAttribute,   RefusalReason::kFormat,  RefusalReason::kStructure,
                                 RefusalReason::kAccuracy,    RefusalReason::kMissing, RefusalReason::kCompile,
                                 RefusalReason::kWrongResult, RefusalReason::kCrashed, RefusalReason::kTimeout,
                                 RefusalReason::kResources};

/// A reason written by a newer version reads as the general one.
RefusalReason reason_of(const std::string& name) {
  for (const RefusalReason reason : kReasons)
    if (name_of(reason) == name) return reason;
  return RefusalReason::kStructure;
}

Json formats_to_json(const std::vector<Format>& formats) {
  Json list = Json::array();
  for (const Format& format : formats) list.push_back(format.name);
  return list;
}

std::vector<Format> formats_from(const Json& list) {
  std::vector<Format> formats;
  for (const Json& name : list) formats.push_back({name.get<std::string>()});
  return formats;
}

}  // namespace

Json to_json(const Refusal& refusal) {
  return {{"reason", std::string(name_of(refusal.reason))}, {"detail", refusal.detail}};
}

Refusal refusal_from(const Json& json) {
  return {.reason = reason_of(json.at("reason").get<std::string>()), .detail = json.at("detail").get<std::string>()};
}

Json to_json(const Cost& cost) {
  if (const auto* measured = std::get_if<Measured>(&cost))
    return {{"kind", "measured"},
            {"median_ns", measured->median_ns},
            {"low_ns", measured->low_ns},
            {"high_ns", measured->high_ns},
            {"samples", measured->samples}};
  if (const auto* estimated = std::get_if<Estimated>(&cost))
    return {{"kind", is_sampled(cost) ? "sampled" : "estimated"}, {"ns", estimated->ns}};
  if (const auto* infeasible = std::get_if<Infeasible>(&cost))
    return {{"kind", "infeasible"}, {"refusal", to_json(infeasible->refusal)}};
  return {{"kind", "unknown"}};
}

Cost cost_from(const Json& json) {
  const auto kind = json.at("kind").get<std::string>();
  if (kind == "measured")
    return Measured{.median_ns = json.at("median_ns").get<std::int64_t>(),
                    .low_ns = json.at("low_ns").get<std::int64_t>(),
                    .high_ns = json.at("high_ns").get<std::int64_t>(),
                    .samples = json.at("samples").get<std::int32_t>()};
  if (kind == "estimated" || kind == "sampled")
    return Estimated{.ns = json.at("ns").get<std::int64_t>(), .is_sampled = kind == "sampled"};
  if (kind == "infeasible") return Infeasible{.refusal = refusal_from(json.at("refusal"))};
  return Unknown{};
}

Json to_json(const Variant& variant) {
  return {{"name", variant.name},
          {"inputs", formats_to_json(variant.input_formats)},
          {"outputs", formats_to_json(variant.output_formats)}};
}

Variant variant_from(const Json& json) {
  return {.name = json.at("name").get<std::string>(),
          .input_formats = formats_from(json.at("inputs")),
          .output_formats = formats_from(json.at("outputs"))};
}

}  // namespace collage
