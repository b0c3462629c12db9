#include "bench/operators/operator_case.h"

#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "numbers/inputs.h"

namespace collage::bench {
namespace {

/// A case as it stands in a file.
struct Section {
  OperatorCase head;
  std::string graph;
};

std::unexpected<Error> malformed(const std::string& where, std::string_view saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "bench/malformed", where, std::string(saw), std::move(allowed));
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "%INPUT=LO..HI"
bool read_range(std::string_view word, Ranges& ranges) {
  const std::size_t equals = word.find('=');
  const std::size_t dots = word.find("..", equals);
  if (word[0] != '%' || dots == std::string_view::npos) return false;
  const auto low = number(word.substr(equals + 1, dots - equals - 1));
  const auto high = number(word.substr(dots + 2));
  if (!low || !high) return false;
  ranges[std::string(word.substr(1, equals - 1))] = {*low, *high};
  return true;
}

bool read_word(std::string_view word, OperatorCase& head) {
  if (word.starts_with("model=")) {
    head.model = word.substr(6);
    return true;
  }
  if (!word.starts_with("share=")) return read_range(word, head.ranges);
  const auto share = number(word.substr(6));
  head.share = share.value_or(0);
  return share.has_value();
}

Result<Section> read_head(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  Section section;
  words >> word >> section.head.name;
  if (section.head.name.find('/') == std::string::npos) return malformed(line, section.head.name, "CLASS/NAME");
  while (words >> word)
    if (!read_word(word, section.head))
      return malformed(section.head.name, word, "model=MODEL, share=PERCENT or %INPUT=LO..HI");
  return section;
}

Result<std::vector<Section>> read_sections(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(ExitCode::kIo, "io/cannot-read", path, "no readable file");
  std::vector<Section> sections;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    if (line.starts_with("case ")) {
      COLLAGE_TRY(Section section, read_head(line));
      sections.push_back(std::move(section));
    } else if (!sections.empty()) {
      sections.back().graph += line + '\n';
    } else if (!line.empty()) {
      return malformed(path, line, "a line 'case CLASS/NAME'");
    }
  }
  return sections;
}

Result<OperatorCase> to_case(Section section) {
  COLLAGE_TRY(section.head.graph, parse_graph(section.graph));
  COLLAGE_TRY_VOID(verify(section.head.graph));
  if (section.head.graph.nodes.empty()) return malformed(section.head.name, "no node", "a computation");
  return std::move(section.head);
}

}  // namespace

Result<std::vector<OperatorCase>> read_operator_cases(const std::string& path) {
  COLLAGE_TRY(std::vector<Section> sections, read_sections(path));
  std::vector<OperatorCase> cases;
  for (Section& section : sections) {
    const std::string name = section.head.name;
    auto made = to_case(std::move(section));
    if (!made) {
      Error error = std::move(made).error();
      error.where = name + ": " + error.where;
      return std::unexpected(std::move(error));
    }
    cases.push_back(*std::move(made));
  }
  return cases;
}

std::string to_text(const OperatorCase& which) {
  std::string text = "case " + which.name;
  if (!which.model.empty()) text += fmt::format(" model={} share={:.3g}", which.model, which.share);
  for (const auto& [name, range] : which.ranges)
    text += fmt::format(" %{}={:.6g}..{:.6g}", name, range.first, range.second);
  return text + '\n' + collage::to_text(which.graph);
}

Result<ReadyCase> ready_case(const OperatorCase& which) {
  COLLAGE_TRY(std::vector<Tensor> drawn, make_inputs(which.graph, {.seed = 1, .ranges = which.ranges}));
  ReadyCase ready{.graph = which.graph, .inputs = {}};
  ready.graph.inputs.clear();
  for (std::size_t i = 0; i < which.graph.inputs.size(); ++i) {
    const ValueId id = which.graph.inputs[i];
    if (which.graph.value(id).name.starts_with('w')) {
      ready.graph.value(id).constant = std::move(drawn[i]);
    } else {
      ready.graph.inputs.push_back(id);
      ready.inputs.push_back(std::move(drawn[i]));
    }
  }
  return ready;
}

}  // namespace collage::bench
