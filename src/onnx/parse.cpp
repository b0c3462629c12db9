#include "onnx/parse.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ir/onnx_outline.h"
#include "onnx/wire/survey.h"

namespace collage {
Result<pb::ModelProto> parse_model(std::string_view bytes, const ImportLimits& limits, const std::string& where) {
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
  if (outline == Outline::kModel) COLLAGE_TRY_VOID(survey_message(bytes, limits, where));

  pb::ModelProto model;
  bool parsed = false;
  COLLAGE_TRY_VOID(guarded(ExitCode::kBadInput, "import/not-onnx", where, [&] {
    google::protobuf::io::ArrayInputStream array(bytes.data(), static_cast<int>(bytes.size()));
    google::protobuf::io::CodedInputStream coded(&array);
    coded.SetRecursionLimit(message_depth(limits));
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

/// A domain that is imported twice, at one version as check_declared_versions makes sure, is kept once.
void clean_opsets(google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& opsets) {
  for (auto& opset : opsets)
    if (opset.domain() == "ai.onnx") opset.clear_domain();
  std::set<std::string> seen;
  for (int i = opsets.size() - 1; i >= 0; --i)
    if (!seen.insert(opsets[i].domain()).second) opsets.DeleteSubrange(i, 1);
}

}  // namespace

namespace {

/// Exporters write these without a value where they mean the default; ONNX Runtime takes it so.
bool says_nothing(const pb::AttributeProto& attribute) {
  if (attribute.name() == "auto_pad") return attribute.type() == pb::AttributeProto::STRING && attribute.s().empty();
  return attribute.name() == "activations" && attribute.type() == pb::AttributeProto::STRINGS &&
         attribute.strings_size() == 0;
}

}  // namespace

void drop_empty_attributes(pb::ModelProto& model) {
  const auto clean = [](auto& nodes) {
    for (auto& node : nodes) {
      auto& attributes = *node.mutable_attribute();
      attributes.erase(std::remove_if(attributes.begin(), attributes.end(), says_nothing), attributes.end());
    }
  };
  for_each_graph(*model.mutable_graph(), [&](pb::GraphProto& graph) { clean(*graph.mutable_node()); });
  for (auto& function : *model.mutable_functions()) clean(*function.mutable_node());
}

void normalise_domains(pb::ModelProto& model) {
  const auto clean_nodes = [](auto& nodes) {
    for (auto& node : nodes)
      if (node.domain() == "ai.onnx") node.clear_domain();
  };
  clean_opsets(*model.mutable_opset_import());
  for_each_graph(*model.mutable_graph(), [&](pb::GraphProto& graph) { clean_nodes(*graph.mutable_node()); });
  for (auto& function : *model.mutable_functions()) {
    if (function.domain() == "ai.onnx") function.clear_domain();
    clean_nodes(*function.mutable_node());
    clean_opsets(*function.mutable_opset_import());
    for (auto& node : *function.mutable_node())
      for (auto& attribute : *node.mutable_attribute())
        if (attribute.has_g())
          for_each_graph(*attribute.mutable_g(), [&](pb::GraphProto& graph) { clean_nodes(*graph.mutable_node()); });
  }
}

namespace {

/// Two versions of a domain would give its operators two meanings.
Result<void> check_imported_once(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& opsets,
                                 const std::string& where) {
  std::map<std::string, std::int64_t> versions;
  for (const auto& opset : opsets) {
    const std::string domain = opset.domain() == "ai.onnx" ? "" : opset.domain();
    const auto [known, is_new] = versions.emplace(domain, opset.version());
    if (!is_new && known->second != opset.version())
      return fail(ExitCode::kBadInput, "import/invalid-model", where,
                  "opset_import of domain '" + domain + "' at version " + std::to_string(known->second) + " and " +
                      std::to_string(opset.version()),
                  "one version of each domain");
  }
  return {};
}

}  // namespace

Result<void> check_declared_versions(const pb::ModelProto& model, const std::string& where) {
  const std::string saw = "IR version " + std::to_string(model.ir_version());
  const std::string allowed = "IR version 1 to " + std::to_string(pb::IR_VERSION);
  if (model.ir_version() < 1) return fail(ExitCode::kBadInput, "import/invalid-model", where, saw, allowed);
  if (model.ir_version() > pb::IR_VERSION)
    return fail(ExitCode::kUnsupported, "import/ir-too-new", where, saw, allowed);
  COLLAGE_TRY_VOID(check_imported_once(model.opset_import(), where));
  for (const auto& function : model.functions())
    COLLAGE_TRY_VOID(check_imported_once(function.opset_import(), where + " function '" + function.name() + "'"));
  return {};
}

Result<void> check_versions(const pb::ModelProto& model, const std::string& where) {
  const std::string allowed =
      "opset " + std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset) + " of the default domain";
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
