#include "serve/infer_response.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "serve/datatype.h"
#include "serve/text_tensor.h"

namespace collage {
namespace {

template <class T>
Result<void> write_elements(std::string& json, const std::string& bytes, const std::string& where) {
  auto out = std::back_inserter(json);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if constexpr (std::is_floating_point_v<T>)
      if (!std::isfinite(value))
        return fail(ExitCode::kBadInput, "serve/not-finite", fmt::format("{}[{}]", where, at / sizeof(T)),
                    fmt::format("{} in an output that is asked for as JSON", value),
                    "binary_data for outputs that may be NaN or infinite");
    if (at > 0) json += ',';
    fmt::format_to(out, "{}", value);
  }
  return {};
}

Result<void> write_truth_values(std::string& json, const std::string& bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) json += fmt::format("{}{}", i > 0 ? "," : "", bytes[i] != 0);
  return {};
}

Result<void> write_texts(std::string& json, const PendingOutput& output, const std::string& where) {
  COLLAGE_TRY(const auto texts, texts_in(std::as_bytes(std::span(output.bytes)), output.extents, where));
  for (std::size_t i = 0; i < texts.size(); ++i) json += (i > 0 ? "," : "") + to_line(texts[i]);
  return {};
}

Result<void> write_data(std::string& json, const PendingOutput& output, const std::string& where) {
  switch (output.type) {
    case ElementType::kBool:
      return write_truth_values(json, output.bytes);
    case ElementType::kUint8:
      return write_elements<std::uint8_t>(json, output.bytes, where);
    case ElementType::kUint16:
      return write_elements<std::uint16_t>(json, output.bytes, where);
    case ElementType::kUint32:
      return write_elements<std::uint32_t>(json, output.bytes, where);
    case ElementType::kUint64:
      return write_elements<std::uint64_t>(json, output.bytes, where);
    case ElementType::kInt8:
      return write_elements<std::int8_t>(json, output.bytes, where);
    case ElementType::kInt16:
      return write_elements<std::int16_t>(json, output.bytes, where);
    case ElementType::kInt32:
      return write_elements<std::int32_t>(json, output.bytes, where);
    case ElementType::kInt64:
      return write_elements<std::int64_t>(json, output.bytes, where);
    case ElementType::kFloat32:
      return write_elements<float>(json, output.bytes, where);
    case ElementType::kFloat64:
      return write_elements<double>(json, output.bytes, where);
    case ElementType::kString:
      return write_texts(json, output, where);
    default:
      return fail(ExitCode::kBadInput, "serve/needs-binary", where, fmt::format("{} as JSON", name_of(output.type)),
                  "binary_data for this output");
  }
}

struct AnsweredOutput {
  std::size_t which;
  bool is_binary;
};

std::vector<AnsweredOutput> answered_outputs(const InferRequest& request, const std::vector<TensorPort>& ports) {
  std::vector<AnsweredOutput> answered;
  if (!request.outputs) {
    for (std::size_t o = 0; o < ports.size(); ++o) answered.push_back({o, request.binary_outputs});
    return answered;
  }
  for (const RequestedOutput& output : *request.outputs) {
    const auto found = std::ranges::find(ports, output.name, &TensorPort::name);
    answered.push_back(
        {static_cast<std::size_t>(found - ports.begin()), output.is_binary.value_or(request.binary_outputs)});
  }
  return answered;
}

}  // namespace

Result<InferResponse> make_response(const std::string& model, const InferRequest& request,
                                    const std::vector<TensorPort>& ports, PendingRequest& pending) {
  InferResponse response;
  std::string& json = response.json;
  json = fmt::format(R"({{"model_name":{},"model_version":"1")", to_line(model));
  if (!request.id.empty()) json += fmt::format(R"(,"id":{})", to_line(request.id));
  json += R"(,"outputs":[)";
  bool is_first = true;
  for (const AnsweredOutput& answered : answered_outputs(request, ports)) {
    PendingOutput& output = pending.outputs[answered.which];
    const std::string& name = ports[answered.which].name;
    fmt::format_to(std::back_inserter(json), R"({}{{"name":{},"datatype":"{}","shape":[{}])", is_first ? "" : ",",
                   to_line(name), datatype_of(output.type), fmt::join(output.extents, ","));
    is_first = false;
    if (answered.is_binary) {
      fmt::format_to(std::back_inserter(json), R"(,"parameters":{{"binary_data_size":{}}}}})", output.bytes.size());
      response.binary.push_back(std::move(output.bytes));
      continue;
    }
    json += R"(,"data":[)";
    COLLAGE_TRY_VOID(write_data(json, output, "output " + name));
    json += "]}";
  }
  json += "]}";
  return response;
}

}  // namespace collage
