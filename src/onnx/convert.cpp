#include "onnx/convert.h"

#include <onnx/version_converter/convert.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "onnx/parse.h"

namespace collage {
namespace {

/// The converter names the values it adds "_v_<number>", without looking for values already called so.
bool is_converter_name(const std::string& name) {
  return name.size() > 3 && name.starts_with("_v_") &&
         std::all_of(name.begin() + 3, name.end(), [](unsigned char c) { return std::isdigit(c); });
}

using Renames = std::map<std::string, std::string>;

void rename_all(pb::GraphProto& graph, const Renames& renames) {
  if (renames.empty()) return;
  const auto rename = [&](std::string* name) {
    if (const auto found = renames.find(*name); found != renames.end()) *name = found->second;
  };
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& value : *one.mutable_input()) rename(value.mutable_name());
    for (auto& value : *one.mutable_output()) rename(value.mutable_name());
    for (auto& value : *one.mutable_value_info()) rename(value.mutable_name());
    for (auto& tensor : *one.mutable_initializer()) rename(tensor.mutable_name());
    for (auto& node : *one.mutable_node()) {
      for (auto& name : *node.mutable_input()) rename(&name);
      for (auto& name : *node.mutable_output()) rename(&name);
    }
  });
}

/// Fresh names for every value that looks like the converter's.
Renames renames_of(const pb::GraphProto& graph, std::string_view stem) {
  Names names(graph);
  Renames renames;
  const auto consider = [&](const std::string& name) {
    if (is_converter_name(name) && !renames.contains(name)) renames[name] = names.fresh(std::string(stem) + name.substr(3));
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

void settle_final_nodes(pb::ModelProto& model) {
  for_each_graph(*model.mutable_graph(), [](pb::GraphProto& graph) {
    for (auto& node : *graph.mutable_node())
      if (node.domain() == kFinalDomain) node.clear_domain();
  });
  auto& opsets = *model.mutable_opset_import();
  opsets.erase(std::remove_if(opsets.begin(), opsets.end(),
                              [](const auto& opset) { return opset.domain() == kFinalDomain; }),
               opsets.end());
}

}  // namespace

Result<void> convert_to_canonical(pb::ModelProto& model, const std::string& where) {
  const std::int64_t from = opset_of(model, "");
  if (from >= 0 && from != kCanonicalOpset) {
    set_opset(model, kFinalDomain, 1);
    const Renames kept = renames_of(model.graph(), "kept_v_");
    rename_all(*model.mutable_graph(), kept);
    const bool is_newer = from > kCanonicalOpset;
    COLLAGE_TRY_VOID(guarded(ExitCode::kUnsupported, is_newer ? "import/newer-operator" : "import/conversion", where, [&] {
      pb::ModelProto converted = pb::version_conversion::ConvertVersion(model, static_cast<int>(kCanonicalOpset));
      model.Swap(&converted);
    }));
    rename_all(*model.mutable_graph(), renames_of(model.graph(), "added_"));
    rename_all(*model.mutable_graph(), inverted(kept));
  }
  set_opset(model, "", kCanonicalOpset);
  model.set_ir_version(kCanonicalIr);
  settle_final_nodes(model);
  return {};
}

}  // namespace collage
