#include <algorithm>

#include "family.h"

namespace collage::host {
namespace {

std::optional<std::uint32_t> position(const std::vector<ValueId>& list, ValueId id) {
  const auto found = std::ranges::find(list, id);
  if (found == list.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - list.begin());
}

}  // namespace

std::optional<std::vector<std::int64_t>> Site::integers(std::size_t i) const {
  const Tensor* constant = constant_of(graph, input_of(node, i));
  return constant != nullptr ? integers_of(*constant) : std::nullopt;
}

std::optional<std::uint32_t> Site::input_port(ValueId id) const { return position(region.inputs, id); }

std::optional<std::uint32_t> Site::output_port(ValueId id) const { return position(region.outputs, id); }

Variant uniform_variant(const Site& site, const Format& format, std::size_t rank) {
  const auto choose = [&](ValueId id) {
    const ValueType& type = site.type(id);
    return !format.is_plain() && can_be_channels_last(type) && type.extents().size() == rank ? format : plain();
  };
  Variant variant{.name = format.name, .input_formats = {}, .output_formats = {}};
  for (const ValueId id : site.region.inputs) variant.input_formats.push_back(choose(id));
  for (const ValueId id : site.region.outputs) variant.output_formats.push_back(choose(id));
  return variant;
}

std::vector<Variant> uniform_variants(const Site& site) {
  const std::size_t rank = site.type(site.region.outputs.front()).extents().size();
  std::vector<Variant> variants = {uniform_variant(site, plain(), rank)};
  Variant last = uniform_variant(site, channels_last(), rank);
  const auto is_last = [](const Format& format) { return format.is_channels_last(); };
  if (std::ranges::all_of(last.output_formats, is_last) && std::ranges::any_of(last.input_formats, is_last))
    variants.push_back(std::move(last));
  return variants;
}

}  // namespace collage::host
