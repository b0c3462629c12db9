#include "compiler/selection/strategy.h"

#include <algorithm>

#include "base/number_text.h"
#include "compiler/selection/choices.h"
#include "compiler/selection/condition.h"

namespace collage::native {
namespace {

/// Schedules of one implementation that are offered unless a tuner asks for more.
constexpr std::size_t kOffered = 2;
/// For shapes that are open: another point may like another one.
constexpr std::size_t kOfferedOpen = 4;

const std::vector<Layout>& layouts_of(const Implementation& implementation, const Site& site) {
  return site.is_open ? implementation.open_layouts : implementation.layouts;
}

/// Tensors of the result's rank follow the layout, others are plain: biases, scalars.
std::vector<Format> formats_in(const Site& site, Layout layout, const std::vector<ValueId>& ids) {
  std::vector<Format> formats;
  for (const ValueId id : ids) {
    const ValueType& type = site.type(id);
    const bool follows =
        layout == Layout::kChannelsLast && can_be_channels_last(type) && element_count(type.extents()) > 1;
    formats.push_back(follows ? channels_last() : plain());
  }
  return formats;
}

/// A variant in whose formats the region cannot be told from a plain one is the plain one again.
bool is_plain(const Site& site, const Variant& variant) {
  const auto same = [&](const std::vector<ValueId>& ids, const std::vector<Format>& formats) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      if (!same_bytes(site.type(ids[i]), formats[i], plain())) return false;
    return true;
  };
  return same(site.region.inputs, variant.input_formats) && same(site.region.outputs, variant.output_formats);
}

std::string variant_name(const Implementation& implementation, Layout layout, const Schedule& schedule) {
  std::string name(implementation.name);
  name += '.';
  name += name_of(layout);
  const std::string text = schedule.text();
  return text.empty() ? name : name + '/' + text;
}

bool has_operator(std::string_view operators, std::string_view op_type) {
  while (!operators.empty()) {
    const std::size_t bar = operators.find('|');
    if (operators.substr(0, bar) == op_type) return true;
    operators = bar == std::string_view::npos ? std::string_view() : operators.substr(bar + 1);
  }
  return op_type.empty();
}

/// The families whose anchor the region has.
std::vector<const Family*> families_of(const Site& site) {
  std::vector<const Family*> out;
  if (std::ranges::any_of(site.anchors, [](const Node* anchor) { return !anchor->domain.empty(); })) return out;
  for (const Family* family : site.families.empty() ? all_families() : site.families) {
    const bool fits = site.anchor == nullptr
                          ? family->operators.empty()
                          : !family->operators.empty() && has_operator(family->operators, anchors_text(site));
    if (fits && (site.anchor == nullptr || !site.moves || family->takes_moves)) out.push_back(family);
  }
  return out;
}

void add_variants(const Site& site, const Facts& facts, const Implementation& implementation,
                  std::vector<Variant>& variants) {
  const std::vector<Layout>& layouts = layouts_of(implementation, site);
  for (const Layout layout : layouts) {
    Variant variant{.name = {},
                    .input_formats = formats_in(site, layout, site.region.inputs),
                    .output_formats = formats_in(site, layout, site.region.outputs)};
    if (layout == Layout::kChannelsLast && layouts.size() > 1 && is_plain(site, variant)) continue;
    std::size_t count = 0;
    for (const Schedule& schedule : implementation.space(site, facts)) {
      if (++count > (site.is_open ? kOfferedOpen : kOffered)) break;
      variant.name = variant_name(implementation, layout, schedule);
      variants.push_back(variant);
    }
  }
}

/// What is built in has sound conditions; a row from elsewhere may speak of facts that its family does not have.
std::expected<bool, Refusal> applies(const Implementation& implementation, const Facts& facts) {
  if (implementation.source.empty()) return holds(implementation.condition, facts);
  auto holds_here = evaluate(implementation.condition, facts);
  if (holds_here) return *holds_here;
  return refuse(RefusalReason::kStructure, std::string(implementation.source) + ": the condition of " +
                                               std::string(implementation.name) + ": " + holds_here.error());
}

}  // namespace

std::string_view name_of(Layout layout) { return layout == Layout::kPlain ? "plain" : "nhwc"; }

std::int64_t Schedule::operator[](std::string_view name) const {
  const auto found = choices_.find(name);
  COLLAGE_CHECK(found != choices_.end(), "no choice of " + std::string(name));
  return found->second;
}

std::string Schedule::text() const {
  std::string text;
  for (const auto& [name, value] : choices_) text += (text.empty() ? "" : ",") + name + '=' + std::to_string(value);
  return text;
}

std::optional<Schedule> Schedule::parse(std::string_view text) {
  Schedule schedule;
  while (!text.empty()) {
    const std::string_view choice = text.substr(0, text.find(','));
    text.remove_prefix(std::min(choice.size() + 1, text.size()));
    const std::size_t equals = choice.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto value = number_in<std::int64_t>(choice.substr(equals + 1));
    if (!value) return std::nullopt;
    schedule.choices_.emplace(std::string(choice.substr(0, equals)), *value);
  }
  return schedule;
}

std::expected<std::vector<Variant>, Refusal> variants_of(const Site& site) {
  Refusal why{site.anchors.size() > 1 || site.moves ? RefusalReason::kStructure : RefusalReason::kOperator,
              site.anchor != nullptr ? anchors_text(site) : "nothing to compute"};
  for (const Family* family : families_of(site)) {
    const auto facts = family->read(site);
    if (!facts) {
      why = facts.error();
      continue;
    }
    const auto misfit = misfit_in(*facts, family->domains);
    COLLAGE_CHECK(!misfit, std::string(family->name) + ": " + misfit.value_or(""));
    std::vector<const Implementation*> fitting;
    for (const Implementation& implementation : family->implementations) {
      const auto applies_here = applies(implementation, *facts);
      if (!applies_here) return std::unexpected(applies_here.error());
      if (*applies_here) fitting.push_back(&implementation);
    }
    std::ranges::stable_sort(fitting, std::greater<>(), &Implementation::priority);
    std::vector<Variant> variants;
    for (const Implementation* implementation : fitting) add_variants(site, *facts, *implementation, variants);
    if (!variants.empty()) return variants;
    why = {RefusalReason::kStructure, "no implementation of " + std::string(family->name) + " applies"};
    if (site.is_open)
      why = {RefusalReason::kShape, "no implementation of " + std::string(family->name) + " has open dimensions"};
  }
  return std::unexpected(why);
}

std::expected<Chosen, Refusal> chosen_by(const Site& site, const Variant& variant) {
  const std::string_view name = variant.name;
  const std::string_view wanted = name.substr(0, name.find('.'));
  const std::size_t slash = name.find('/');
  auto schedule = Schedule::parse(slash == std::string_view::npos ? "" : name.substr(slash + 1));
  if (!schedule) return refuse(RefusalReason::kCompile, "no schedule: " + variant.name);
  Refusal why{RefusalReason::kCompile, "no implementation " + variant.name};
  for (const Family* family : families_of(site))
    for (const Implementation& implementation : family->implementations) {
      if (implementation.name != wanted) continue;
      auto facts = family->read(site);
      if (!facts) {
        why = facts.error();  // another family may have one of this name
        break;
      }
      const auto applies_here = applies(implementation, *facts);
      if (!applies_here) return std::unexpected(applies_here.error());
      if (!*applies_here) break;
      const bool has_layout = std::ranges::any_of(layouts_of(implementation, site), [&](Layout layout) {
        return name.substr(wanted.size(), slash - wanted.size()) == "." + std::string(name_of(layout));
      });
      if (!has_layout) return refuse(RefusalReason::kCompile, "no such layout: " + variant.name);
      if (const std::string wrong = why_illegal(implementation, site, *facts, *schedule); !wrong.empty())
        return refuse(RefusalReason::kCompile, variant.name + ": " + wrong);
      return Chosen{.implementation = &implementation, .facts = std::move(*facts), .schedule = *std::move(schedule)};
    }
  return std::unexpected(why);
}

std::expected<TensorCode, Refusal> tensor_code_of(const Site& site, const Variant& variant, const std::string& name,
                                                  const OpenForm& open) {
  const auto chosen = chosen_by(site, variant);
  if (!chosen) return std::unexpected(chosen.error());
  Lowering lowering(site.graph, site.region, variant, site.options, site.set, open);
  chosen->implementation->build(site, chosen->facts, chosen->schedule, lowering);
  if (!lowering.complaint().empty())
    return refuse(RefusalReason::kShape, std::string(chosen->implementation->name) + " reads " + lowering.complaint());
  return lowering.take(name);
}

}  // namespace collage::native
