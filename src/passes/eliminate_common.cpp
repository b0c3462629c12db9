// Computes equal things once: small equal constants become one, then nodes that apply the same operator to the same
// values become one.
#include <map>
#include <string>

#include "base/hash.h"
#include "passes/facts.h"
#include "passes/pass.h"

namespace collage {
namespace {

constexpr std::size_t kMaxConstantBytes = 4096;

/// Distinct for distinct constants that are worth comparing; empty for the others.
std::string constant_key(const Tensor& tensor) {
  if (tensor.data.size() > kMaxConstantBytes || !tensor.strings.empty()) return {};
  return to_string(tensor.value_type()) + std::string(tensor.data.text());
}

void share_constants(Editor& editor) {
  std::map<std::string, ValueId> first;
  for (std::uint32_t v = 0; v < editor.graph().values.size(); ++v) {
    const ValueId id{v};
    const Tensor* constant = constant_of(editor.graph(), id);
    if (constant == nullptr || editor.readers(id).empty()) continue;
    const std::string key = constant_key(*constant);
    if (key.empty()) continue;
    const auto [entry, is_new] = first.emplace(key, id);
    if (!is_new && !editor.is_pinned(id)) editor.move_readers(id, entry->second);
  }
}

std::string node_key(const Node& node) {
  std::string key = node.domain + ":" + node.op_type + "(";
  for (const ValueId input : node.inputs) key += input.valid() ? std::to_string(input.index) + "," : "-,";
  key += ")" + std::to_string(node.outputs.size());
  for (const Attribute& attribute : node.attributes) key += " " + attribute.name;
  return key;
}

/// Two nodes with equal keys and attributes; the later gives its readers to the earlier.
bool merge(Editor& editor, NodeId kept, NodeId gone) {
  const Node first = editor.node(kept);
  const Node second = editor.node(gone);
  if (first.attributes != second.attributes) return false;
  for (std::size_t i = 0; i < first.outputs.size(); ++i)
    if (first.outputs[i].valid() != second.outputs[i].valid()) return false;
  for (const ValueId output : second.outputs)
    if (output.valid() && editor.is_pinned(output))
      return second.outputs.size() == 1 && editor.bypass(gone, first.outputs[0]);
  for (std::size_t i = 0; i < first.outputs.size(); ++i)
    if (first.outputs[i].valid()) editor.move_readers(second.outputs[i], first.outputs[i]);
  return true;
}

}  // namespace

Result<bool> eliminate_common(Graph& graph, PassContext&) {
  Editor editor(graph);
  share_constants(editor);
  std::multimap<std::string, NodeId> seen;
  for (std::uint32_t n = 0; n < editor.original_nodes(); ++n) {
    const NodeId id{n};
    const Node& node = editor.node(id);
    if (!editor.is_live(id) || is_random(node) || !node.captures.empty() || !bodies_of(node).empty()) continue;
    const std::string key = node_key(node);
    const auto [begin, end] = seen.equal_range(key);
    bool merged = false;
    for (auto entry = begin; entry != end && !merged; ++entry)
      merged = editor.is_live(entry->second) && merge(editor, entry->second, id);
    if (!merged) seen.emplace(key, id);
  }
  COLLAGE_TRY_VOID(editor.finish());
  return editor.changed();
}

}  // namespace collage
