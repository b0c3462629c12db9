#include "region/narrow_variant.h"

#include <algorithm>
#include <cctype>

namespace collage {
namespace {

/// Whether a port became narrow.
bool narrow_formats(const Graph& graph, const std::vector<ValueId>& ids, ElementType element,
                    std::vector<Format>& formats) {
  bool has_changed = false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const ValueType& type = graph.value(ids[i]).type;
    if (!is_common(formats[i]) || formats[i].narrow() || !type.is_static()) continue;
    const Format narrow = stored_as(formats[i], element);
    if (!can_have_common_format(type, narrow)) continue;
    formats[i] = narrow;
    has_changed = true;
  }
  return has_changed;
}

std::string_view suffix_of(NarrowPorts ports) {
  switch (ports) {
    case NarrowPorts::kAll:
      return "";
    case NarrowPorts::kInputs:
      return "_in";
    case NarrowPorts::kOutputs:
      return "_out";
  }
  return "";
}

/// "direct.nhwc.bf16_in/rows=1" and "any+bf16" have the word "bf16"; "xbf16" does not.
bool has_word(std::string_view name, std::string_view word) {
  const auto is_letter = [&](std::size_t i) {
    return i < name.size() && std::isalnum(static_cast<unsigned char>(name[i])) != 0;
  };
  for (std::size_t at = name.find(word); at != std::string_view::npos; at = name.find(word, at + 1))
    if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + word.size())) return true;
  return false;
}

std::optional<ElementType> element_in_name(std::string_view name) {
  for (const ElementType element : {ElementType::kBfloat16, ElementType::kFloat16, ElementType::kInt16})
    if (has_word(name, name_of(element))) return element;
  return std::nullopt;
}

std::optional<ElementType> element_at_ports(const Variant& variant) {
  for (const std::vector<Format>* formats : {&variant.input_formats, &variant.output_formats})
    for (const Format& format : *formats)
      if (const auto element = format.narrow()) return element;
  return std::nullopt;
}

}  // namespace

std::optional<Variant> narrow_variant(const Graph& graph, const Region& region, const Variant& variant,
                                      ElementType element, NarrowPorts ports) {
  Variant narrow = variant;
  bool has_changed = false;
  if (ports != NarrowPorts::kOutputs)
    has_changed |= narrow_formats(graph, region.inputs, element, narrow.input_formats);
  if (ports != NarrowPorts::kInputs)
    has_changed |= narrow_formats(graph, region.outputs, element, narrow.output_formats);
  if (!has_changed) return std::nullopt;
  if (narrow.name != "view") narrow.name = stored_as({narrow.name}, element).name + std::string(suffix_of(ports));
  return narrow;
}

bool is_split(const Variant& variant) { return has_word(variant.name, kSplitFloats); }

bool multiplies_fixed_point(const Variant& variant) { return has_word(variant.name, name_of(ElementType::kInt16)); }

bool has_few_bits(const Variant& variant) { return has_16_bits(variant) || is_split(variant); }

bool has_narrow_port(const Variant& variant) { return element_at_ports(variant).has_value(); }

std::optional<ElementType> narrow_element_in(const Variant& variant) {
  if (const auto element = element_in_name(variant.name)) return element;
  return variant.name == "view" ? std::nullopt : element_at_ports(variant);
}

}  // namespace collage
