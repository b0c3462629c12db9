#include "tests/conformance/official_cases.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "onnx/export.h"
#include "onnx/files/value_file.h"
#include "onnx/import.h"
#include "onnx/import_arrays.h"
#include "region/region.h"

namespace collage::conformance {
namespace {

std::unexpected<Error> not_runnable(const std::string& code, std::string saw) {
  return fail(ExitCode::kUnsupported, "conformance/" + code, "case", std::move(saw));
}

/// Dropout in training with a ratio of zero draws random numbers, and all of them are one.
bool draws_the_same(const std::string& name) { return name.starts_with("test_training_dropout_zero_ratio"); }

bool draws_random_numbers(const Graph& graph) {
  static const std::set<std::string_view> kRandom = {"Bernoulli",        "Multinomial",   "RandomNormal",
                                                     "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    // Dropout with a third input is Dropout in training.
    return node.domain.empty() &&
           (kRandom.contains(node.op_type) || (node.op_type == "Dropout" && input_of(node, 2).valid()));
  });
}

/// Sorted. Official outputs that ONNX's text does not allow:
/// - MaxUnpool's indices count elements of the output it makes, not of a smaller one that is padded afterwards;
/// - Resize with align_corners divides by the integer length of the output, not by input length times scale.
constexpr std::array<std::string_view, 3> kDisputed = {"test_maxunpool_export_with_output_shape",
                                                       "test_resize_downsample_scales_cubic_align_corners",
                                                       "test_resize_downsample_scales_linear_align_corners"};

/// Equal values, which a backend may order as it likes, and a value that lies on its threshold but for rounding.
bool has_ties(const std::string& name) {
  return name.starts_with("test_top_k_same_values") || name == "test_nonmaxsuppression_iou_threshold_boundary";
}

/// Says why a graph cannot be a case: one whole region between tensors of known shape and held values, outputs of the
/// graph excepted.
Result<void> check_runnable(const Graph& graph, const std::string& name) {
  if (graph.nodes.empty()) return not_runnable("folded", "no nodes");
  if (!draws_the_same(name) && draws_random_numbers(graph)) return not_runnable("random", "random numbers");
  for (const ValueId id : graph.inputs)
    if (const ValueType& type = graph.value(id).type; !type.is_static() && !type.is_held())
      return not_runnable("open-border", to_string(type));
  for (const ValueId id : graph.outputs)
    if (const ValueType& type = graph.value(id).type;
        !type.is_held() && (type.kind != ValueKind::kTensor || type.element == ElementType::kUndefined))
      return not_runnable("open-border", to_string(type));
  return {};
}

Result<std::vector<Tensor>> read_values(const std::string& path, const std::string& kind, const Graph& graph,
                                        const std::vector<ValueId>& ids) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    COLLAGE_TRY(Tensor tensor, read_value(path + "/test_data_set_0/" + kind + '_' + std::to_string(i) + ".pb",
                                          graph.value(ids[i]).type));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// Of a graph without nodes: its outputs must be the official ones.
Result<void> check_folded(const Graph& graph, const std::string& path) {
  if (!graph.nodes.empty()) return {};
  COLLAGE_TRY(const std::vector<Tensor> expected, read_values(path, "output", graph, graph.outputs));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& constant = graph.value(graph.outputs[i]).constant;
    if (!constant || *constant != expected[i]) return not_runnable("folded-wrong", "another constant");
  }
  return {};
}

/// With open dimensions as the test's arrays have them.
Result<Imported> import_test(const std::string& path) {
  const std::string file = path + "/model.onnx";
  auto imported = import_model(file);
  if (imported || imported.error().code != "import/unbound-dimension") return imported;
  ImportOptions options;
  options.allow_unbound = true;
  COLLAGE_TRY(const Imported open, import_model(file, options));
  COLLAGE_TRY(const std::vector<Tensor> inputs, read_values(path, "input", open.graph, open.graph.inputs));
  ArrayShapes shapes;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].container) shapes[open.graph.value(open.graph.inputs[i]).name] = inputs[i].extents;
  return import_model_for(file, {}, shapes);
}

/// The test in the folder `path`.
Result<Case> as_written(const std::string& path, const std::string& name) {
  if (std::binary_search(kDisputed.begin(), kDisputed.end(), name)) return not_runnable("disputed", "its output");
  if (has_ties(name)) return not_runnable("ties", "equal values");
  COLLAGE_TRY(Imported imported, import_test(path));
  COLLAGE_TRY_VOID(check_folded(imported.graph, path));
  COLLAGE_TRY_VOID(check_runnable(imported.graph, name));
  Case result{.name = name, .graph = std::move(imported.graph), .inputs = {}, .expected = {}};
  COLLAGE_TRY(result.inputs, read_values(path, "input", result.graph, result.graph.inputs));
  COLLAGE_TRY(result.expected, read_values(path, "output", result.graph, result.graph.outputs));
  return result;
}

Result<Case> with_constants(const Case& written) {
  Graph graph = written.graph;
  std::vector<Tensor> inputs = {written.inputs[0]};
  std::vector<ValueId> ids = {graph.inputs[0]};
  for (std::size_t i = 1; i < graph.inputs.size(); ++i) {
    if (written.inputs[i].container) {  // no constant
      ids.push_back(graph.inputs[i]);
      inputs.push_back(written.inputs[i]);
    } else {
      graph.value(graph.inputs[i]).constant = written.inputs[i];
    }
  }
  graph.inputs = std::move(ids);
  COLLAGE_TRY(Imported imported, import_model(export_graph(graph, {.keep_ids = false}), "", {}));
  COLLAGE_TRY_VOID(check_runnable(imported.graph, written.name));
  return Case{.name = written.name + "+const",
              .graph = std::move(imported.graph),
              .inputs = std::move(inputs),
              .expected = written.expected};
}

/// What makes a case another one than those before it (see representatives).
std::string form_of(const Case& which) {
  const Graph& graph = which.graph;
  std::string form;
  const auto add_types = [&](const std::vector<ValueId>& ids) {
    for (const ValueId id : ids) {
      if (!id.valid()) {
        form += " -";
        continue;
      }
      const Value& value = graph.value(id);
      form += ' ' + std::string(name_of(value.type.element)) + (value.constant ? "c" : "");
    }
  };
  for (const Node& node : graph.nodes) {
    form += '\n' + node.domain + ' ' + node.op_type;
    add_types(node.inputs);
    form += " ->";
    add_types(node.outputs);
  }
  return form;
}

void add(const std::string& name, Result<Case> made, OfficialCases& all) {
  if (made) {
    all.read[name] = {};
    all.cases.push_back(*std::move(made));
    return;
  }
  all.read[name] = {.kind = Outcome::Kind::kRefused, .reason = made.error().code, .detail = made.error().saw};
}

}  // namespace

OfficialCases read_official_cases(const std::string& folder, const std::string& family) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (std::string name = entry->path().filename().string(); name.starts_with("test_") && family_of(name) == family)
      names.push_back(std::move(name));
  std::sort(names.begin(), names.end());

  OfficialCases all;
  for (const std::string& name : names) {
    const std::string path = folder + '/' + name;
    auto written = as_written(path, name);
    std::optional<Result<Case>> constant;
    if (written && written->graph.inputs.size() > 1) constant = with_constants(*written);
    add(name, std::move(written), all);
    if (constant) add(name + "+const", *std::move(constant), all);
    if (const std::string inside = path + "/inside"; std::filesystem::is_directory(inside, error))
      add(name + "+inside", as_written(inside, name + "+inside"), all);
  }
  return all;
}

std::vector<bool> representatives(const std::vector<Case>& cases) {
  std::set<std::string> known;
  std::vector<bool> chosen;
  for (const Case& which : cases)
    chosen.push_back(which.name.find("_expanded") == which.name.npos && known.insert(form_of(which)).second);
  return chosen;
}

}  // namespace collage::conformance
