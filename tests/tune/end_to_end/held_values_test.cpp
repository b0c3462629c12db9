// Strings, sequences, optionals and maps are placed like other values: they come in and go out of a plan, and pass from
// a step to another one, with steps of other backends between. Any placement gives the reference's values.
#include <gtest/gtest.h>

#include <set>

#include "api/tune/gather_inputs.h"
#include "numbers/compare.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "plan/open_values.h"
#include "tests/tune/end_to_end/random_placements.h"

namespace collage {
namespace {

using test::RandomPlacements;
using test::registry;

constexpr std::uint64_t kHeldSeeds = 12;

struct HeldNetwork {
  std::string name;
  std::string graph;  ///< with nodes that other backends take, too
};

void PrintTo(const HeldNetwork& network, std::ostream* out) { *out << network.name; }

const std::vector<HeldNetwork>& held_networks() {
  static const std::vector<HeldNetwork> all = {
      {"words_to_labels",
       R"(graph(%s: str[8], %w: f32[16,3]) -> (%label) { opset ai.onnx 26, ai.onnx.ml 4
            constant %t = f32[4,16]#TABLE
            %i: i64[*] = ai.onnx.ml::LabelEncoder(%s) {keys_strings=["red", "green", "blue"], values_int64s=[0, 1, 2], default_int64=3}
            %e: f32[*] = Gather(%t, %i)
            %r: f32[*] = Relu(%e)
            %m: f32[*] = MatMul(%r, %w)
            %k: i64[*] = ArgMax(%m) {axis=1, keepdims=0}
            %label: str[*] = ai.onnx.ml::LabelEncoder(%k) {keys_int64s=[0, 1, 2], values_strings=["cold", "warm", "hot"], default_string="none"} })"},
      {"words_beside_numbers",
       R"(graph(%a: str[2,3], %b: str[2,3], %x: f32[2,3]) -> (%both, %y, %same) { opset ai.onnx 26
            %c: str[*] = StringConcat(%a, %b)
            %both: str[*] = StringConcat(%c, %a)
            %same: bool[*] = Equal(%c, %both)
            %n: f32[*] = Cast(%same) {to=1}
            %v: f32[*] = Mul(%x, %n)
            %y: f32[*] = Add(%v, %x) })"},
      {"parts_and_whole",
       R"(graph(%x: f32[6,8], %w: f32[8,8]) -> (%y) { opset ai.onnx 26 constant %one = i64[]{1}
            %p: f32[*] = MatMul(%x, %w)
            %s: seq(f32[*]) = SplitToSequence(%p) {axis=0, keepdims=1}
            %q: seq(f32[*]) = SequenceErase(%s, %one)
            %j: f32[*] = ConcatFromSequence(%q) {axis=0}
            %r: f32[5,8] = Relu(%j)
            %y: f32[*] = MatMul(%r, %w) })"},
      {"sequence_in_and_out",
       R"(graph(%s: seq(f32[2,4]), %x: f32[2,4]) -> (%t, %y, %n) { opset ai.onnx 26 constant %zero = i64[]{0}
            %v: f32[2,4] = Relu(%x)
            %t: seq(f32[*]) = SequenceInsert(%s, %v)
            %n: i64[] = SequenceLength(%t)
            %f: f32[2,4] = SequenceAt(%t, %zero)
            %y: f32[2,4] = Add(%f, %v) })"},
      {"maybe",
       R"(graph(%o: opt(f32[3,4]), %x: f32[3,4]) -> (%y, %has) { opset ai.onnx 26
            %e: f32[3,4] = OptionalGetElement(%o)
            %has: bool[] = OptionalHasElement(%o)
            %r: f32[3,4] = Relu(%e)
            %y: f32[3,4] = Mul(%r, %x) })"},
      {"counted_words",
       R"(graph(%m: map(str,f32[])) -> (%y) { opset ai.onnx 26, ai.onnx.ml 1
            %v: f32[1,4] = ai.onnx.ml::DictVectorizer(%m) {string_vocabulary=["a", "b", "c", "d"]}
            %r: f32[1,4] = Sqrt(%v)
            %y: f32[1,4] = Add(%r, %v) })"},
      {"named_scores",
       R"(graph(%x: f32[2,3]) -> (%z) { opset ai.onnx 26, ai.onnx.ml 1
            %p: f32[2,3] = Softmax(%x)
            %q: f32[2,3] = Mul(%p, %p)
            %z: seq(map(i64,f32[])) = ai.onnx.ml::ZipMap(%q) {classlabels_int64s=[4, 7, 9]} })"},
      {"as_it_came",
       R"(graph(%s: str[2], %x: f32[2]) -> (%t, %y) { opset ai.onnx 26
            %t: str[2] = Identity(%s)
            %y: f32[2] = Relu(%x) })"}};
  return all;
}

Graph graph_of(const HeldNetwork& network) {
  std::string text = network.graph;
  std::map<std::string, Tensor> constants;
  if (const std::size_t at = text.find("TABLE"); at != std::string::npos) {
    std::vector<float> numbers(64);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(static_cast<int>(i * 7 % 13) - 6);
    const Tensor table = make_tensor(ElementType::kFloat32, {4, 16}, numbers);
    text.replace(at, 5, content_hash(table));
    constants.emplace(content_hash(table), table);
  }
  auto parsed = parse_graph(text, constants);
  EXPECT_TRUE(parsed) << to_string(parsed.error());
  if (!parsed) return {};
  auto made = import_model(export_graph(*parsed, {.external = {}, .node_metadata = {}}), "", {});
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? std::move(made->graph) : Graph{};
}

class HeldValues : public ::testing::TestWithParam<HeldNetwork> {
 protected:
  void SetUp() override {
    const auto engine = registry().get(kReferenceEngine);
    if (!engine || !registry().get("host")) GTEST_SKIP() << "needs the reference";
    graph_ = graph_of(GetParam());
    auto reference = WholeModel::create(**engine, graph_, std::nullopt, {});
    ASSERT_TRUE(reference) << to_string(reference.error());
    reference_ = std::make_unique<WholeModel>(std::move(*reference));
    test::write_model(graph_, scratch_.file("model.onnx"));
  }

  void expect_values(RealisedPlan plan) {
    auto session = test::session_of(std::move(plan), registry());
    ASSERT_TRUE(session) << to_string(session.error());
    for (std::uint64_t seed = 1; seed <= kHeldSeeds; ++seed) {
      SCOPED_TRACE("inputs of seed " + std::to_string(seed));
      const auto inputs = gather_inputs(graph_, {.files = {}, .ranges = {}, .seed = seed});
      ASSERT_TRUE(inputs) << to_string(inputs.error());
      ASSERT_TRUE(reference_->set_inputs(*inputs));
      ASSERT_TRUE(reference_->run());
      const auto expected = reference_->outputs();
      ASSERT_TRUE(expected) << to_string(expected.error());
      const auto set = session->set_inputs(*inputs);
      ASSERT_TRUE(set) << to_string(set.error());
      for (int run = 0; run < 2; ++run) {
        const auto ran = session->run();
        ASSERT_TRUE(ran) << to_string(ran.error());
        const auto seen = session->copy_outputs();
        ASSERT_TRUE(seen) << to_string(seen.error());
        for (std::size_t o = 0; o < seen->size(); ++o) {
          const Comparison comparison = compare((*seen)[o], (*expected)[o], Accuracy::kStandard, false);
          EXPECT_TRUE(comparison.ok) << "output " << o << ": " << to_string(comparison);
        }
      }
    }
  }

  test::Scratch scratch_;
  Graph graph_;
  std::unique_ptr<WholeModel> reference_;
};

TEST_P(HeldValues, AnyPlacementGivesTheReferencesValues) {
  RandomPlacements placements(scratch_.file("model.onnx"), {"onnxruntime", "host", "native"});
  std::set<std::string> backends;
  for (const std::size_t most_nodes : {std::size_t{1}, std::size_t{2}, std::size_t{8}}) {
    SCOPED_TRACE("regions of at most " + std::to_string(most_nodes));
    std::mt19937_64 random(most_nodes);
    auto plan = placements.next(random, most_nodes);
    ASSERT_TRUE(plan) << to_string(plan.error());
    for (const PlanStep& step : plan->plan.steps) backends.insert(step.backend);
    expect_values(std::move(*plan));
  }
  EXPECT_GE(backends.size(), 2U) << ::testing::PrintToString(backends);
}

TEST_P(HeldValues, PassBetweenStepsOfOneNodeEach) {
  RandomPlacements placements(scratch_.file("model.onnx"), {"onnxruntime"});
  std::mt19937_64 random(1);
  auto plan = placements.next(random, 1);
  ASSERT_TRUE(plan) << to_string(plan.error());
  expect_values(std::move(*plan));
}

std::string name_of_network(const ::testing::TestParamInfo<HeldNetwork>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Networks, HeldValues, ::testing::ValuesIn(held_networks()), name_of_network);

}  // namespace
}  // namespace collage
