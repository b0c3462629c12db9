#include "backends/openvino/compiled.h"

#include <algorithm>
#include <array>
#include <openvino/op/parameter.hpp>
#include <openvino/op/result.hpp>
#include <openvino/runtime/intel_cpu/properties.hpp>
#include <spanstream>
#include <sstream>
#include <stdexcept>

#include "backends/common/engine/engine_artifact.h"
#include "backends/common/engine/engine_support.h"
#include "base/number_text.h"

namespace collage {
namespace {

constexpr const char* kDevice = "CPU";

/// One request at a time on `threads` threads that stay where the system puts them; kFull keeps f32 (no bf16, no
/// dynamic quantisation).
ov::AnyMap settings(int threads, Precision precision) {
  ov::AnyMap map = {ov::inference_num_threads(threads), ov::num_streams(1), ov::hint::enable_cpu_pinning(false),
                    ov::hint::scheduling_core_type(ov::hint::SchedulingCoreType::ANY_CORE)};
  if (precision == Precision::kDefault) return map;
  const auto set = [&](const std::pair<std::string, ov::Any>& one) { map.insert(one); };
  set(ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY));
  if (precision == Precision::kNarrow) {
    set(ov::hint::inference_precision(ov::element::bf16));
    set(ov::hint::dynamic_quantization_group_size(0));
    return map;
  }
  set(ov::hint::execution_mode(ov::hint::ExecutionMode::ACCURACY));
  set(ov::hint::inference_precision(ov::element::f32));
  set(ov::hint::dynamic_quantization_group_size(0));
  set(ov::hint::kv_cache_precision(ov::element::f32));
  return map;
}

constexpr std::array<std::pair<Precision, std::string_view>, 3> kPrecisionNames = {
    {{Precision::kFull, "full"}, {Precision::kNarrow, "narrow"}, {Precision::kDefault, "default"}}};

std::string name_of(Precision precision) {
  const auto* const found = std::ranges::find(kPrecisionNames, precision, [](const auto& one) { return one.first; });
  return std::string(found->second);
}

/// Of an artifact; those without the field are of full precision.
Precision precision_in(const EngineArtifact& artifact) {
  const std::string name = field_or_empty(artifact, "precision");
  const auto* const found = std::ranges::find(kPrecisionNames, name, [](const auto& one) { return one.second; });
  return found == kPrecisionNames.end() ? Precision::kFull : found->first;
}

std::size_t find_port(const std::vector<ov::Output<const ov::Node>>& ports, const WantedPort& wanted) {
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].get_names().contains(wanted.name)) continue;
    if (ports[i].get_element_type() != to_openvino(wanted.element))
      throw std::runtime_error("port '" + wanted.name + "' is " + ports[i].get_element_type().to_string() +
                               " instead of " + std::string(name_of(wanted.element)));
    return i;
  }
  throw std::runtime_error("the model has no input or output '" + wanted.name + "'");
}

std::vector<std::size_t> find_ports(const std::vector<ov::Output<const ov::Node>>& ports,
                                    const std::vector<WantedPort>& wanted) {
  std::vector<std::size_t> indices;
  for (const WantedPort& one : wanted) indices.push_back(find_port(ports, one));
  return indices;
}

std::string to_text(const std::vector<std::size_t>& indices) {
  std::string text;
  for (const std::size_t index : indices) text += (text.empty() ? "" : ",") + std::to_string(index);
  return text;
}

/// Indices below `count`, as to_text wrote them.
std::optional<std::vector<std::size_t>> indices_of(std::string_view text, std::size_t count) {
  std::vector<std::size_t> indices;
  while (!text.empty()) {
    const auto index = take_number<std::size_t>(text);
    if (!index || *index >= count) return std::nullopt;
    indices.push_back(*index);
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return indices;
}

ov::CompiledModel import_blob(ov::Core& core, std::string_view blob, int threads, Precision precision) {
  std::ispanstream stream(std::span(blob.data(), blob.size()));
  return core.import_model(stream, kDevice, settings(threads, precision));
}

ov::CompiledModel compile_bytes(ov::Core& core, std::string_view onnx, int threads, Precision precision) {
  const std::shared_ptr<ov::Model> model = core.read_model(std::string(onnx), ov::Tensor());
  return core.compile_model(model, kDevice, settings(threads, precision));
}

/// An output that is an input as it came: the library hands out the input's memory and never writes the output's.
void refuse_passed_inputs(const ov::CompiledModel& compiled) {
  const std::shared_ptr<const ov::Model> graph = compiled.get_runtime_model();
  for (const auto& result : graph->get_results())
    if (ov::is_type<ov::op::v0::Parameter>(result->get_input_node_shared_ptr(0)))
      throw std::runtime_error("an output is an input, and its memory is never written");
}

}  // namespace

ov::element::Type to_openvino(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return ov::element::f32;
    case ElementType::kFloat16:
      return ov::element::f16;
    case ElementType::kBfloat16:
      return ov::element::bf16;
    case ElementType::kFloat64:
      return ov::element::f64;
    case ElementType::kUint8:
      return ov::element::u8;
    case ElementType::kInt8:
      return ov::element::i8;
    case ElementType::kUint16:
      return ov::element::u16;
    case ElementType::kInt16:
      return ov::element::i16;
    case ElementType::kInt32:
      return ov::element::i32;
    case ElementType::kInt64:
      return ov::element::i64;
    case ElementType::kUint32:
      return ov::element::u32;
    case ElementType::kUint64:
      return ov::element::u64;
    case ElementType::kBool:
      return ov::element::boolean;
    default:
      return ov::element::dynamic;
  }
}

ElementType from_openvino(ov::element::Type type) {
  for (std::uint8_t i = 1; i <= static_cast<std::uint8_t>(ElementType::kBfloat16); ++i)
    if (to_openvino(ElementType{i}) == type) return ElementType{i};
  return ElementType::kUndefined;
}

std::expected<OpenvinoModel, std::string> compile_onnx(const std::shared_ptr<ov::Core>& core, std::string_view onnx,
                                                       int threads, Precision precision,
                                                       const std::vector<WantedPort>& inputs,
                                                       const std::vector<WantedPort>& outputs) {
  return guard([&] {
    OpenvinoModel model{
        .core = core, .compiled = compile_bytes(*core, onnx, threads, precision), .inputs = {}, .outputs = {}};
    refuse_passed_inputs(model.compiled);
    model.inputs = find_ports(model.compiled.inputs(), inputs);
    model.outputs = find_ports(model.compiled.outputs(), outputs);
    return model;
  });
}

std::string store(const OpenvinoModel& model, std::string_view onnx, int threads, Precision precision, Form form) {
  EngineArtifact artifact{.fields = {{"inputs", to_text(model.inputs)}, {"outputs", to_text(model.outputs)}},
                          .payload = onnx};
  artifact.fields["form"] = "onnx";
  artifact.fields["precision"] = name_of(precision);
  if (form == Form::kModel) return pack_artifact(artifact);
  const auto blob = guard([&] {
    std::ostringstream stream;
    const_cast<ov::CompiledModel&>(model.compiled).export_model(stream);
    std::string bytes = std::move(stream).str();
    const ov::CompiledModel back = import_blob(*model.core, bytes, threads, precision);
    if (back.inputs().size() != model.compiled.inputs().size() ||
        back.outputs().size() != model.compiled.outputs().size())
      throw std::runtime_error("the blob has other ports");
    return bytes;
  });
  if (blob) {
    artifact.fields["form"] = "blob";
    artifact.payload = *blob;
  }
  return pack_artifact(artifact);
}

Result<std::shared_ptr<OpenvinoModel>> restore(const std::shared_ptr<ov::Core>& core, std::string_view artifact,
                                               int threads, const std::string& where) {
  COLLAGE_TRY(const EngineArtifact fields, unpack_artifact(artifact, where));
  const bool is_blob = field_or_empty(fields, "form") == "blob";
  auto model = std::make_shared<OpenvinoModel>();
  model->core = core;
  const Precision precision = precision_in(fields);
  const auto made = guard([&] {
    model->compiled = is_blob ? import_blob(*core, fields.payload, threads, precision)
                              : compile_bytes(*core, fields.payload, threads, precision);
  });
  if (!made) return library_failed(where, made.error());
  const auto inputs = indices_of(field_or_empty(fields, "inputs"), model->compiled.inputs().size());
  const auto outputs = indices_of(field_or_empty(fields, "outputs"), model->compiled.outputs().size());
  if (!inputs || !outputs)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", where, "ports that the model does not have",
                "an artifact of this backend");
  model->inputs = *inputs;
  model->outputs = *outputs;
  return model;
}

}  // namespace collage
