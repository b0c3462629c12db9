#include "store/keys.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/hash.h"
#include "region/narrow_variant.h"

namespace collage {
namespace {

/// Of how times are taken: raised when times taken before do not compare with those taken now.
constexpr int kTiming = 2;

/// Every field that a key may have.
constexpr std::array<std::string_view, 16> kFields = {"region",    "convert", "variant", "in",    "out",     "from",
                                                      "to",        "backend", "version", "build", "threads", "accuracy",
                                                      "displaced", "timing",  "machine", "place"};

std::string surroundings(const BackendInfo& backend, const MeasureContext& context, Accuracy accuracy) {
  return fmt::format("backend={} version={} build={} threads={} accuracy={} displaced={} timing={} machine={}",
                     backend.name, backend.version, backend.build, context.threads, name_of(accuracy),
                     context.displaced_bytes, kTiming, context.machine);
}

std::string content_hash_of(const Tensor& tensor) {
  std::string text = to_string(tensor.value_type()) + ' ' + hash_hex(tensor.data.data(), tensor.data.size());
  for (const std::string& element : tensor.strings) text += fmt::format(" {}:{}", element.size(), element);
  return hash_hex(text);
}

}  // namespace

std::string names_of(const std::vector<Format>& formats) {
  std::string text;
  for (const Format& format : formats) text += (text.empty() ? "" : ",") + format.name;
  return text;
}

std::string region_key(const std::string& structure_key) { return "region=" + hash_hex(structure_key); }

std::string cost_key(const std::string& structure_key, const Variant& variant, const BackendInfo& backend,
                     const MeasureContext& context) {
  return fmt::format("{} variant={} in={} out={} {}", region_key(structure_key), variant.name,
                     names_of(variant.input_formats), names_of(variant.output_formats),
                     surroundings(backend, context, class_of(variant, context.accuracy)));
}

std::string text_of(const Conversion& conversion) {
  return fmt::format("{} from={} to={}", to_string(conversion.type), to_string(conversion.from),
                     to_string(conversion.to));
}

std::string conversion_key(const Conversion& conversion, const BackendInfo& backend, const MeasureContext& context) {
  const Accuracy accuracy = conversion.keeps_elements() ? without_16_bits(context.accuracy) : context.accuracy;
  return fmt::format("convert={} {}", text_of(conversion), surroundings(backend, context, accuracy));
}

std::string artifact_key(const std::string& cost_key, const std::string& place_hash) {
  return cost_key + " place=" + place_hash;
}

std::string numbers_key(const std::string& cost_key, const std::string& place_hash) {
  return "numbers " + artifact_key(cost_key, place_hash);
}

std::vector<std::pair<std::string, std::string>> fields_of(std::string_view key) {
  struct Start {
    std::size_t at;
    std::string_view name;
  };
  std::vector<Start> starts;
  for (const std::string_view name : kFields) {
    const std::string sign = std::string(name) + "=";
    for (std::size_t at = key.find(sign); at != std::string_view::npos; at = key.find(sign, at + 1))
      if (at == 0 || key[at - 1] == ' ') {
        starts.push_back({at, name});
        break;  // values may look like fields, such as a machine's name
      }
  }
  std::ranges::sort(starts, {}, &Start::at);
  std::vector<std::pair<std::string, std::string>> fields;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t begin = starts[i].at + starts[i].name.size() + 1;
    const std::size_t end = i + 1 < starts.size() ? starts[i + 1].at - 1 : key.size();
    fields.emplace_back(starts[i].name, key.substr(begin, end - std::min(end, begin)));
  }
  return fields;
}

std::map<std::string, std::string> fields_by_name(std::string_view key) {
  std::map<std::string, std::string> fields;
  for (auto& [name, value] : fields_of(key)) fields.emplace(name, std::move(value));
  return fields;
}

std::string field_of(std::string_view key, std::string_view name) {
  for (auto& [field, value] : fields_of(key))
    if (field == name) return std::move(value);
  return "";
}

std::string weights_hash(const Graph& graph, const Region& region, ConstantHashes& known) {
  std::string text;
  for (const ValueId id : region.constants) {
    std::string& hash = known[id];
    if (hash.empty()) hash = content_hash_of(*graph.value(id).constant);
    text += hash + '\n';
  }
  return hash_hex(text);
}

std::string weights_hash(const Graph& graph, const Region& region) {
  ConstantHashes known;
  return weights_hash(graph, region, known);
}

std::string place_hash(const Graph& graph, const Region& region, ConstantHashes& known) {
  std::string text = weights_hash(graph, region, known);
  for (const auto& ports : {region.inputs, region.outputs}) {
    text += '\n';
    for (const ValueId id : ports) text += fmt::format("{}:{} ", graph.value(id).name.size(), graph.value(id).name);
  }
  return hash_hex(text);
}

}  // namespace collage
