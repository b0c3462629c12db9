#include "onnx/branches.h"

#include <map>
#include <optional>
#include <set>

#include "onnx/small_value.h"

namespace collage {
namespace {

/// How many graphs of the model define a value of each name: branches side by side may use a name twice.
std::map<std::string, int> definitions(const pb::GraphProto& graph) {
  std::map<std::string, int> counts;
  for_each_graph(graph, [&](const pb::GraphProto& one) {
    for (const auto& input : one.input()) ++counts[input.name()];
    for (const auto& tensor : one.initializer()) ++counts[tensor.name()];
    for (const auto& node : one.node())
      for (const auto& output : node.output()) ++counts[output];
  });
  return counts;
}

/// Conditions whose value a graph knows, its own first and then those of the graphs around it.
struct KnownConditions {
  const KnownConditions* outer = nullptr;
  std::map<std::string, bool> own;

  [[nodiscard]] std::optional<bool> find(const std::string& name) const {
    for (const KnownConditions* scope = this; scope; scope = scope->outer)
      if (const auto found = scope->own.find(name); found != scope->own.end()) return found->second;
    return std::nullopt;
  }
};

class Inliner {
 public:
  Inliner(pb::GraphProto& outermost, const UnfitBranches& unfit, std::vector<std::string>& notes)
      : names_(outermost), definitions_(definitions(outermost)), unfit_(unfit), notes_(notes) {}

  int run(pb::GraphProto& graph, const KnownConditions* outer) {
    KnownConditions known{.outer = outer, .own = {}};
    for (const auto& tensor : graph.initializer())
      if (const auto value = read_small(tensor); value && value->type == pb::TensorProto::BOOL && value->size() == 1)
        known.own[tensor.name()] = value->ints.front() != 0;
    int inlined = 0;
    google::protobuf::RepeatedPtrField<pb::NodeProto> kept;
    for (auto& node : *graph.mutable_node()) {
      if (const auto branch = decided_branch(node, known)) {
        pb::GraphProto body;
        for (auto& attribute : *node.mutable_attribute())
          if (attribute.name() == *branch) body.Swap(attribute.mutable_g());
        inline_body(std::move(body), node, graph, kept);
        ++inlined;
        continue;
      }
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) inlined += run(*attribute.mutable_g(), &known);
        for (auto& body : *attribute.mutable_graphs()) inlined += run(body, &known);
      }
      kept.Add()->Swap(&node);
    }
    graph.mutable_node()->Swap(&kept);
    return inlined;
  }

 private:
  std::optional<std::string> decided_branch(const pb::NodeProto& node, const KnownConditions& known) {
    if (!is_standard_op(node, "If") || node.input_size() != 1) return std::nullopt;
    std::string branch;
    if (const auto condition = known.find(node.input(0))) {
      branch = *condition ? "then_branch" : "else_branch";
    } else if (const auto found = unfit_.find("node If (" + node.name() + ")"); found != unfit_.end()) {
      branch = found->second == "then_branch" ? "else_branch" : "then_branch";
      notes_.push_back("the " + found->second + " of If '" + node.name() +
                       "' cannot run with these shapes, so the other branch is always taken");
    }
    const auto* body = attribute_of(node, branch);
    if (!body || !body->has_g() || body->g().output_size() != node.output_size()) return std::nullopt;
    return branch;
  }

  void inline_body(pb::GraphProto body, const pb::NodeProto& node, pb::GraphProto& graph,
                   google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
    std::set<std::string> made;
    Renames renames;
    const auto consider = [&](const std::string& name) {
      if (!name.empty() && definitions_[name] > 1) renames[name] = names_.fresh(name);
    };
    for (const auto& tensor : body.initializer()) consider(tensor.name());
    for (const auto& inner : body.node())
      for (const auto& output : inner.output()) {
        consider(output);
        made.insert(output);
      }
    std::vector<pb::NodeProto> copies;
    for (int i = 0; i < node.output_size(); ++i) {
      const std::string& from = body.output(i).name();
      if (node.output(i).empty()) continue;
      if (made.erase(from) != 0) {  // the first output that returns it takes its name; later ones copy
        renames[from] = node.output(i);
        continue;
      }
      const auto renamed = renames.find(from);
      pb::NodeProto& copy = copies.emplace_back();
      copy.set_op_type("Identity");
      copy.add_input(renamed == renames.end() ? from : renamed->second);
      copy.add_output(node.output(i));
    }
    rename_values(body, renames);
    for (auto& tensor : *body.mutable_initializer()) graph.add_initializer()->Swap(&tensor);
    for (auto& inner : *body.mutable_node()) nodes.Add()->Swap(&inner);
    for (auto& copy : copies) nodes.Add()->Swap(&copy);
  }

  Names names_;
  std::map<std::string, int> definitions_;
  const UnfitBranches& unfit_;
  std::vector<std::string>& notes_;
};

}  // namespace

void name_branches(pb::GraphProto& graph) {
  UniqueNames names;
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& node : *one.mutable_node())
      if (is_standard_op(node, "If")) node.set_name(names.fresh(node.name().empty() ? "If" : node.name()));
  });
}

int inline_decided_branches(pb::GraphProto& graph, const UnfitBranches& unfit, std::vector<std::string>& notes) {
  return Inliner(graph, unfit, notes).run(graph, nullptr);
}

}  // namespace collage
