#include "serve/request_reader.h"

#include <limits>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "base/json.h"

namespace collage {
namespace {

constexpr std::size_t kDeepest = 32;
/// Inputs, outputs or axes; a model with more does not exist.
constexpr std::size_t kMost = 1024;

using Scalar = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string>;

/// What the innermost open list or object is.
enum class RequestPlace : std::uint8_t {
  kRequest,
  kRequestParameters,
  kInputs,
  kInput,
  kInputParameters,
  kShape,
  kData,
  kOutputs,
  kOutput,
  kOutputParameters,
  kOther  ///< of a key that means nothing here: skipped
};

class RequestReader final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(std::int64_t value) override { return scalar(value); }
  bool number_unsigned(std::uint64_t value) override { return scalar(value); }
  bool number_float(double value, const std::string&) override { return scalar(value); }
  bool string(std::string& value) override { return scalar(std::move(value)); }
  bool binary(Json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override;
  bool parse_error(std::size_t at, const std::string&, const Json::exception& exception) override {
    return refuse("serve/malformed-json", fmt::format("byte {}", at), exception.what(), "JSON");
  }

  Result<InferRequest> take();

 private:
  bool refuse(std::string code, std::string where, std::string saw, std::string allowed);
  bool wrong(std::string saw, std::string allowed) {
    return refuse("serve/bad-request", where(), std::move(saw), std::move(allowed));
  }
  [[nodiscard]] std::string where() const;
  [[nodiscard]] RequestPlace place() const { return places_.empty() ? RequestPlace::kOther : places_.back(); }
  bool open(bool is_object);
  bool open_as(RequestPlace place, bool is_right_kind, const char* allowed);
  bool close();
  bool scalar(Scalar value);
  bool add_element(Scalar& value);
  bool add_extent(const Scalar& value);
  [[nodiscard]] bool needs_extension() const;
  bool refuse_extension();
  bool open_parameter();
  bool set_parameter(const Scalar& value);
  bool set_text(std::string& target, Scalar& value);
  bool set_flag(const Scalar& value, bool& target);
  bool set_count(const Scalar& value, std::optional<std::uint64_t>& target);

  InferRequest request_;
  std::vector<RequestPlace> places_;
  std::vector<bool> objects_;                ///< of each place: an object, not a list
  std::vector<std::set<std::string>> keys_;  ///< of each open object
  std::string key_;
  bool has_inputs_ = false;
  std::optional<Error> error_;
};

bool RequestReader::refuse(std::string code, std::string where, std::string saw, std::string allowed) {
  if (!error_)
    error_ = fail(ExitCode::kBadInput, std::move(code), std::move(where), std::move(saw), std::move(allowed)).error();
  return false;
}

std::string RequestReader::where() const {
  const auto in_list = [](const char* list, std::size_t size) { return fmt::format("{}[{}]", list, size - 1); };
  switch (place()) {
    case RequestPlace::kInputs:
      return "inputs";
    case RequestPlace::kInput:
      return in_list("inputs", request_.inputs.size()) + "." + key_;
    case RequestPlace::kInputParameters:
      return in_list("inputs", request_.inputs.size()) + ".parameters." + key_;
    case RequestPlace::kShape:
      return in_list("inputs", request_.inputs.size()) + ".shape";
    case RequestPlace::kData:
      return in_list("inputs", request_.inputs.size()) + ".data";
    case RequestPlace::kOutputs:
      return "outputs";
    case RequestPlace::kOutput:
      return in_list("outputs", request_.outputs->size()) + "." + key_;
    case RequestPlace::kOutputParameters:
      return in_list("outputs", request_.outputs->size()) + ".parameters." + key_;
    case RequestPlace::kRequestParameters:
      return "parameters." + key_;
    case RequestPlace::kRequest:
      return key_;
    case RequestPlace::kOther:
      return "request";
  }
  return "request";
}

bool RequestReader::key(std::string& name) {
  if (keys_.back().size() >= kMost) return wrong("too many keys", fmt::format("at most {}", kMost));
  key_ = name;
  if (!keys_.back().insert(name).second) return wrong("the key '" + name + "' twice", "each key once");
  return true;
}

bool RequestReader::open_as(RequestPlace place, bool is_right_kind, const char* allowed) {
  if (!is_right_kind) return wrong("another kind of value", allowed);
  places_.push_back(place);
  return true;
}

bool RequestReader::open(bool is_object) {
  if (places_.size() >= kDeepest) return wrong("deeper nesting", fmt::format("{} levels", kDeepest));
  const bool is_first = places_.empty();
  const RequestPlace outer = place();
  if (outer == RequestPlace::kData && is_object) return wrong("an object", "numbers");
  bool good = true;
  if (is_first) {
    good = open_as(RequestPlace::kRequest, is_object, "an object");
  } else if (outer == RequestPlace::kRequest && key_ == "inputs") {
    has_inputs_ = true;
    good = open_as(RequestPlace::kInputs, !is_object, "a list of inputs");
  } else if (outer == RequestPlace::kRequest && key_ == "outputs") {
    good = open_as(RequestPlace::kOutputs, !is_object, "a list of outputs");
    if (good) request_.outputs.emplace();
  } else if (outer == RequestPlace::kRequest && key_ == "parameters") {
    good = open_as(RequestPlace::kRequestParameters, is_object, "an object");
  } else if (outer == RequestPlace::kRequest && key_ == "id") {
    return wrong("a list or an object", "text");
  } else if (outer == RequestPlace::kInputs) {
    if (request_.inputs.size() >= kMost) return wrong("more inputs", fmt::format("at most {}", kMost));
    good = open_as(RequestPlace::kInput, is_object, "objects");
    if (good) request_.inputs.emplace_back();
  } else if (outer == RequestPlace::kOutputs) {
    if (request_.outputs->size() >= kMost) return wrong("more outputs", fmt::format("at most {}", kMost));
    good = open_as(RequestPlace::kOutput, is_object, "objects");
    if (good) request_.outputs->emplace_back();
  } else if (outer == RequestPlace::kInput && key_ == "shape") {
    good = open_as(RequestPlace::kShape, !is_object, "a list of extents");
    if (good) request_.inputs.back().shape.emplace();
  } else if (outer == RequestPlace::kInput && key_ == "data") {
    good = open_as(RequestPlace::kData, !is_object, "a list of numbers or text");
    if (good) request_.inputs.back().data.emplace().open_list();
  } else if (outer == RequestPlace::kData) {
    good = open_as(RequestPlace::kData, true, "");
    request_.inputs.back().data->open_list();
  } else if ((outer == RequestPlace::kInput || outer == RequestPlace::kOutput) && key_ == "parameters") {
    good = open_as(outer == RequestPlace::kInput ? RequestPlace::kInputParameters : RequestPlace::kOutputParameters,
                   is_object, "an object");
  } else if (outer == RequestPlace::kShape) {
    return wrong("a list or an object", "extents");
  } else if ((outer == RequestPlace::kInput || outer == RequestPlace::kOutput) &&
             (key_ == "name" || key_ == "datatype")) {
    return wrong("a list or an object", "text");
  } else if (outer == RequestPlace::kRequestParameters || outer == RequestPlace::kInputParameters ||
             outer == RequestPlace::kOutputParameters) {
    good = open_parameter();
  } else {
    places_.push_back(RequestPlace::kOther);
  }
  if (good && is_object) keys_.emplace_back();
  if (good) objects_.push_back(is_object);
  return good;
}

bool RequestReader::close() {
  if (places_.back() == RequestPlace::kData) request_.inputs.back().data->close_list();
  places_.pop_back();
  if (objects_.back()) keys_.pop_back();
  objects_.pop_back();
  return true;
}

bool RequestReader::add_element(Scalar& value) {
  JsonData& data = *request_.inputs.back().data;
  if (const auto* flag = std::get_if<bool>(&value))
    data.add(*flag);
  else if (const auto* negative = std::get_if<std::int64_t>(&value))
    data.add(*negative);
  else if (const auto* whole = std::get_if<std::uint64_t>(&value))
    data.add(*whole);
  else if (const auto* real = std::get_if<double>(&value))
    data.add(*real);
  else if (auto* text = std::get_if<std::string>(&value))
    data.add(std::move(*text));
  else
    return wrong("null", "numbers, true, false or text");
  return true;
}

bool RequestReader::add_extent(const Scalar& value) {
  Extents& shape = *request_.inputs.back().shape;
  if (shape.size() >= kDeepest) return wrong("more axes", fmt::format("at most {}", kDeepest));
  const auto* extent = std::get_if<std::uint64_t>(&value);
  if (extent == nullptr || *extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return wrong("an extent that is no whole number from 0", "whole numbers");
  shape.push_back(static_cast<std::int64_t>(*extent));
  return true;
}

bool RequestReader::set_text(std::string& target, Scalar& value) {
  auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) return wrong("no text", "text");
  target = std::move(*text);
  return true;
}

bool RequestReader::set_flag(const Scalar& value, bool& target) {
  const auto* flag = std::get_if<bool>(&value);
  if (flag == nullptr) return wrong("another value", "true or false");
  target = *flag;
  return true;
}

bool RequestReader::set_count(const Scalar& value, std::optional<std::uint64_t>& target) {
  const auto* count = std::get_if<std::uint64_t>(&value);
  if (count == nullptr) return wrong("another value", "a whole number from 0");
  target = *count;
  return true;
}

/// True for 0, false and "": a client's way to say that it does not use the parameter.
bool is_unused(const Scalar& value) {
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return *count == 0;
  if (const auto* flag = std::get_if<bool>(&value)) return !*flag;
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  return std::holds_alternative<std::nullptr_t>(value);
}

/// Parameters that would change the answer are refused; others have no effect, as the protocol allows.
bool RequestReader::needs_extension() const {
  return key_.starts_with("sequence_") || key_.starts_with("shared_memory_") || key_ == "classification";
}

bool RequestReader::refuse_extension() {
  return refuse("serve/unsupported", where(), "a value", "none: this server does not have this extension");
}

/// A list or an object as a parameter.
bool RequestReader::open_parameter() {
  if (needs_extension()) return refuse_extension();
  const bool of_request = place() == RequestPlace::kRequestParameters;
  if ((of_request && key_ == "timeout") || (place() == RequestPlace::kInputParameters && key_ == "binary_data_size"))
    return wrong("a list or an object", "a whole number from 0");
  if ((of_request && key_ == "binary_data_output") ||
      (place() == RequestPlace::kOutputParameters && key_ == "binary_data"))
    return wrong("a list or an object", "true or false");
  return open_as(RequestPlace::kOther, true, "");
}

bool RequestReader::set_parameter(const Scalar& value) {
  const bool of_request = place() == RequestPlace::kRequestParameters;
  if (of_request && key_ == "timeout") return set_count(value, request_.timeout_us);
  if (of_request && key_ == "binary_data_output") return set_flag(value, request_.binary_outputs);
  if (place() == RequestPlace::kInputParameters && key_ == "binary_data_size")
    return set_count(value, request_.inputs.back().binary_bytes);
  if (place() == RequestPlace::kOutputParameters && key_ == "binary_data")
    return set_flag(value, request_.outputs->back().is_binary.emplace());
  return !needs_extension() || is_unused(value) || refuse_extension();
}

bool RequestReader::scalar(Scalar value) {
  switch (place()) {
    case RequestPlace::kData:
      return add_element(value);
    case RequestPlace::kShape:
      return add_extent(value);
    case RequestPlace::kRequestParameters:
    case RequestPlace::kInputParameters:
    case RequestPlace::kOutputParameters:
      return set_parameter(value);
    case RequestPlace::kInputs:
    case RequestPlace::kOutputs:
      return wrong("a value", "objects");
    case RequestPlace::kInput:
      if (key_ == "name") return set_text(request_.inputs.back().name, value);
      if (key_ == "datatype") return set_text(request_.inputs.back().datatype, value);
      if (key_ == "shape" || key_ == "data" || key_ == "parameters") return wrong("a value", "a list or an object");
      return true;
    case RequestPlace::kOutput:
      if (key_ == "name") return set_text(request_.outputs->back().name, value);
      if (key_ == "parameters") return wrong("a value", "an object");
      return true;
    case RequestPlace::kRequest:
      if (key_ == "id") return set_text(request_.id, value);
      if (key_ == "inputs" || key_ == "outputs" || key_ == "parameters") return wrong("a value", "a list or an object");
      return true;
    case RequestPlace::kOther:
      return !places_.empty() || wrong("a value", "an object");
  }
  return false;
}

Result<InferRequest> RequestReader::take() {
  if (!error_ && !has_inputs_) (void)refuse("serve/bad-request", "request", "no key 'inputs'", "a list of inputs");
  if (error_) return std::unexpected(std::move(*error_));
  return std::move(request_);
}

}  // namespace

Result<InferRequest> read_infer_request(std::string_view text) {
  RequestReader reader;
  (void)Json::sax_parse(text, &reader);
  return reader.take();
}

}  // namespace collage
