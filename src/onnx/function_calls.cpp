#include "onnx/function_calls.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace collage {
namespace {

using FunctionKey = std::tuple<std::string, std::string, std::string>;

/// Counts that stop at the largest number instead of wrapping.
std::uint64_t capped_sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}
std::uint64_t capped_product(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b ? std::numeric_limits<std::uint64_t>::max()
                                                                     : a * b;
}

struct Caller {
  const pb::FunctionProto* function = nullptr;
  std::uint64_t nodes = 0;  ///< its own, without those that are calls
  std::uint64_t bytes = 0;  ///< of its message
  std::uint64_t bodies = 0;
  std::map<std::size_t, std::uint64_t> calls;  ///< function -> how often
};

struct InlinedSize {
  std::uint64_t nodes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t bodies = 0;
  std::uint64_t depth = 0;  ///< functions inside each other, this one included
};

class CallGraph {
 public:
  CallGraph(const ImportLimits& limits, const std::string& where) : limits_(limits), where_(where) {}

  Result<void> check(const pb::ModelProto& model) {
    for (const auto& function : model.functions()) {
      const FunctionKey key{function.domain(), function.name(), function.overload()};
      if (!numbers_.emplace(key, callers_.size()).second)
        return fail(ExitCode::kBadInput, "import/invalid-model", where_, "function '" + function.name() + "' twice",
                    "one definition");
      callers_.push_back({.function = &function, .bytes = function.ByteSizeLong()});
    }
    for (Caller& caller : callers_) count_nodes(caller, caller.function->node());
    sizes_.resize(callers_.size());
    for (std::size_t i = 0; i < callers_.size(); ++i) COLLAGE_TRY_VOID(measure(i));
    Caller top;
    count_nodes(top, model.graph().node());
    return check_size(size_of(top), "the model");
  }

 private:
  /// Bodies are as deep as the survey of the file allows.
  void count_nodes(Caller& caller, const google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) const {
    for (const auto& node : nodes) {
      const auto found = numbers_.find({node.domain(), node.op_type(), node.overload()});
      if (found != numbers_.end())
        ++caller.calls[found->second];
      else
        ++caller.nodes;
      for (const auto& attribute : node.attribute()) {
        caller.bodies += (attribute.has_g() ? 1U : 0U) + static_cast<std::uint64_t>(attribute.graphs_size());
        if (attribute.has_g()) count_nodes(caller, attribute.g().node());
        for (const auto& body : attribute.graphs()) count_nodes(caller, body.node());
      }
    }
  }

  /// Sizes of what it calls are known.
  [[nodiscard]] InlinedSize size_of(const Caller& caller) const {
    InlinedSize size{.nodes = caller.nodes,
                     .bytes = caller.bytes,
                     .bodies = caller.bodies,
                     .depth = caller.function != nullptr ? 1U : 0U};
    for (const auto& [callee, count] : caller.calls) {
      const InlinedSize& inner = *sizes_[callee];
      size.nodes = capped_sum(size.nodes, capped_product(count, inner.nodes));
      size.bytes = capped_sum(size.bytes, capped_product(count, inner.bytes));
      size.bodies = capped_sum(size.bodies, capped_product(count, inner.bodies));
      size.depth = std::max(size.depth, inner.depth + (caller.function != nullptr ? 1U : 0U));
    }
    return size;
  }

  [[nodiscard]] Result<void> check_size(const InlinedSize& size, const std::string& what) const {
    const auto refuse = [&](std::uint64_t ImportLimits::*limit, std::uint64_t seen, const char* unit) {
      return over_limit(limits_, limit, where_, what + " with " + std::to_string(seen) + unit);
    };
    if (size.depth > limits_.function_depth)
      return refuse(&ImportLimits::function_depth, size.depth, " functions inside each other");
    if (size.nodes > limits_.inlined_nodes)
      return refuse(&ImportLimits::inlined_nodes, size.nodes, " or more nodes once functions are inlined");
    if (const std::uint64_t names = capped_product(size.bodies, size.nodes); names > limits_.body_names)
      return refuse(&ImportLimits::body_names, names, " bodies times nodes once functions are inlined");
    if (size.bytes > limits_.parse_memory)
      return refuse(&ImportLimits::parse_memory, size.bytes, " or more bytes once functions are inlined");
    return {};
  }

  [[nodiscard]] std::string name_of(std::size_t function) const {
    const auto& message = *callers_[function].function;
    return message.domain().empty() ? message.name() : message.domain() + "::" + message.name();
  }

  /// Depth first, with a stack of its own: a file decides how long the chains are.
  Result<void> measure(std::size_t first) {
    if (sizes_[first]) return {};
    struct Visit {
      std::size_t function;
      std::map<std::size_t, std::uint64_t>::const_iterator next;
    };
    std::vector<Visit> path = {{first, callers_[first].calls.begin()}};
    std::vector<bool> on_path(callers_.size(), false);
    on_path[first] = true;
    while (!path.empty()) {
      Visit& visit = path.back();
      const Caller& caller = callers_[visit.function];
      if (visit.next == caller.calls.end()) {
        const InlinedSize size = size_of(caller);
        COLLAGE_TRY_VOID(check_size(size, "function '" + name_of(visit.function) + "'"));
        sizes_[visit.function] = size;
        on_path[visit.function] = false;
        path.pop_back();
        continue;
      }
      const std::size_t callee = (visit.next++)->first;
      if (on_path[callee]) {
        std::vector<std::size_t> chain;
        for (const Visit& one : path) chain.push_back(one.function);
        return cycle(chain, callee);
      }
      if (sizes_[callee]) continue;
      on_path[callee] = true;
      path.push_back({callee, callers_[callee].calls.begin()});
    }
    return {};
  }

  [[nodiscard]] std::unexpected<Error> cycle(const std::vector<std::size_t>& chain, std::size_t again) const {
    constexpr std::ptrdiff_t kMostShown = 20;
    const auto from = std::ranges::find(chain, again);
    std::string text;
    for (auto at = from; at != chain.end(); ++at) {
      if (at - from == kMostShown) text += "... -> ";
      if (at - from < kMostShown) text += name_of(*at) + " -> ";
    }
    return fail(ExitCode::kBadInput, "import/invalid-model", where_,
                "functions that call each other in a circle: " + text + name_of(again), "functions that end");
  }

  const ImportLimits& limits_;
  const std::string& where_;
  std::vector<Caller> callers_;
  std::map<FunctionKey, std::size_t> numbers_;
  std::vector<std::optional<InlinedSize>> sizes_;
};

}  // namespace

Result<void> check_functions(const pb::ModelProto& model, const ImportLimits& limits, const std::string& where) {
  return CallGraph(limits, where).check(model);
}

}  // namespace collage
