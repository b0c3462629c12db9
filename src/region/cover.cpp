#include "region/cover.h"

namespace collage {
namespace {

template <class Work>
concept OfRegion = requires(const Work& work) {
  work.region;
};

}  // namespace

std::string_view kind_name(const CoverStep& step) {
  return std::visit([](const auto& work) { return work.kKind; }, step.work);
}

bool is_view(const CoverStep& step) {
  return std::holds_alternative<CoverView>(step.work) || std::holds_alternative<CoverRename>(step.work);
}

bool has_artifact(const CoverStep& step) {
  return is_kernel(step) || std::holds_alternative<CoverConversion>(step.work);
}

bool needs_backend(const CoverStep& step) {
  return has_artifact(step) || std::holds_alternative<CoverTransfer>(step.work);
}

const Region* chosen_region(const CoverStep& step) {
  return std::visit(
      []<class Work>(const Work& work) -> const Region* {
        if constexpr (OfRegion<Work>)
          return &work.region;
        else
          return nullptr;
      },
      step.work);
}

const Variant* chosen_variant(const CoverStep& step) {
  return std::visit(
      []<class Work>(const Work& work) -> const Variant* {
        if constexpr (OfRegion<Work>)
          return &work.variant;
        else
          return nullptr;
      },
      step.work);
}

const std::string& location_of(const CoverStep& step) {
  static const std::string home = kHome;
  return std::visit(
      []<class Work>(const Work& work) -> const std::string& {
        if constexpr (requires { work.location; })
          return work.location;
        else
          return home;
      },
      step.work);
}

std::optional<ValueMove> move_of(const CoverStep& step) {
  return std::visit(
      []<class Work>(const Work& work) -> std::optional<ValueMove> {
        if constexpr (OfRegion<Work>)
          return std::nullopt;
        else if constexpr (std::is_same_v<Work, CoverTransfer>)
          return ValueMove{work.value, {work.from, work.format}, {work.to, work.format}};
        else
          return ValueMove{work.value, {work.location, work.from}, {work.location, work.to}};
      },
      step.work);
}

std::span<const Cover> bodies_of(const CoverStep& step) {
  const auto* const control = std::get_if<CoverControl>(&step.work);
  return control == nullptr ? std::span<const Cover>() : control->bodies;
}

std::size_t step_count(const Cover& cover) {
  std::size_t count = cover.steps.size();
  for (const CoverStep& step : cover.steps)
    for (const Cover& body : bodies_of(step)) count += step_count(body);
  return count;
}

}  // namespace collage
