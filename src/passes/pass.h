// The interface between passes and their runner, and the list of all passes. Internal to this folder.
#pragma once

#include <functional>
#include <initializer_list>
#include <set>
#include <string>
#include <unordered_set>

#include "passes/editor.h"
#include "passes/simplify.h"

namespace collage {

struct PassContext {
  const PassOptions* options = nullptr;
  const Evaluator* evaluator = nullptr;
  std::string note;                  ///< set by a pass that could not do all it should
  std::set<std::string> unfoldable;  ///< values that the evaluator refused or that are too large: not tried again
  std::unordered_set<std::string> imported_names;  ///< of the imported graph's values
};

/// Changes the graph in place; returns whether it changed anything.
using PassFunction = Result<bool> (*)(Graph& graph, PassContext& context);

/// One local rewrite, tried at each node; true when it changed something.
using Rule = bool (*)(Editor& editor, NodeId id);

/// Tries the rules at every node in order; for a node that a rule changed, later rules are skipped.
Result<bool> apply_rules(Graph& graph, std::initializer_list<Rule> rules);

Result<bool> remove_dead(Graph& graph, PassContext& context);
Result<bool> expand_contrib(Graph& graph, PassContext& context);
Result<bool> widen_16bit(Graph& graph, PassContext& context);
Result<bool> resolve_shapes(Graph& graph, PassContext& context);
Result<bool> fold_constants(Graph& graph, PassContext& context);
Result<bool> remove_identities(Graph& graph, PassContext& context);
Result<bool> resolve_padding(Graph& graph, PassContext& context);
Result<bool> canonicalise(Graph& graph, PassContext& context);
Result<bool> canonicalise_inexact(Graph& graph, PassContext& context);
Result<bool> merge_transposes(Graph& graph, PassContext& context);
Result<bool> merge_reshapes(Graph& graph, PassContext& context);
Result<bool> merge_blocks(Graph& graph, PassContext& context);
Result<bool> eliminate_common(Graph& graph, PassContext& context);
Result<bool> recognise_activations(Graph& graph, PassContext& context);
Result<bool> recognise_layer_norm(Graph& graph, PassContext& context);
Result<bool> sink_transposes(Graph& graph, PassContext& context);
Result<bool> fold_pad(Graph& graph, PassContext& context);
Result<bool> fold_space_to_depth(Graph& graph, PassContext& context);
Result<bool> merge_bias(Graph& graph, PassContext& context);
Result<bool> fold_batch_norm(Graph& graph, PassContext& context);
Result<bool> fold_scale(Graph& graph, PassContext& context);
Result<bool> split_batch_norm(Graph& graph, PassContext& context);
Result<bool> view_transposes(Graph& graph, PassContext& context);
Result<bool> flush_denormals(Graph& graph, PassContext& context);

}  // namespace collage
