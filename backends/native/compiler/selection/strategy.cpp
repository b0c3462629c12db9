#include "compiler/selection/strategy.h"

#include <algorithm>

#include "backend/strategy.h"
#include "base/number_text.h"
#include "compiler/selection/choices.h"
#include "compiler/selection/condition.h"
#include "region/narrow_variant.h"

namespace collage::native {
namespace {

/// Schedules of one implementation that are offered unless a tuner asks for more.
constexpr std::size_t kOffered = 2;
/// With narrow ports.
constexpr std::size_t kOfferedNarrow = 1;
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

/// "direct.nhwc/rows=1,tile_x=6", "direct.nhwc.bf16/rows=1,tile_x=6": `way` is what stands before the schedule.
std::string variant_name(const std::string& way, const Schedule& schedule) {
  const std::string text = schedule.text();
  return text.empty() ? way : way + '/' + text;
}

std::string way_name(const Implementation& implementation, Layout layout) {
  return std::string(implementation.name) + '.' + std::string(name_of(layout));
}

/// Whether a name's way is that of an implementation in a layout, with what a narrow variant has behind it.
bool is_way(std::string_view way, const Implementation& implementation, Layout layout) {
  const std::string full = way_name(implementation, layout);
  return way == full || way == full + ".bf16" || way == full + ".bf16_in" || way == full + ".f16" ||
         way == full + ".f16_in";
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

/// The region in one layout, named by its way; nothing when it is the same as in another layout of the implementation.
std::optional<Variant> in_layout(const Site& site, const Implementation& implementation, Layout layout) {
  Variant variant{.name = way_name(implementation, layout),
                  .input_formats = formats_in(site, layout, site.region.inputs),
                  .output_formats = formats_in(site, layout, site.region.outputs)};
  if (layout == Layout::kChannelsLast && layouts_of(implementation, site).size() > 1 && is_plain(site, variant))
    return std::nullopt;
  return variant;
}

/// One variant for each of the best schedules.
void add_schedules(const std::vector<Schedule>& schedules, std::size_t most, Variant variant,
                   std::vector<Variant>& variants) {
  const std::string way = variant.name;
  for (std::size_t i = 0; i < std::min(most, schedules.size()); ++i) {
    variant.name = variant_name(way, schedules[i]);
    variants.push_back(variant);
  }
}

void add_variants(const Site& site, const Facts& facts, const Implementation& implementation,
                  std::vector<Variant>& variants) {
  if (implementation.narrow == NarrowUse::kRequired) return;
  for (const Layout layout : layouts_of(implementation, site))
    if (auto variant = in_layout(site, implementation, layout))
      add_schedules(implementation.space(site, facts), site.is_open ? kOfferedOpen : kOffered, *std::move(variant),
                    variants);
}

/// All ports narrow; before an anchor also the inputs alone, so that what follows may need every bit of its result.
void add_narrow_variants(const Site& site, const Facts& facts, const Implementation& implementation,
                         std::vector<Variant>& variants) {
  const std::optional<ElementType> element = narrow_element_of(site);
  if (!element || implementation.narrow == NarrowUse::kRefused) return;
  const std::size_t most = implementation.narrow == NarrowUse::kRequired ? kOffered : kOfferedNarrow;
  for (const Layout layout : layouts_of(implementation, site)) {
    const auto full = in_layout(site, implementation, layout);
    if (!full) continue;
    const std::vector<Schedule> schedules = implementation.space(site, facts);
    if (auto narrow = narrow_variant(site.graph, site.region, *full, *element))
      add_schedules(schedules, most, *std::move(narrow), variants);
    if (site.anchor == nullptr) continue;
    if (auto narrow = narrow_variant(site.graph, site.region, *full, *element, NarrowPorts::kInputs))
      add_schedules(schedules, 1, *std::move(narrow), variants);
  }
}

/// Formats are as free as names.
std::expected<void, Refusal> check_narrow(const Site& site, const Implementation& implementation,
                                          const Variant& variant) {
  const auto is_narrow = [](const Format& format) { return format.narrow().has_value(); };
  if (implementation.narrow == NarrowUse::kRequired && !std::ranges::any_of(variant.input_formats, is_narrow))
    return refuse(RefusalReason::kFormat, std::string(implementation.name) + " of full inputs");
  if (!has_narrow_port(variant)) return {};
  const std::optional<ElementType> element = narrow_element_of(site);
  const auto fits = [&](const Format& format) { return !is_narrow(format) || format.narrow() == element; };
  if (element && implementation.narrow != NarrowUse::kRefused && std::ranges::all_of(variant.input_formats, fits) &&
      std::ranges::all_of(variant.output_formats, fits))
    return {};
  return refuse(RefusalReason::kFormat, "narrow ports: " + variant.name);
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
    for (const Implementation* implementation : fitting) add_narrow_variants(site, *facts, *implementation, variants);
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
        return is_way(way_of(name), implementation, layout);
      });
      if (!has_layout) return refuse(RefusalReason::kCompile, "no such layout: " + variant.name);
      if (auto ok = check_narrow(site, implementation, variant); !ok) return std::unexpected(ok.error());
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
    return refuse(RefusalReason::kShape,
                  std::string(chosen->implementation->name) + " handles " + lowering.complaint());
  return lowering.take(name);
}

}  // namespace collage::native
