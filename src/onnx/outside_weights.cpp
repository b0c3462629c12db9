#include "onnx/outside_weights.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "ir/onnx_wire.h"

namespace collage {
namespace {

constexpr std::uint64_t kGraph = onnx::ModelProto::kGraphFieldNumber;
constexpr std::uint64_t kInitializer = onnx::GraphProto::kInitializerFieldNumber;
constexpr std::uint64_t kRawData = onnx::TensorProto::kRawDataFieldNumber;

void append_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7F) | 0x80);
  bytes += static_cast<char>(value);
}

void append_delimited(std::string& bytes, std::uint64_t number, std::string_view contents) {
  append_varint(bytes, number << 3 | static_cast<std::uint64_t>(WireType::kDelimited));
  append_varint(bytes, contents.size());
  bytes += contents;
}

/// Visits the fields of a message: `visit(field, its bytes with the key)`. False for bytes that are no message.
template <class Visit>
bool for_each_field(std::string_view message, Visit&& visit) {
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t start = at;
    WireField field;
    if (read_field(message, at, field) != WireFault::kNone) return false;
    visit(field, message.substr(start, at - start));
  }
  return true;
}

/// A tensor without its bytes, and these.
struct SplitTensor {
  onnx::TensorProto description;
  std::string_view bytes;
};

/// Nothing for a tensor that does not store all of its elements as raw bytes.
std::optional<SplitTensor> split(std::string_view tensor) {
  SplitTensor parts;
  std::string rest;
  std::size_t raw_fields = 0;
  const bool is_whole = for_each_field(tensor, [&](const WireField& field, std::string_view whole) {
    const bool is_raw = field.number == kRawData && field.type == WireType::kDelimited;
    if (!is_raw) rest += whole;
    if (is_raw) parts.bytes = field.contents;
    raw_fields += is_raw ? 1 : 0;
  });
  if (!is_whole || raw_fields != 1 || !parts.description.ParseFromString(rest)) return std::nullopt;
  if (parts.description.has_segment() || parts.description.has_data_location()) return std::nullopt;
  return parts;
}

class WeightTaker {
 public:
  WeightTaker(const Graph& graph, std::span<const ValueId> candidates, const OutsideOptions& options)
      : graph_(graph), options_(options) {
    for (const ValueId id : candidates)
      if (const Value& value = graph.value(id); value.constant && value.constant->data.size() > options.inline_limit)
        by_name_.emplace(value.name, id);
  }

  OutsideWeights take(std::string_view model) {
    OutsideWeights made;
    const bool is_model = for_each_field(model, [&](const WireField& field, std::string_view whole) {
      if (field.number != kGraph || field.type != WireType::kDelimited)
        made.model += whole;
      else
        append_delimited(made.model, kGraph, slim_graph(field.contents));
    });
    if (!is_model || !is_graph_) return {.model = std::string(model), .constants = {}};
    made.constants = std::move(constants_);
    return made;
  }

 private:
  std::string slim_graph(std::string_view graph) {
    std::string slim;
    is_graph_ = is_graph_ && for_each_field(graph, [&](const WireField& field, std::string_view whole) {
                  const auto outside = field.number == kInitializer && field.type == WireType::kDelimited
                                           ? outside_tensor(field.contents)
                                           : std::nullopt;
                  if (outside)
                    append_delimited(slim, kInitializer, *outside);
                  else
                    slim += whole;
                });
    return slim;
  }

  /// The initialiser as external data; nothing when it stays.
  std::optional<std::string> outside_tensor(std::string_view tensor) {
    if (tensor.size() <= options_.inline_limit) return std::nullopt;
    auto parts = split(tensor);
    if (!parts) return std::nullopt;
    const auto found = by_name_.find(parts->description.name());
    if (found == by_name_.end() || !is_same(*parts, *graph_.value(found->second).constant)) return std::nullopt;
    const auto add = [&](const char* key, std::string value) {
      auto* entry = parts->description.add_external_data();
      entry->set_key(key);
      entry->set_value(std::move(value));
    };
    add("location", options_.file(constants_.size()));
    add("offset", "0");
    add("length", std::to_string(parts->bytes.size()));
    parts->description.set_data_location(onnx::TensorProto::EXTERNAL);
    constants_.push_back(found->second);
    by_name_.erase(found);
    return parts->description.SerializeAsString();
  }

  static bool is_same(const SplitTensor& tensor, const Tensor& constant) {
    return tensor.description.data_type() == static_cast<int>(constant.type) &&
           std::ranges::equal(tensor.description.dims(), constant.extents) && tensor.bytes == constant.data.text();
  }

  const Graph& graph_;
  const OutsideOptions& options_;
  std::unordered_map<std::string, ValueId> by_name_;
  std::vector<ValueId> constants_;
  bool is_graph_ = true;
};

}  // namespace

OutsideWeights take_weights_outside(std::string_view model, const Graph& graph, std::span<const ValueId> candidates,
                                    const OutsideOptions& options) {
  return WeightTaker(graph, candidates, options).take(model);
}

}  // namespace collage
