#include "measure/keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.h"

namespace collage {
namespace {

std::string names_of(const std::vector<Format>& formats) {
  std::string text;
  for (const Format& format : formats) text += (text.empty() ? "" : ",") + format.name;
  return text;
}

std::string surroundings(const BackendInfo& backend, const MeasureContext& context) {
  return fmt::format("backend={} version={} build={} threads={} accuracy={} machine={}", backend.name, backend.version,
                     backend.build, context.threads, name_of(context.accuracy), context.machine);
}

}  // namespace

std::string cost_key(const std::string& structure_key, const Variant& variant, const BackendInfo& backend,
                     const MeasureContext& context) {
  return fmt::format("region={} variant={} in={} out={} {}", hash_hex(structure_key), variant.name,
                     names_of(variant.input_formats), names_of(variant.output_formats), surroundings(backend, context));
}

std::string conversion_key(const Conversion& conversion, const BackendInfo& backend, const MeasureContext& context) {
  return fmt::format("convert={} from={} to={} {}", to_string(conversion.type), conversion.from.name,
                     conversion.to.name, surroundings(backend, context));
}

std::string artifact_key(const std::string& cost_key, const std::string& weights_hash) {
  return cost_key + " weights=" + weights_hash;
}

std::string weights_hash(const Graph& graph, const Region& region) {
  std::string text;
  for (const ValueId id : region.constants) {
    const Tensor& tensor = *graph.value(id).constant;
    text += to_string(tensor.value_type()) + ' ' + hash_hex(tensor.data.data(), tensor.data.size());
    for (const std::string& element : tensor.strings) text += fmt::format(" {}:{}", element.size(), element);
    text += '\n';
  }
  return hash_hex(text);
}

}  // namespace collage
