#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/json_numbers.h"
#include "cli/checks.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "cli/wrap.h"
#include "onnx/import.h"
#include "passes/simplify.h"
#include "region/rules/user_rules.h"
#include "sandbox/import_model.h"
#include "tune/proposers.h"
#include "tune/report/rule_operators.h"
#include "tune/vendor_operators.h"

namespace collage::cli {
namespace {

struct CheckCommand {
  CommonOptions common;
  std::string model;
  std::string dump;
  std::string rules;
  CLI::App* command = nullptr;
};

std::map<std::string, std::size_t> operators_of(const Graph& graph) {
  std::map<std::string, std::size_t> counts;
  for (const Node& node : graph.nodes) ++counts[node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type];
  return counts;
}

/// An open dimension, or an input whose open dimensions have no name of their own.
struct OpenDimension {
  std::string what;  ///< "batch", or "image=?x3x?x?": with numbers it is what --shape takes
  std::string option;
};

/// Whether --shape takes this name for the dimension: an input's name means the input.
bool is_bound_by_name(const Graph& graph, const std::string& symbol) {
  return !symbol.empty() &&
         std::ranges::none_of(graph.inputs, [&](ValueId id) { return graph.value(id).name == symbol; });
}

std::vector<OpenDimension> open_dimensions_of(const Graph& graph) {
  std::vector<OpenDimension> open;
  std::set<std::string> seen;
  for (const ValueId id : graph.inputs) {
    const Value& input = graph.value(id);
    if (!input.type.shape) {
      open.push_back({input.name + "=EXTENTS", "--shape " + input.name + "=EXTENTS, such as 1x3x224x224"});
      continue;
    }
    std::string extents;
    bool has_unnamed = false;
    for (const Dim& dim : *input.type.shape) {
      extents += (extents.empty() ? "" : "x") + (dim.is_static() ? std::to_string(dim.extent) : "?");
      if (dim.is_static()) continue;
      if (!is_bound_by_name(graph, dim.symbol))
        has_unnamed = true;
      else if (seen.insert(dim.symbol).second)
        open.push_back({dim.symbol, "--shape " + dim.symbol + "=8"});
    }
    if (has_unnamed)
      open.push_back(
          {input.name + "=" + extents, "--shape " + input.name + "=" + extents + " with a number for each ?"});
  }
  return open;
}

/// Nodes that read or write a value whose extents are not known.
std::size_t open_nodes_of(const Graph& graph) {
  const auto is_open = [&](ValueId id) { return id.valid() && !graph.value(id).type.is_static(); };
  return static_cast<std::size_t>(std::ranges::count_if(graph.nodes, [&](const Node& node) {
    return std::ranges::any_of(node.inputs, is_open) || std::ranges::any_of(node.outputs, is_open);
  }));
}

/// Why the counts are low, when they are so for want of a shape; else nothing.
std::string why_low(const Graph& graph, const std::vector<OpenDimension>& open) {
  const std::size_t nodes = open_nodes_of(graph);
  if (open.empty() || nodes == 0) return {};
  std::string names;
  std::string options;
  for (const OpenDimension& one : open) {
    names += (names.empty() ? "" : ", ") + one.what;
    options += (options.empty() ? "" : " and ") + one.option;
  }
  return fmt::format(
      "the counts are low because dimensions are open ({}): {} of {} nodes work on values of unknown shape, which most "
      "backends refuse; close them with {}",
      names, nodes, graph.nodes.size(), options);
}

/// How many nodes each backend takes on its own.
std::map<std::string, std::size_t> supported_nodes(const Graph& graph, std::span<const Proposer> proposers) {
  std::map<std::string, std::size_t> counts;
  const Uses uses = uses_of(graph);
  for (const Proposer& proposer : proposers) {
    std::size_t& count = counts[proposer.backend];
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      NodeSet nodes(graph.nodes.size());
      nodes.insert(n);
      if (proposer.support(make_region(graph, uses, nodes))) ++count;
    }
  }
  return counts;
}

struct Shown {
  std::string text;
  nlohmann::ordered_json json;
};

/// Inputs, outputs, and what of them is open.
void add_ports(const Graph& graph, const std::vector<OpenDimension>& open, Shown& shown) {
  for (const auto& [title, ids] : {std::pair{"inputs", graph.inputs}, std::pair{"outputs", graph.outputs}})
    for (ValueId id : ids) {
      const std::string type = to_string(graph.value(id).type);
      shown.text += fmt::format("  {:<8} {}: {}\n", title, graph.value(id).name, type);
      shown.json[title].push_back({{"name", graph.value(id).name}, {"type", type}});
    }
  shown.json["open_dimensions"] = nlohmann::ordered_json::array();
  for (const OpenDimension& one : open) {
    shown.text += fmt::format("  open     {}: {}\n", one.what, one.option);
    shown.json["open_dimensions"].push_back(one.what);
  }
}

void add_counts(const char* title, const char* key, const std::map<std::string, std::size_t>& counts, Shown& shown) {
  shown.text += fmt::format("{}\n", title);
  std::size_t width = 28;
  for (const auto& [name, count] : counts) width = std::max(width, name.size());
  for (const auto& [name, count] : counts) {
    shown.text += fmt::format("  {:<{}} {:>5}\n", name, width, count);
    shown.json[key][name] = count;
  }
}

Shown describe(const Imported& imported, std::span<const Proposer> proposers) {
  const Graph& graph = imported.graph;
  const std::vector<OpenDimension> open = open_dimensions_of(graph);
  Shown shown{.text = fmt::format("{} nodes, operator set {}\n", graph.nodes.size(), imported.opset),
              .json = {{"schema", "collage.check/1"},
                       {"nodes", graph.nodes.size()},
                       {"opset", imported.opset},
                       {"hash", imported.model_hash}}};
  add_ports(graph, open, shown);
  shown.json["open_nodes"] = open_nodes_of(graph);
  add_counts("operators", "operators", operators_of(graph), shown);
  add_counts(fmt::format("nodes each backend takes, of {}", graph.nodes.size()).c_str(), "backends",
             supported_nodes(graph, proposers), shown);
  std::vector<std::string> notes = imported.notes;
  if (std::string why = why_low(graph, open); !why.empty()) notes.push_back(std::move(why));
  for (const std::string& note : notes) shown.text += wrapped("note: " + note, kColumns, 2) + "\n";
  shown.json["notes"] = notes;
  return shown;
}

/// The rules, which fit the graph and the backends.
Result<UserRules> rules_for(const CheckCommand& options, const Graph& graph, std::span<const Proposer> proposers) {
  if (options.rules.empty()) return UserRules{};
  COLLAGE_TRY(UserRules rules, read_user_rules(options.rules));
  COLLAGE_TRY_VOID(check_rule_operators(rules));
  std::vector<std::string> names;
  for (const Proposer& proposer : proposers) names.push_back(proposer.backend);
  COLLAGE_TRY_VOID(check_user_rules(graph, uses_of(graph), rules, names));
  return rules;
}

/// The candidates with the user's rules at work.
Result<std::string> candidates_text(const Graph& graph, const UserRules& rules, std::vector<Proposer> proposers) {
  const Uses uses = uses_of(graph);
  add_user_rules(graph, rules, proposers);
  CandidatePool pool = propose(graph, uses, proposers);
  COLLAGE_TRY_VOID(keep_forced_regions(graph, rules, pool));
  return to_text(graph, pool);
}

/// A dump shows what it is a stage of; other options would do nothing.
Result<void> check_dump(const CheckCommand& options) {
  const std::string why = "--dump " + options.dump + ", which does not depend on it";
  if (options.dump == "graph")
    return refuse_given(*options.command, {"--rules", "--accuracy", "--passes", "--threads"}, why);
  if (options.dump == "simplified") return refuse_given(*options.command, {"--rules", "--threads"}, why);
  if (options.dump.empty() && options.rules.empty())
    return refuse_given(*options.command, {"--passes"}, "without --dump the graph is shown as imported");
  return {};
}

Result<Imported> import_for(const CheckCommand& options, Registry& registry, const std::vector<std::string>& names) {
  ImportOptions import_options;
  import_options.allow_unbound = options.dump.empty();
  ask_vendors(import_options, registry, names);
  COLLAGE_TRY(import_options.shapes, parse_shape_bindings(options.common.shapes));
  import_options.wants_file = false;
  COLLAGE_TRY(const ModelReader reader, model_reader(options.common));
  return import_apart(options.model, import_options, reader);
}

Shown dumped(const std::string& stage, std::string text) {
  nlohmann::ordered_json json = {{"schema", "collage.dump/1"}, {stage, text}};
  return {.text = std::move(text), .json = std::move(json)};
}

/// The host and the backends in question. A backend that the user names must be usable; a default one may be missing.
Result<std::vector<std::string>> instances_of(const CheckCommand& options, Registry& registry) {
  std::vector<std::string> names = {kHostBackend};
  for (const std::string& name : options.common.backends) {
    const auto backend = registry.get(name);
    if (backend)
      names.push_back(name);
    else if (is_given(*options.command, "--backends"))
      return std::unexpected(backend.error());
  }
  return names;
}

Result<Shown> check(const CheckCommand& options) {
  COLLAGE_TRY_VOID(check_dump(options));
  Registry registry(module_places(options.common.backend_libraries));
  COLLAGE_TRY(const std::vector<std::string> names, instances_of(options, registry));
  COLLAGE_TRY(Imported imported, import_for(options, registry, names));
  COLLAGE_TRY(const OutputBound bound, accuracy_from(options.common.accuracy, label("--accuracy")));
  const Accuracy accuracy = bound.accuracy;
  COLLAGE_TRY(const std::set<std::string> passes_off, passes_off_from(options.common.passes, label("--passes")));
  const CompileOptions compile{.threads = options.common.threads, .accuracy = accuracy};
  if (options.dump == "graph") return dumped(options.dump, to_text(imported.graph));
  if (options.dump.empty() && options.rules.empty()) {
    COLLAGE_TRY(const auto proposers, make_proposers(registry, names, imported.graph, compile));
    return describe(imported, proposers);
  }
  COLLAGE_TRY(const SimplifiedGraph simplified,
              simplify(imported.graph, {.accuracy = accuracy, .off = passes_off}, {}));
  if (options.dump == "simplified") return dumped(options.dump, to_text(simplified.graph));
  COLLAGE_TRY(std::vector<Proposer> proposers, make_proposers(registry, names, simplified.graph, compile));
  COLLAGE_TRY(const UserRules rules, rules_for(options, simplified.graph, proposers));
  if (options.dump == "candidates") {
    COLLAGE_TRY(std::string text, candidates_text(simplified.graph, rules, std::move(proposers)));
    return dumped(options.dump, std::move(text));
  }
  COLLAGE_TRY(const auto of_import, make_proposers(registry, names, imported.graph, compile));
  Shown shown = describe(imported, of_import);
  shown.text +=
      fmt::format("{}: {} rules that fit; --dump candidates shows what they do\n", options.rules, rules.size());
  shown.json["rules"] = rules.size();
  return shown;
}

int run_check(const CheckCommand& options) {
  Console console(options.common);
  const auto shown = check(options);
  if (!shown) return console.failure(shown.error());
  const std::string json = shown->json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  if (auto written = console.result(shown->text, json); !written) return console.failure(written.error());
  return 0;
}

}  // namespace

void add_check(CLI::App& app, Program& program) {
  auto options = std::make_shared<CheckCommand>();
  CLI::App* command =
      add_command(app, program, "check", "read and verify a model, say who supports what", options, run_check);
  command->add_option("model", options->model, "the .onnx file")->required();
  options->command = command;
  command->add_option("--dump", options->dump, "print a stage: graph, simplified or candidates")
      ->check(one_of({"graph", "simplified", "candidates"}))
      ->type_name("STAGE");
  command->add_option("--rules", options->rules, "whether these rules fit the model (docs/RULES.md)")
      ->type_name("FILE");
  add_shape(*command, options->common, kOneShape);
  add_backend_list(*command, options->common);
  add_threads(*command, options->common);
  add_accuracy(*command, options->common);
  add_passes(*command, options->common);
  add_backend_library(*command, options->common);
  add_custom_ops(*command, options->common);
  add_reader(*command, options->common);
  command->footer(examples(
      {"collage check model.onnx --shape batch=1", "collage check model.onnx --dump candidates --rules my.rules"}));
}

}  // namespace collage::cli
