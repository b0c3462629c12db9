#include "onnx/convert.h"

#include <onnx/defs/schema.h>
#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "onnx/parse.h"

namespace collage {
namespace {

/// The converter names the values it adds "_v_<number>", without looking for values already called so.
bool is_converter_name(const std::string& name) {
  return name.size() > 3 && name.starts_with("_v_") &&
         std::all_of(name.begin() + 3, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// Fresh names for every value that looks like the converter's.
Renames renames_of(const pb::GraphProto& graph, std::string_view stem) {
  Names names(graph);
  Renames renames;
  const auto consider = [&](const std::string& name) {
    if (is_converter_name(name) && !renames.contains(name))
      renames[name] = names.fresh(std::string(stem) + name.substr(3));
  };
  for_each_graph(graph, [&](const pb::GraphProto& one) {
    for (const auto& value : one.input()) consider(value.name());
    for (const auto& tensor : one.initializer()) consider(tensor.name());
    for (const auto& node : one.node())
      for (const auto& name : node.output()) consider(name);
  });
  return renames;
}

Renames inverted(const Renames& renames) {
  Renames result;
  for (const auto& [from, to] : renames) result[to] = from;
  return result;
}

/// The operators of the model whose meaning is newer than the canonical opset, for the message.
std::string newer_operators(const pb::ModelProto& model, std::int64_t opset) {
  std::set<std::string> names;
  for_each_graph(model.graph(), [&](const pb::GraphProto& graph) {
    for (const auto& node : graph.node()) {
      const auto* schema =
          is_standard(node) ? pb::OpSchemaRegistry::Schema(node.op_type(), static_cast<int>(opset)) : nullptr;
      if (schema && schema->SinceVersion() > kCanonicalOpset) names.insert(node.op_type());
    }
  });
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// ONNX's converter, with what it throws turned into an error that names the operators at fault.
Result<void> run_converter(pb::ModelProto& model, std::int64_t from, const std::string& where) {
  const bool is_newer = from > kCanonicalOpset;
  auto result = guarded(ExitCode::kUnsupported, "import/conversion", where, [&] {
    pb::ModelProto converted = pb::version_conversion::ConvertVersion(model, static_cast<int>(kCanonicalOpset));
    model.Swap(&converted);
  });
  if (result || !is_newer) return result;
  return fail(ExitCode::kUnsupported, "import/newer-operator", where,
              "opset " + std::to_string(from) + " with a newer meaning of " + newer_operators(model, from) + " (" +
                  result.error().saw + ")",
              "operators and meanings of opset " + std::to_string(kCanonicalOpset));
}

void settle_final_nodes(pb::ModelProto& model) {
  for_each_graph(*model.mutable_graph(), [](pb::GraphProto& graph) {
    for (auto& node : *graph.mutable_node())
      if (node.domain() == kFinalDomain) node.clear_domain();
  });
  auto& opsets = *model.mutable_opset_import();
  opsets.erase(
      std::remove_if(opsets.begin(), opsets.end(), [](const auto& opset) { return opset.domain() == kFinalDomain; }),
      opsets.end());
}

}  // namespace

Result<void> convert_to_canonical(pb::ModelProto& model, const std::string& where) {
  const std::int64_t from = opset_of(model, "");
  if (from >= 0 && from != kCanonicalOpset) {
    set_opset(model, kFinalDomain, 1);
    const Renames kept = renames_of(model.graph(), "kept_v_");
    rename_values(*model.mutable_graph(), kept);
    COLLAGE_TRY_VOID(run_converter(model, from, where));
    rename_values(*model.mutable_graph(), renames_of(model.graph(), "added_"));
    rename_values(*model.mutable_graph(), inverted(kept));
  }
  set_opset(model, "", kCanonicalOpset);
  model.set_ir_version(kCanonicalIr);
  settle_final_nodes(model);
  return {};
}

}  // namespace collage
