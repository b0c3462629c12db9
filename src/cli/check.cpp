#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "backend/roles.h"
#include "cli/console.h"
#include "cli/program.h"
#include "onnx/import.h"
#include "passes/simplify.h"
#include "region/user_rules.h"
#include "tune/proposers.h"

namespace collage::cli {
namespace {

struct Options {
  CommonOptions common;
  std::string model;
  std::string dump;
  std::string rules;
};

std::map<std::string, std::size_t> operators_of(const Graph& graph) {
  std::map<std::string, std::size_t> counts;
  for (const Node& node : graph.nodes) ++counts[node.domain.empty() ? node.op_type : node.domain + "::" + node.op_type];
  return counts;
}

std::set<std::string> open_dimensions_of(const Graph& graph) {
  std::set<std::string> open;
  for (ValueId id : graph.inputs)
    for (const Dim& dim : graph.value(id).type.shape.value_or(Shape{}))
      if (!dim.is_static()) open.insert(graph.value(id).name + ":" + (dim.symbol.empty() ? "?" : dim.symbol));
  return open;
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
  std::string json;
};

Shown describe(const Imported& imported, std::span<const Proposer> proposers) {
  const Graph& graph = imported.graph;
  nlohmann::ordered_json object = {{"schema", "collage.check/1"},
                                   {"nodes", graph.nodes.size()},
                                   {"opset", imported.opset},
                                   {"hash", imported.model_hash}};
  std::string text = fmt::format("{} nodes, operator set {}\n", graph.nodes.size(), imported.opset);
  for (const auto& [title, ids] : {std::pair{"inputs", graph.inputs}, std::pair{"outputs", graph.outputs}})
    for (ValueId id : ids) {
      const std::string type = to_string(graph.value(id).type);
      text += fmt::format("  {:<8} {}: {}\n", title, graph.value(id).name, type);
      object[title].push_back({{"name", graph.value(id).name}, {"type", type}});
    }
  for (const std::string& dimension : open_dimensions_of(graph)) {
    text += "  open     " + dimension + "\n";
    object["open_dimensions"].push_back(dimension);
  }
  text += "operators\n";
  for (const auto& [name, count] : operators_of(graph)) {
    text += fmt::format("  {:<28} {:>5}\n", name, count);
    object["operators"][name] = count;
  }
  text += "nodes each backend takes\n";
  for (const auto& [name, count] : supported_nodes(graph, proposers)) {
    text += fmt::format("  {:<28} {:>5}\n", name, count);
    object["backends"][name] = count;
  }
  for (const std::string& note : imported.notes) text += "note: " + note + "\n";
  object["notes"] = imported.notes;
  return {text, object.dump(2)};
}

/// The candidates with the user's rules at work.
Result<std::string> candidates_text(const Options& options, const Graph& graph, std::vector<Proposer> proposers) {
  const Uses uses = uses_of(graph);
  UserRules rules;
  if (!options.rules.empty()) {
    COLLAGE_TRY(rules, read_user_rules(options.rules));
  }
  std::vector<std::string> names;
  for (const Proposer& proposer : proposers) names.push_back(proposer.backend);
  COLLAGE_TRY_VOID(check_user_rules(graph, uses, rules, names));
  add_user_rules(graph, rules, proposers);
  CandidatePool pool = propose(graph, uses, proposers);
  COLLAGE_TRY_VOID(keep_forced_regions(graph, rules, pool));
  return to_text(graph, pool);
}

Result<Shown> check(const Options& options) {
  Registry registry(module_places(options.common.backend_libraries));
  std::vector<std::string> names = options.common.backends;
  names.insert(names.begin(), kHostBackend);
  ImportOptions import_options;
  import_options.allow_unbound = options.dump.empty();
  import_options.knows_vendor_operator = [&](std::string_view domain, std::string_view op) {
    return knows_vendor_operator(registry, names, domain, op);
  };
  COLLAGE_TRY(import_options.shapes, parse_shape_bindings(options.common.shapes));
  COLLAGE_TRY(Imported imported, import_model(options.model, import_options));
  COLLAGE_TRY(const Accuracy accuracy, accuracy_from(options.common));
  if (options.dump == "simplified" || options.dump == "candidates") {
    COLLAGE_TRY(SimplifiedGraph simplified, simplify(std::move(imported.graph), {.accuracy = accuracy, .off = {}}, {}));
    imported.graph = std::move(simplified.graph);
  }
  COLLAGE_TRY(
      std::vector<Proposer> proposers,
      make_proposers(registry, names, imported.graph, {.threads = options.common.threads, .accuracy = accuracy}));
  if (options.dump.empty()) return describe(imported, proposers);
  std::string text = to_text(imported.graph);
  if (options.dump == "candidates") {
    COLLAGE_TRY(text, candidates_text(options, imported.graph, std::move(proposers)));
  }
  return Shown{text, nlohmann::ordered_json{{"schema", "collage.dump/1"}, {options.dump, text}}.dump(2)};
}

int run(const Options& options) {
  Console console(options.common);
  const auto shown = check(options);
  if (!shown) return console.failure(shown.error());
  if (auto written = console.result(shown->text, shown->json); !written) return console.failure(written.error());
  return 0;
}

}  // namespace

void add_check(CLI::App& app, Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, program, "check", "read and verify a model, say who supports what", options, run);
  command->add_option("model", options->model, "the .onnx file")->required();
  command->add_option("--dump", options->dump, "print a stage: graph, simplified or candidates")
      ->check(CLI::IsMember({"graph", "simplified", "candidates"}));
  command->add_option("--rules", options->rules, "a file of rules for --dump candidates (docs/RULES.md)");
}

}  // namespace collage::cli
