#include "cli/commands/run_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_numbers.h"
#include "base/shorten.h"
#include "ir/value_json.h"

namespace collage::cli {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// So many values of each output are shown.
constexpr std::size_t kFirst = 6;
/// Bytes of a sequence, an optional or a map, and of a string.
constexpr std::size_t kShown = 200;

/// The elements as numbers; nothing for strings, complex numbers and types that no one computes with here.
std::optional<std::vector<double>> numbers_of(const Tensor& tensor) {
  if (auto floats = floats_of(tensor)) return floats;
  const auto integers = integers_of(tensor);
  if (!integers) return std::nullopt;
  return std::vector<double>(integers->begin(), integers->end());
}

void add_figures(const std::vector<double>& numbers, TensorSummary& summary) {
  double sum = 0;
  std::size_t count = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      ++summary.not_finite;
      continue;
    }
    summary.min = std::min(summary.min.value_or(number), number);
    summary.max = std::max(summary.max.value_or(number), number);
    sum += number;
    ++count;
  }
  if (count > 0) summary.mean = sum / static_cast<double>(count);
}

std::string text_of(const TensorSummary& summary) {
  std::string text;
  if (summary.min)
    text += fmt::format("  min {:.6g}  mean {:.6g}  max {:.6g}", *summary.min, *summary.mean, *summary.max);
  if (summary.not_finite > 0) text += fmt::format("  NOT FINITE: {}", summary.not_finite);
  return text.empty() ? text : text + "\n";
}

std::string text_of_output(const RunArray& output) {
  const TensorSummary summary = summary_of(output.tensor);
  std::string text = fmt::format("{}: {}\n{}", output.name, to_string(output.tensor.value_type()), text_of(summary));
  if (!summary.first.empty())
    text += fmt::format(
        "  {}{}\n", fmt::join(summary.first, " "),
        !output.tensor.container && static_cast<std::size_t>(output.tensor.size()) > summary.first.size() ? " ..."
                                                                                                          : "");
  return text;
}

OrderedJson json_of(const std::optional<double>& number) { return number ? OrderedJson(*number) : OrderedJson(); }

OrderedJson json_of(const RunArray& array) {
  OrderedJson object = {{"name", array.name}, {"type", to_string(array.tensor.value_type())}};
  if (!array.tensor.container) object["shape"] = array.tensor.extents;
  if (!array.written.empty()) object["file"] = array.written;
  return object;
}

OrderedJson json_of_input(const RunArray& input) {
  OrderedJson object = json_of(input);
  object["made_up"] = input.given.empty();
  if (!input.given.empty()) object["given"] = input.given;
  return object;
}

OrderedJson json_of_output(const RunArray& output) {
  const TensorSummary summary = summary_of(output.tensor);
  OrderedJson object = json_of(output);
  object["min"] = json_of(summary.min);
  object["mean"] = json_of(summary.mean);
  object["max"] = json_of(summary.max);
  object["not_finite"] = summary.not_finite;
  object["first"] = summary.first;
  return object;
}

}  // namespace

TensorSummary summary_of(const Tensor& tensor) {
  TensorSummary summary;
  if (tensor.container) {
    if (const auto json = value_to_json(tensor, ""))
      summary.first.push_back(shortened(json->dump(-1, ' ', false, Json::error_handler_t::replace), kShown));
    return summary;
  }
  if (tensor.type == ElementType::kString) {
    for (std::size_t i = 0; i < std::min(kFirst, tensor.strings.size()); ++i)
      summary.first.push_back("\"" + shortened(tensor.strings[i], kShown) + "\"");
    return summary;
  }
  const auto numbers = numbers_of(tensor);
  if (!numbers) return summary;
  add_figures(*numbers, summary);
  for (std::size_t i = 0; i < std::min(kFirst, numbers->size()); ++i)
    summary.first.push_back(fmt::format("{:.6g}", (*numbers)[i]));
  return summary;
}

std::string to_text(const RunReport& report) {
  std::string text;
  for (const RunArray& output : report.outputs) text += text_of_output(output);
  for (const RunArray& input : report.inputs)
    if (input.given.empty())
      text += fmt::format("{}: {}, made up, seed {}\n", input.name, to_string(input.tensor.value_type()), report.seed);
  text += fmt::format("one run, the first: {:.3f} ms with {} thread{}; collage bench times many\n",
                      static_cast<double>(report.run_ns) / 1e6, report.threads, report.threads == 1 ? "" : "s");
  for (const std::string& file : report.files) text += "wrote " + file + "\n";
  return text;
}

std::string to_json(const RunReport& report) {
  OrderedJson object = {{"schema", "collage.run/1"}, {"outputs", OrderedJson::array()}};
  for (const RunArray& output : report.outputs) object["outputs"].push_back(json_of_output(output));
  object["inputs"] = OrderedJson::array();
  for (const RunArray& input : report.inputs) object["inputs"].push_back(json_of_input(input));
  object["seed"] = report.seed;
  object["threads"] = report.threads;
  object["run_us"] = static_cast<double>(report.run_ns) / 1000;
  object["files"] = report.files;
  return object.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace collage::cli
