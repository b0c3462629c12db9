#include "onnx/parse.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "ir/onnx_outline.h"

namespace collage {
namespace {

/// How many bytes the code point at the front has; 0 when it is not UTF-8.
std::size_t utf8_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  // Overlong forms, surrogates and what lies past the last code point.
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second > 0x8F))
    return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

/// Documentation strings, which are not used anywhere.
bool is_remark(const google::protobuf::FieldDescriptor& field) {
  return field.name() == "doc_string" || field.name() == "metadata_props" || field.name() == "producer_name" ||
         field.name() == "producer_version";
}

/// The first field whose text is not UTF-8, for example "NodeProto.name"; empty when there is none.
std::string field_with_other_bytes(const google::protobuf::Message& message) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  std::string scratch;
  for (const auto* field : fields) {
    const bool is_text = field->type() == google::protobuf::FieldDescriptor::TYPE_STRING;
    const bool is_message = field->cpp_type() == google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE;
    if ((!is_text && !is_message) || is_remark(*field)) continue;
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (is_text) {
        const std::string& text = field->is_repeated()
                                      ? reflection.GetRepeatedStringReference(message, field, i, &scratch)
                                      : reflection.GetStringReference(message, field, &scratch);
        if (!is_utf8(text)) return field->containing_type()->name() + "." + field->name();
        continue;
      }
      std::string found = field_with_other_bytes(field->is_repeated() ? reflection.GetRepeatedMessage(message, field, i)
                                                                      : reflection.GetMessage(message, field));
      if (!found.empty()) return found;
    }
  }
  return {};
}

}  // namespace

Result<void> check_names(const pb::ModelProto& model, const std::string& where) {
  const std::string field = field_with_other_bytes(model);
  if (field.empty()) return {};
  return fail(ExitCode::kBadInput, "import/invalid-model", where, "bytes in " + field + " that are not text",
              "names in UTF-8");
}

Result<pb::ModelProto> parse_model(std::string_view bytes, const std::string& where) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    return fail(ExitCode::kLimit, "import/too-large", where, std::to_string(bytes.size()) + " bytes",
                "at most 2147483647 bytes; keep larger weights in external data");
  if (bytes.starts_with("PK\3\4"))
    return fail(ExitCode::kBadInput, "import/not-onnx", where, "a plan, or another archive",
                "an ONNX model; run, bench, verify, recheck and explain take plans, as regular files");
  const Outline outline = outline_of(bytes);
  if (outline == Outline::kCutOff)
    return fail(ExitCode::kBadInput, "import/truncated", where,
                "a field that runs past the end of the " + std::to_string(bytes.size()) + " bytes",
                "a complete ONNX model");

  pb::ModelProto model;
  bool parsed = false;
  COLLAGE_TRY_VOID(guarded(ExitCode::kBadInput, "import/not-onnx", where, [&] {
    google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream coded(&array);
    parsed = outline == Outline::kModel && model.ParseFromCodedStream(&coded) && coded.ConsumedEntireMessage();
  }));
  if (!parsed)
    return fail(ExitCode::kBadInput, "import/not-onnx", where, "bytes that are not an ONNX message", "an ONNX model");
  if (!model.has_ir_version() || !model.has_graph())
    return fail(ExitCode::kBadInput, "import/not-onnx", where,
                model.has_graph() ? "a message without an IR version" : "a message without a graph", "an ONNX model");
  return model;
}

namespace {

/// The last version of a domain counts, as in ONNX Runtime.
void clean_opsets(google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& opsets) {
  for (auto& opset : opsets)
    if (opset.domain() == "ai.onnx") opset.clear_domain();
  std::set<std::string> seen;
  for (int i = opsets.size() - 1; i >= 0; --i)
    if (!seen.insert(opsets[i].domain()).second) opsets.DeleteSubrange(i, 1);
}

}  // namespace

void normalise_domains(pb::ModelProto& model) {
  const auto clean_nodes = [](auto& nodes) {
    for (auto& node : nodes)
      if (node.domain() == "ai.onnx") node.clear_domain();
  };
  clean_opsets(*model.mutable_opset_import());
  for_each_graph(*model.mutable_graph(), [&](pb::GraphProto& graph) { clean_nodes(*graph.mutable_node()); });
  for (auto& function : *model.mutable_functions()) {
    clean_nodes(*function.mutable_node());
    clean_opsets(*function.mutable_opset_import());
    for (auto& node : *function.mutable_node())
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g())
          for_each_graph(*attribute.mutable_g(), [&](pb::GraphProto& graph) { clean_nodes(*graph.mutable_node()); });
  }
}

Result<void> check_versions(const pb::ModelProto& model, const std::string& where) {
  const std::string allowed =
      "opset " + std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " of the default domain";
  if (model.ir_version() < 3)
    return fail(ExitCode::kUnsupported, "import/opset-too-old", where,
                "IR version " + std::to_string(model.ir_version()) + ", which knows no opsets", allowed);
  if (model.opset_import_size() == 0)
    return fail(ExitCode::kBadInput, "import/invalid-model", where, "no opset_import", "at least one");
  for (const auto& opset : model.opset_import()) {
    if (!opset.domain().empty()) continue;
    if (opset.version() < kOldestOpset)
      return fail(ExitCode::kUnsupported, "import/opset-too-old", where, "opset " + std::to_string(opset.version()),
                  allowed);
    if (opset.version() > kNewestOpset)
      return fail(ExitCode::kUnsupported, "import/opset-too-new", where, "opset " + std::to_string(opset.version()),
                  allowed);
  }
  return {};
}

}  // namespace collage
