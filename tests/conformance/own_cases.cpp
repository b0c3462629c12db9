#include "tests/conformance/own_cases.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "numbers/inputs.h"
#include "onnx/export.h"
#include "onnx/import.h"

namespace collage::conformance {
namespace {

/// One case as it stands in a file.
struct Section {
  std::string name;
  InputOptions inputs;
  std::string graph;
};

std::unexpected<Error> malformed(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "conformance/malformed", where, std::move(saw), std::move(allowed));
}

/// "case NAME (%INPUT=LO..HI)*"
Result<Section> parse_head(const std::string& family, const std::string& line) {
  std::istringstream words(line);
  std::string word;
  Section section;
  words >> word >> section.name;
  section.name = family + '/' + section.name;
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const std::size_t dots = word.find("..");
    if (word[0] != '%' || equals == std::string::npos || dots == std::string::npos || dots < equals)
      return malformed(section.name, word, "%INPUT=LO..HI");
    section.inputs.ranges[word.substr(1, equals - 1)] = {std::stod(word.substr(equals + 1, dots - equals - 1)),
                                                         std::stod(word.substr(dots + 2))};
  }
  return section;
}

Result<std::vector<Section>> read_sections(const std::string& path, const std::string& family) {
  std::ifstream file(path);
  if (!file) return fail(ExitCode::kIo, "io/cannot-read", path, "no readable file");
  std::vector<Section> sections;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with("case ")) {
      COLLAGE_TRY(Section section, parse_head(family, line));
      sections.push_back(std::move(section));
    } else if (!sections.empty()) {
      sections.back().graph += line + '\n';
    } else if (!line.empty()) {
      return malformed(path, line, "a line 'case NAME'");
    }
  }
  return sections;
}

/// Turns the inputs that are weights into constants.
void fix_weights(Graph& graph, std::vector<Tensor>& inputs) {
  std::vector<ValueId> ids;
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    if (graph.value(id).name.starts_with('w')) {
      graph.value(id).constant = inputs[i];
    } else {
      ids.push_back(id);
      tensors.push_back(inputs[i]);
    }
  }
  graph.inputs = std::move(ids);
  inputs = std::move(tensors);
}

/// ONNX's checker wants a type on every output.
void type_outputs(Graph& graph) {
  for (const ValueId id : graph.outputs)
    if (ValueType& type = graph.value(id).type; type == ValueType{}) type = *parse_value_type("f32[*]");
}

Result<Case> to_case(const Section& section) {
  COLLAGE_TRY(Graph graph, parse_graph(section.graph));
  type_outputs(graph);
  if (!graph.opsets.contains("")) graph.opsets[""] = 26;
  COLLAGE_TRY(std::vector<Tensor> inputs, make_inputs(graph, section.inputs));
  fix_weights(graph, inputs);
  ImportOptions options;
  options.knows_vendor_operator = [](std::string_view domain, std::string_view) { return domain == "com.microsoft"; };
  COLLAGE_TRY(Imported imported,
              import_model(export_graph(graph, {.value_info = false, .keep_ids = false}), "", options));
  if (imported.graph.nodes.empty()) return malformed(section.name, "nothing left to run", "a computation");
  return Case{.name = section.name, .graph = std::move(imported.graph), .inputs = std::move(inputs), .expected = {}};
}

}  // namespace

std::vector<std::string> own_families(const std::string& folder) {
  std::vector<std::string> families;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".txt") families.push_back(entry->path().stem().string());
  std::sort(families.begin(), families.end());
  return families;
}

Result<std::vector<Case>> read_own_cases(const std::string& folder, const std::string& family) {
  COLLAGE_TRY(const std::vector<Section> sections, read_sections(folder + '/' + family + ".txt", family));
  std::vector<Case> cases;
  for (const Section& section : sections) {
    auto made = to_case(section);
    if (!made) {
      Error error = std::move(made).error();
      error.where = section.name + ": " + error.where;
      return std::unexpected(std::move(error));
    }
    cases.push_back(*std::move(made));
  }
  return cases;
}

}  // namespace collage::conformance
