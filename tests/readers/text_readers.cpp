// Texts that users write: rules files, patterns, rules, options of the command line, graphs.
#include <algorithm>
#include <fstream>

#include "api/tune/option_texts.h"
#include "api/tune/rival_program.h"
#include "ir/shape_domain.h"
#include "region/rules/user_rules.h"
#include "tests/plan/plan_fixture.h"
#include "tests/readers/reader.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_text.h"

namespace collage::test {
namespace {

constexpr const char* kRules = "rules.txt";

std::vector<std::string> sample_rules() {
  return {R"(# comments
pattern host gate: Mul -> HardSwish -> Add
pattern * tail: Relu?(Add(Concat{@axis=1}(*, *, *), const?))
fuse host head: n* "Mul_0"
rule host: label(gate; named(: Softmax*))
replace host: valid(outputs<=1, nodes<=3, no taps; combine(class<=broadcast; broadcast->broadcast; depth<=3))
limit host: nodes<=40, outputs<=2, no bodies
ban host: Softmax|com.microsoft::FusedConv
)",
          R"(rule *: union(singles, taken, class<=anchor, operators(Mul|Add), maximal(splits<=2))
rule host: follow(singles; nodes<=4)
pattern host x: Add(a=*, Mul(*, a)) -> Relu; outputs<=2
)"};
}

std::vector<std::string> sample_patterns() {
  return {"Relu?(Add(Conv{@group?=1, in1.dim2=1}(*, const, const?), *))",
          "GlobalAveragePool -> Conv -> Relu|HardSwish -> Conv -> HardSigmoid -> Mul", "Add(a=Mul(*, *), HardSwish(a))",
          "Concat(*, ...) -> Sigmoid|Relu -> Transpose?", "Softmax{@axis=-1, in0.rank=2, type=f32}(Flatten(*))"};
}

/// Every kind of attribute and of statement.
const char* const kMixed = R"(graph mixed(%x: f32[n,3], %i: i64[2]) -> (%y, %z) {
  opset ai.onnx 26, local 1
  constant %w: f32[3] = f32[3]{1.0,-2.5,0.125}
  %a: f32[n,3] = Mul(%x, %w) "Mul_0"
  %y: f32[n,3], _ = local::Odd(%a, _, %i) {alpha=0.5, axes=[0,-1], mode="a b", names=["x","y"], t=i64[2]{1,2}} "odd name"
  %z: f32[2,3] = Gather(%a, %i) {axis=0}
}
)";

std::vector<std::string> sample_region_rules() {
  return {"valid(outputs<=1, nodes<=3, no taps; combine(class<=broadcast; broadcast->broadcast; depth<=3))",
          "label(gate; named(: Mul_0 *Add*))",
          "union(singles, taken, operators(Mul|Add), pattern(x: Mul -> HardSwish; outputs<=2))",
          "follow(union(maximal, singles); nodes<=4)",
          "maximal(splits<=3)",
          "combine(taken; operands<=injective, parallel; depth<=4)"};
}

/// `sample_graph()` with names.
const Graph& graph() {
  static const Graph named = [] {
    Graph made = sample_graph();
    for (std::size_t i = 0; i < made.nodes.size(); ++i)
      made.nodes[i].name = made.nodes[i].op_type + "_" + std::to_string(i);
    return made;
  }();
  return named;
}

std::string proposals_of(const PartitionRule& rule) {
  const Uses uses = uses_of(graph());
  const Reachability reach(graph(), uses);
  const RuleContext context{.graph = graph(), .uses = uses, .reach = reach};
  return std::to_string(enumerate(rule, context).size()) + " " + to_text(rule);
}

/// As a tune does with --rules.
Result<std::string> pool_under(const std::string& path) {
  COLLAGE_TRY(const UserRules rules, read_user_rules(path));
  const Uses uses = uses_of(graph());
  const std::vector<std::string> backends = {"host", "onednn"};
  COLLAGE_TRY_VOID(check_user_rules(graph(), uses, rules, backends));
  std::vector<Proposer> proposers;
  for (const std::string& backend : backends)
    proposers.push_back({.backend = backend, .rules = {}, .support = [](const Region& region) {
                           return std::vector<Variant>{{.name = "direct",
                                                        .input_formats = std::vector<Format>(region.inputs.size()),
                                                        .output_formats = std::vector<Format>(region.outputs.size())}};
                         }});
  add_user_rules(graph(), rules, proposers);
  CandidatePool pool = propose(graph(), uses, proposers);
  COLLAGE_TRY_VOID(keep_forced_regions(graph(), rules, pool));
  return std::to_string(pool.candidates.size()) + " of " + std::to_string(pool.regions.size());
}

Answer read_rules(const std::string& bytes, const std::filesystem::path& folder) {
  write_bytes(folder / kRules, bytes);
  Answer answer = answer_of([&] { return pool_under(folder / kRules); });
  std::filesystem::remove(folder / kRules);
  return answer;
}

/// What was read, written and read again is the same.
Error reads_otherwise(const std::string& text) {
  return {.code = "test/other-text",
          .where = text.substr(0, 200),
          .saw = "another form when it is read again",
          .exit = ExitCode::kBug};
}

Answer read_pattern(const std::string& bytes, const std::filesystem::path&) {
  return answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const PatternForm form, parse_pattern(bytes));
    const std::string text = to_text(form);
    const auto again = parse_pattern(text);
    if (!again || *again != form) return std::unexpected(reads_otherwise(text));
    return proposals_of(pattern_rule("label", form, 2));
  });
}

Answer read_rule(const std::string& bytes, const std::filesystem::path&) {
  return answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const PartitionRule rule, parse_rule(bytes, "rule"));
    const auto again = parse_rule(to_text(rule), "rule");
    if (!again || *again != rule) return std::unexpected(reads_otherwise(to_text(rule)));
    return proposals_of(rule);
  });
}

Answer read_graph_text(const std::string& bytes, const std::filesystem::path&) {
  return answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const Graph read, parse_graph(bytes));
    if (const auto sound = verify(read); !sound)
      return fail(ExitCode::kBadInput, "ir/not-sound", "graph", sound.error().saw);
    const std::string text = to_text(read);
    if (text.find('#') != std::string::npos) return text;  // of large constants there is only a hash
    const auto again = parse_graph(text);
    if (!again || to_text(*again) != text) return std::unexpected(reads_otherwise(text));
    return text;
  });
}

// ---- options -------------------------------------------------------------------------------------------------------

std::vector<std::string> sample_options() {
  return {"shape x=1x3x224x224",
          "shape batch=1..8",
          "shape scalar=",
          "accuracy strict",
          "accuracy max=1e-2,mean=1e-3,cosine>=0.999",
          "passes -fold_pad,-merge_bias",
          "range x=-1..1",
          "range y=0..1e3",
          "ban Conv*=onednn",
          "pin /gate/*=native",
          "rival tvm=python3 run.py --fast",
          "type f32[2,3,n]",
          "type seq(f32[?])",
          "extents 1x3x224x224"};
}

Result<std::string> shape_of(const std::string& text) {
  COLLAGE_TRY(const ShapeBindings bindings, parse_shape_bindings({{text}}));
  COLLAGE_TRY(const ShapeDomain domain, domain_of(bindings));
  return to_string(domain);
}

/// The option named before the first blank, with the text behind it.
Result<std::string> option_of(const std::string& line) {
  const std::size_t blank = std::min(line.find(' '), line.size());
  const std::string text = line.substr(std::min(blank + 1, line.size()));
  const OptionLabel label{.code = "cli/bad-option", .name = "--" + line.substr(0, blank)};
  if (label.name == "--accuracy") {
    COLLAGE_TRY(const OutputBound bound, accuracy_from(text, label));
    return to_string(bound);
  }
  if (label.name == "--passes") {
    COLLAGE_TRY(const std::set<std::string> off, passes_off_from(text, label));
    return std::to_string(off.size());
  }
  if (label.name == "--range") {
    COLLAGE_TRY(const auto ranges, input_ranges_from({text}, label));
    return std::to_string(ranges.size());
  }
  if (label.name == "--ban" || label.name == "--pin") {
    COLLAGE_TRY(const std::vector<NodeRule> rules, node_rules_from({text}, {text}));
    return std::to_string(
        std::ranges::count_if(graph().nodes, [&](const Node& node) { return names_node(rules[0], node); }));
  }
  if (label.name == "--rival") {
    COLLAGE_TRY(const RivalCommand command, parse_rival(text, label));
    return command.name;
  }
  if (label.name == "--type") {
    const auto type = parse_value_type(text);
    return type ? to_string(*type) : "none";
  }
  if (label.name == "--extents") {
    COLLAGE_TRY(const auto extents, parse_extents("x", text));
    return std::to_string(extents.size());
  }
  return shape_of(text);
}

Answer read_option(const std::string& bytes, const std::filesystem::path&) {
  return answer_of([&] { return option_of(bytes); });
}

/// The word that names the option stays most times.
std::string mutated_option(const std::string& sample, const std::string& other, Dice& dice) {
  const std::size_t blank = std::min(sample.find(' '), sample.size());
  if (dice.one_in(10)) return mutated_text(sample, other, dice);
  return sample.substr(0, blank) + " " + mutated_text(sample.substr(std::min(blank + 1, sample.size())), other, dice);
}

void add_text(std::vector<Reader>& all, const std::string& name, std::vector<std::string> (*samples)(),
              Answer (*read)(const std::string&, const std::filesystem::path&), const std::string& names = {}) {
  all.push_back({.name = name, .samples = samples, .mutate = mutated_text, .read = read, .names = names});
}

}  // namespace

void add_text_readers(std::vector<Reader>& all) {
  add_text(all, "rules", sample_rules, read_rules, kRules);
  add_text(all, "pattern", sample_patterns, read_pattern);
  add_text(all, "rule", sample_region_rules, read_rule);
  add_text(
      all, "graph_text",
      [] {
        return std::vector<std::string>{to_text(nested_graph()), kMixed};
      },
      read_graph_text);
  add_text(all, "option", sample_options, read_option);
  all.back().mutate = mutated_option;
}

}  // namespace collage::test
