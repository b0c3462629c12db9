#include "api/tune/gather_inputs.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "ir/check_value.h"
#include "numbers/held_inputs.h"
#include "numbers/inputs.h"
#include "onnx/files/value_file.h"

namespace collage {
namespace {

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId id : graph.inputs) names.push_back(graph.value(id).name);
  return names;
}

Result<Tensor> read_input(const Value& input, const std::string& path) {
  COLLAGE_TRY(Tensor tensor, read_value(path, input.type));
  COLLAGE_TRY_VOID(check_value("input " + input.name + " (" + path + ")", input.type, tensor));
  return tensor;
}

/// Every name the user wrote is an input's, and no input is both given and made up.
Result<void> check_names(const Graph& graph, const GatherOptions& options) {
  const std::vector<std::string> known = names_of(graph);
  const auto check = [&](const std::string& option, const std::string& name) -> Result<void> {
    if (std::ranges::find(known, name) != known.end()) return {};
    return fail(ExitCode::kUsage, "input/unknown-name", option + " " + name,
                "no input " + name + did_you_mean(name, known), fmt::format("{}", fmt::join(known, ", ")));
  };
  for (const auto& [name, path] : options.files) COLLAGE_TRY_VOID(check("--input", name));
  for (const auto& [name, range] : options.ranges) {
    COLLAGE_TRY_VOID(check("--input-range", name));
    if (options.files.contains(name))
      return fail(ExitCode::kUsage, "input/bad-range", "--input-range " + name, "a file for this input, too",
                  "a range for an input that is made up");
  }
  return {};
}

Result<Tensor> make_up(const Graph& graph, ValueId id, const GatherOptions& options) {
  const Value& value = graph.value(id);
  std::optional<std::pair<double, double>> range;
  if (const auto found = options.ranges.find(value.name); found != options.ranges.end()) range = found->second;
  if (value.type.is_held() && range)
    return fail(ExitCode::kUsage, "input/bad-range", "--input-range " + value.name, to_string(value.type),
                "a range for a tensor of numbers");
  if (value.type.is_held()) return make_held_input(graph, id, options.seed);
  return make_input(value.name, value.type, options.seed, range, index_limit(graph, id));
}

}  // namespace

Result<Tensor> read_array(const std::string& path) { return read_value(path, {}); }

Result<std::vector<Tensor>> gather_inputs(const Graph& graph, const GatherOptions& options) {
  COLLAGE_TRY_VOID(check_names(graph, options));
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const auto file = options.files.find(graph.value(id).name);
    COLLAGE_TRY(inputs.emplace_back(),
                file != options.files.end() ? read_input(graph.value(id), file->second) : make_up(graph, id, options));
  }
  return inputs;
}

}  // namespace collage
