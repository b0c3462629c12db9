// Runs the passes round after round until a whole round changes nothing.
// In: a verified graph. Out: the simplified one, verified after every change, with a report for each pass.
#include "passes/simplify.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ranges>
#include <unordered_set>

#include "base/clock.h"
#include "base/suggest.h"
#include "passes/pass.h"

namespace collage {
namespace {

struct Pass {
  std::string_view name;
  PassFunction run;
  bool changes_rounding;  ///< rewrites weights or arithmetic beyond the order of summation: not in class strict
};

// Order matters inside a round: what makes later patterns plainer comes first, and patterns of several nodes are
// recognised before their constants disappear into neighbouring weights.
constexpr std::array kPasses = {
    Pass{"remove_dead", remove_dead, false},
    Pass{"expand_contrib", expand_contrib, false},
    Pass{"widen_16bit", widen_16bit, false},
    Pass{"resolve_shapes", resolve_shapes, false},
    Pass{"fold_constants", fold_constants, false},
    Pass{"remove_identities", remove_identities, false},
    Pass{"resolve_padding", resolve_padding, false},
    Pass{"canonicalise", canonicalise, false},
    Pass{"canonicalise_inexact", canonicalise_inexact, true},
    Pass{"merge_transposes", merge_transposes, false},
    Pass{"merge_reshapes", merge_reshapes, false},
    Pass{"eliminate_common", eliminate_common, false},
    Pass{"recognise_activations", recognise_activations, true},
    Pass{"recognise_layer_norm", recognise_layer_norm, true},
    Pass{"sink_transposes", sink_transposes, false},
    Pass{"merge_blocks", merge_blocks, false},
    Pass{"fold_pad", fold_pad, false},
    Pass{"fold_space_to_depth", fold_space_to_depth, true},
    Pass{"merge_bias", merge_bias, false},
    Pass{"fold_batch_norm", fold_batch_norm, true},
    Pass{"fold_scale", fold_scale, true},
    Pass{"split_batch_norm", split_batch_norm, true},
    Pass{"view_transposes", view_transposes, false},
    Pass{"flush_denormals", flush_denormals, true},
};

Result<void> check_names(const std::set<std::string>& names) {
  const std::vector<std::string_view> passes = pass_names();
  const std::vector<std::string> known(passes.begin(), passes.end());
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string allowed;
    for (const std::string& pass : known) allowed += (allowed.empty() ? "" : ", ") + pass;
    return fail(ExitCode::kUsage, "passes/unknown-pass", "passes", "'" + name + "'" + did_you_mean(name, known),
                allowed);
  }
  return {};
}

bool is_on(const Pass& pass, const PassOptions& options) {
  return !options.off.contains(std::string(pass.name)) &&
         !(pass.changes_rounding && options.accuracy == Accuracy::kStrict);
}

std::unordered_set<std::string> names_in(const Graph& graph) {
  std::unordered_set<std::string> names;
  for (const Value& value : graph.values) names.insert(value.name);
  return names;
}

/// A name of the imported graph that one pass removed must not come back for other numbers: expected values are
/// looked up by name.
void rename_returned(Graph& graph, const std::unordered_set<std::string>& before,
                     const std::unordered_set<std::string>& imported) {
  std::unordered_set<std::string> taken = names_in(graph);
  for (Value& value : graph.values) {
    if (before.contains(value.name) || !imported.contains(value.name)) continue;
    const std::string base = value.name;
    for (std::size_t i = 1; imported.contains(value.name) || taken.contains(value.name); ++i)
      value.name = base + "_" + std::to_string(i);
    taken.insert(value.name);
  }
}

Result<bool> run_once(const Pass& pass, Graph& graph, PassContext& context, PassReport& report) {
  if (report.runs++ == 0) report.nodes_before = graph.nodes.size();
  const std::unordered_set<std::string> before = names_in(graph);
  const auto start = Clock::now();
  COLLAGE_TRY(const bool changed, pass.run(graph, context));
  report.time_us += std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  report.nodes_after = graph.nodes.size();
  report.note = std::exchange(context.note, {});
  if (!changed) return false;
  ++report.changed;
  rename_returned(graph, before, context.imported_names);
  if (auto verified = verify(graph); !verified) {
    const Error& error = verified.error();
    return fail(ExitCode::kBug, "passes/broken-graph", std::string(pass.name) + ": " + error.where,
                error.code + ": " + error.saw, error.allowed);
  }
  return true;
}

}  // namespace

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const Pass& pass : kPasses) names.push_back(pass.name);
  return names;
}

Result<std::set<std::string>> passes_switched_off(std::string_view switches) {
  std::set<std::string> names;
  for (const auto part : std::views::split(switches, ',')) {
    const std::string_view item(part.begin(), part.end());
    if (!item.starts_with('-'))
      return fail(ExitCode::kUsage, "passes/bad-switch", "passes", "'" + std::string(item) + "'",
                  "names with a minus before each, such as -fold_batch_norm,-merge_bias");
    names.emplace(item.substr(1));
  }
  COLLAGE_TRY_VOID(check_names(names));
  return names;
}

Result<bool> apply_rules(Graph& graph, std::initializer_list<Rule> rules) {
  Editor editor(graph);
  for (std::uint32_t n = 0; n < editor.original_nodes(); ++n)
    for (const Rule rule : rules)
      if (!editor.is_live(NodeId{n}) || rule(editor, NodeId{n})) break;
  COLLAGE_TRY_VOID(editor.finish());
  return editor.changed();
}

Result<SimplifiedGraph> simplify(Graph graph, const PassOptions& options, const Evaluator& evaluator) {
  COLLAGE_TRY_VOID(check_names(options.off));
  SimplifiedGraph result;
  std::vector<const Pass*> passes;
  for (const Pass& pass : kPasses) {
    if (!is_on(pass, options)) continue;
    passes.push_back(&pass);
    result.passes.push_back(PassReport{.name = std::string(pass.name),
                                       .runs = 0,
                                       .changed = 0,
                                       .time_us = 0,
                                       .nodes_before = 0,
                                       .nodes_after = 0,
                                       .note = {}});
  }
  PassContext context{
      .options = &options, .evaluator = &evaluator, .note = {}, .unfoldable = {}, .imported_names = names_in(graph)};
  for (int round = 0; round < options.max_rounds; ++round) {
    bool changed = false;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      COLLAGE_TRY(const bool did, run_once(*passes[p], graph, context, result.passes[p]));
      changed = changed || did;
    }
    if (!changed) break;
  }
  result.graph = std::move(graph);
  return result;
}

}  // namespace collage
