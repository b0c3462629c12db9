// Chooses the configurations of the operator benchmark: cuts the models of a folder and the named workloads into small
// regions, times each kind once in ONNX Runtime, and prints those that take most of the models' time, class by class.
// Usage: cut_operators [--models FOLDER] [--workloads NAME,...|all|none] [--times FILE] [-o CASES]
// FOLDER has a MANIFEST.json; what cannot be imported is said and left out. With the times of a file the choice is the
// same every time.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iostream>
#include <set>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/registry.h"
#include "backend/roles.h"
#include "base/file.h"
#include "base/json.h"
#include "bench/operators/case_maker.h"
#include "bench/operators/operator_classes.h"
#include "bench/operators/profile.h"
#include "bench/operators/quantised_form.h"
#include "numbers/reference_run.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "passes/simplify.h"
#include "tune/proposers.h"
#include "workload/workload.h"

namespace collage::bench {
namespace {

/// Shorter ones say what a call of the engine costs, not what the operator does.
constexpr double kLeastUs = 15;
/// There are few 8-bit operators in models, and most are short.
constexpr double kLeastInt8Us = 4;
/// Longer ones would take the time of all others.
constexpr double kMostUs = 150'000;
/// Of a class's configurations at most one in so many are from one model, or of one operator where the class has
/// several, while there are others.
constexpr std::size_t kModelsOfClass = 3;
constexpr std::size_t kOperatorsOfClass = 4;
/// Of the 8-bit ones, at most so many as they stand in models; the rest are real float layers quantised.
constexpr std::size_t kMostInt8FromModels = 4;

struct Options {
  std::string models;
  std::string workloads = "all";
  std::string times;
  std::string output;
};

struct Source {
  std::string name;
  std::function<Result<Imported>()> import;
};

/// One kind of computation, and how often it stands in each model.
struct Found {
  OperatorCase form;
  std::string anchor_key;  ///< of the heavy operator alone
  std::string label;
  std::string op_type;
  bool counts = true;
  std::map<std::string, int> uses;
  double us = 0;
  double score = 0;  ///< mean part of the time over all models
};

Result<std::vector<Source>> manifest_sources(const std::string& folder, Registry& registry) {
  std::ifstream file(folder + "/MANIFEST.json");
  const Json manifest = Json::parse(file, nullptr, false);
  return read_json(folder + "/MANIFEST.json", [&] {
    std::vector<Source> sources;
    for (const Json& model : manifest.at("models")) {
      std::vector<std::string> shapes;
      for (const Json& input : model.at("smoke").at("inputs"))
        shapes.push_back(fmt::format("{}={}", input.at("name").get<std::string>(),
                                     fmt::join(input.at("shape").get<std::vector<std::int64_t>>(), "x")));
      const std::string path = folder + '/' + model.at("file").get<std::string>();
      sources.push_back({.name = model.at("name"), .import = [path, shapes, &registry]() -> Result<Imported> {
                           ImportOptions options;
                           options.knows_vendor_operator = [&](std::string_view domain, std::string_view op) {
                             static const std::vector<std::string> kEngines = {kFillerEngine};
                             return knows_vendor_operator(registry, kEngines, domain, op);
                           };
                           COLLAGE_TRY(options.shapes, parse_shape_bindings(shapes));
                           return import_model(path, options);
                         }});
    }
    return sources;
  });
}

std::vector<Source> workload_sources(const std::string& wanted) {
  std::vector<Source> sources;
  for (const std::string_view name : workload_names()) {
    if (wanted != "all" && (',' + wanted + ',').find(fmt::format(",{},", name)) == std::string::npos) continue;
    sources.push_back({.name = std::string(name), .import = [name]() -> Result<Imported> {
                         COLLAGE_TRY(const Graph graph, make_workload(name));
                         return import_model(export_graph(graph, {.value_info = false, .keep_ids = false}), "", {});
                       }});
  }
  return sources;
}

class Collection {
 public:
  Collection(Backend& reference, Backend& engine, Profile& profile)
      : reference_(reference), engine_(engine), profile_(profile) {}

  void add(const Source& source) {
    const auto added = try_add(source);
    if (!added) fmt::print(stderr, "{}: left out: {}\n", source.name, to_string(added.error()));
  }

  /// Times everything and gives what was found, by class.
  std::map<std::string, std::vector<Found>> scored() {
    std::map<std::string, double> model_us;
    for (auto& [key, found] : found_) {
      found.us = profile_.time_us(found.form, engine_).value_or(0);
      if (!found.counts) continue;
      for (const auto& [model, count] : found.uses) model_us[model] += found.us * count;
    }
    std::map<std::string, std::vector<Found>> by_class;
    for (auto& [key, found] : found_) {
      score(found, model_us);
      if (found.us > 0 && found.form.class_name() != "") by_class[found.form.class_name()].push_back(std::move(found));
    }
    return by_class;
  }

 private:
  Result<void> try_add(const Source& source) {
    fmt::print(stderr, "{}\n", source.name);
    COLLAGE_TRY(Imported imported, source.import());
    const Evaluator evaluate = [this](const Graph& graph) -> Result<std::vector<Tensor>> {
      COLLAGE_TRY(ReferenceRun run, ReferenceRun::create(reference_, graph));
      return run.run({});
    };
    COLLAGE_TRY(const SimplifiedGraph simplified, simplify(std::move(imported.graph), {}, evaluate));
    for (const Cut& cut : cut_regions(simplified.graph)) COLLAGE_TRY_VOID(add_cut(simplified.graph, cut, source.name));
    return {};
  }

  Result<void> add_cut(const Graph& graph, const Cut& cut, const std::string& model) {
    COLLAGE_TRY(OperatorCase form, make_case(graph, cut));
    auto [at, is_new] = found_.try_emplace(cut.class_name + key_of(form));
    Found& found = at->second;
    if (is_new) {
      found.form = std::move(form);
      found.counts = cut.counts;
      found.label = describe(graph, cut.region.nodes, cut.anchor);
      found.anchor_key = found.label;
      found.op_type = graph.nodes[cut.anchor].op_type;
      if (!class_of(graph, graph.nodes[cut.anchor]).empty() && cut.counts) {
        const Cut alone{.region = make_region(graph, uses_of(graph), node_set(graph, {cut.anchor})),
                        .class_name = cut.class_name,
                        .anchor = cut.anchor};
        COLLAGE_TRY(const OperatorCase anchor, make_case(graph, alone));
        found.anchor_key = key_of(anchor);
      }
    }
    ++found.uses[model];
    return {};
  }

  void score(Found& found, const std::map<std::string, double>& model_us) const {
    for (const auto& [model, count] : found.uses) {
      const auto total = model_us.find(model);
      if (total == model_us.end() || total->second <= 0) continue;
      const double share = 100 * found.us * count / total->second;
      found.score += share / static_cast<double>(model_us.size());
      if (share <= found.form.share) continue;
      found.form.share = share;
      found.form.model = model;
    }
  }

  Backend& reference_;
  Backend& engine_;
  Profile& profile_;
  std::map<std::string, Found> found_;  ///< by class and key
};

double least_us(const Found& found) { return found.form.class_name() == "int8" ? kLeastInt8Us : kLeastUs; }

/// Where one operator must not take the place of the others.
bool class_has_several_operators(std::string_view class_name) {
  return class_name == "norm" || class_name == "pooling" || class_name == "reduction";
}

/// Those with the greatest score; no heavy operator twice, and not too many of one model while there are others.
std::vector<Found> chosen(std::vector<Found> found, std::size_t wanted) {
  std::ranges::stable_sort(
      found, [](const Found& a, const Found& b) { return a.score != b.score ? a.score > b.score : a.label < b.label; });
  std::vector<Found> taken;
  std::set<std::string> anchors;
  std::map<std::string, std::size_t> counts;  ///< by model, and by operator
  std::set<std::string> operators;
  for (const Found& each : found) operators.insert(each.op_type);
  const auto part = [&](std::size_t of) { return (wanted + of - 1) / of; };
  const auto is_too_much = [&](const Found& next) {
    const bool has_several = class_has_several_operators(next.form.class_name()) && operators.size() > 1;
    return counts["model " + next.form.model] >= part(kModelsOfClass) ||
           (has_several && counts["operator " + next.op_type] >= part(kOperatorsOfClass));
  };
  for (const bool is_strict : {true, false})
    for (Found& next : found) {
      if (taken.size() == wanted || next.us < least_us(next) || next.us > kMostUs || next.label.empty()) continue;
      if (anchors.contains(next.anchor_key) || anchors.contains(next.label)) continue;
      if (is_strict && is_too_much(next)) continue;
      ++counts["model " + next.form.model];
      ++counts["operator " + next.op_type];
      anchors.insert({next.anchor_key, next.label});
      taken.push_back(std::move(next));
      next.label.clear();
    }
  return taken;
}

class Choice {
 public:
  explicit Choice(std::map<std::string, std::vector<Found>> by_class) : by_class_(std::move(by_class)) {}

  std::vector<OperatorCase> run() {
    for (const OperatorClass& which : kOperatorClasses) {
      const std::string name(which.name);
      const bool is_int8 = name == "int8";
      std::vector<Found> taken = chosen(by_class_[name], is_int8 ? kMostInt8FromModels : which.wanted);
      const std::size_t count = taken.size();
      for (Found& found : taken) {
        if (!is_int8) layers_[name].push_back(found);
        keep(std::move(found.form), found.label);
      }
      if (is_int8) add_quantised(which.wanted - std::min(count, which.wanted));
    }
    return std::move(cases_);
  }

 private:
  void keep(OperatorCase form, const std::string& label) {
    form.name += label;
    for (int n = 2; !names_.insert(form.name).second; ++n)
      form.name = fmt::format("{}{}-{}", class_prefix(form), label, n);
    cases_.push_back(std::move(form));
  }

  static std::string class_prefix(const OperatorCase& form) { return form.class_name() + '/'; }

  /// The first layers of each class in turn; few as quantised operators, which few engines run.
  void add_quantised(std::size_t wanted) {
    static const std::vector<std::string> kFrom = {"conv_winograd", "conv_pointwise", "depthwise", "conv_direct",
                                                   "matmul"};
    std::size_t made = 0;
    for (std::size_t rank = 0; made < wanted && rank < 10; ++rank)
      for (const std::string& from : kFrom) {
        if (made == wanted || rank >= layers_[from].size()) continue;
        const QuantisedForm form = made % 5 == 4 ? QuantisedForm::kOperator : QuantisedForm::kWrapped;
        auto quantised_case = quantised(layers_[from][rank].form, form);
        if (!quantised_case) continue;
        quantised_case->name = "int8/";
        const Graph& graph = quantised_case->graph;
        const auto anchor =
            std::ranges::find_if(graph.nodes, [&](const Node& node) { return !class_of(graph, node).empty(); });
        const std::string label = describe(graph, whole_region(graph, uses_of(graph)).nodes,
                                           static_cast<std::size_t>(anchor - graph.nodes.begin()));
        keep(*std::move(quantised_case), (form == QuantisedForm::kOperator ? "qlinear-" : "qdq-") + label);
        ++made;
      }
  }

  std::map<std::string, std::vector<Found>> by_class_;
  std::map<std::string, std::vector<Found>> layers_;  ///< chosen, by class
  std::set<std::string> names_;
  std::vector<OperatorCase> cases_;
};

constexpr const char* kHead =
    "# Configurations of the operator benchmark, written by tools/choose_operators.py; do not edit.\n"
    "# Each is cut as it stands out of the simplified graph of a model or workload. Of each class those were taken "
    "that\n"
    "# have the greatest part of the models' time in ONNX Runtime on one thread, no heavy operator twice, at most a\n"
    "# third from one model while others have some, none below 15 us (8-bit ones: 4 us; shorter ones say what a call\n"
    "# costs) or above 150 ms.\n"
    "# model= and share=: where the part is greatest, and how many percent of that model's time it is there.\n"
    "# The models hold few 8-bit operators: int8 cases without model= are float layers chosen above, quantised.\n";

Result<void> cut(const Options& options) {
  Registry registry(default_module_folders());
  COLLAGE_TRY(Backend * reference, registry.get(kReferenceEngine));
  COLLAGE_TRY(Backend * engine, registry.get(kFillerEngine));
  Profile profile(options.times);
  Collection collection(*reference, *engine, profile);
  std::vector<Source> sources;
  if (!options.models.empty()) {
    COLLAGE_TRY(sources, manifest_sources(options.models, registry));
  }
  for (Source& source : workload_sources(options.workloads)) sources.push_back(std::move(source));
  for (const Source& source : sources) collection.add(source);
  auto by_class = collection.scored();
  COLLAGE_TRY_VOID(profile.save());
  std::string text = kHead;
  for (const OperatorCase& which : Choice(std::move(by_class)).run()) text += '\n' + to_text(which);
  if (options.output.empty()) {
    std::cout << text;
    return {};
  }
  const std::string_view piece = text;
  return write_file(options.output, {&piece, 1});
}

}  // namespace
}  // namespace collage::bench

int main(int argc, char** argv) {
  collage::bench::Options options;
  CLI::App app("chooses the configurations of the operator benchmark");
  app.add_option("--models", options.models, "a folder with a MANIFEST.json");
  app.add_option("--workloads", options.workloads, "names, all or none")->capture_default_str();
  app.add_option("--times", options.times, "file that keeps the measured times");
  app.add_option("-o,--output", options.output, "the file to write; default: standard output");
  CLI11_PARSE(app, argc, argv);
  if (const auto done = collage::bench::cut(options); !done) {
    std::cerr << to_string(done.error()) << '\n';
    return static_cast<int>(done.error().exit);
  }
  return 0;
}
