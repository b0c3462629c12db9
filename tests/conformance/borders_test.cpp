// Operands at and beyond the borders of what operators take (docs/BORDERS.md), on every backend: what is legal gives
// what the reference gives, and what is not ends a plan with the node and the value named, not with numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/registry.h"
#include "backend/roles.h"
#include "numbers/compare.h"
#include "numbers/inputs.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "tests/support/paths.h"
#include "tests/support/session_of.h"
#include "tune/confirm/assemble.h"
#include "tune/confirm/whole_model.h"
#include "tune/proposers.h"

namespace collage::conformance {
namespace {

constexpr std::int64_t kLeast64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLeast32 = std::numeric_limits<std::int32_t>::min();

using Integers = std::vector<std::int64_t>;
/// Of integer inputs by name; inputs that are not given hold what is drawn.
using Given = std::map<std::string, Integers>;

struct Border {
  std::string name;
  std::string graph;
  Given good;
  std::vector<std::pair<Given, std::string>> bad;  ///< with what the error says was seen
  bool differs_in_openvino = false;                ///< the numbers are its own, as docs/BORDERS.md says
};

void PrintTo(const Border& border, std::ostream* out) { *out << border.name; }

/// Floats that do not fit, cast; nothing is known of them before the run. Three elements: of more, ONNX Runtime casts
/// some to u32 otherwise.
std::string cast_to(ElementType type, const std::string& floats) {
  return fmt::format(
      "graph(%c: bool[3]) -> (%y) {{ constant %n = f32[3]{{{}}} constant %z = f32[3]{{0.0, 1.0, 2.0}} %v: f32[*] = "
      "Where(%c, %n, %z) %y: {}[*] = Cast(%v) {{to={}}} }}",
      floats, name_of(type), static_cast<int>(type));
}

/// All types that whole numbers have, for floats beyond some of them.
std::vector<Border> casts() {
  std::vector<Border> all;
  const std::vector<std::pair<std::string, std::string>> floats = {
      {"odd", "nan, inf, -inf"}, {"large", "3e9, -3e9, 1e30"}, {"wrapping", "300.7, -300.7, -1.5"}};
  for (const ElementType type :
       {ElementType::kBool, ElementType::kInt8, ElementType::kUint8, ElementType::kInt16, ElementType::kUint16,
        ElementType::kInt32, ElementType::kUint32, ElementType::kInt64, ElementType::kUint64})
    for (const auto& [name, list] : floats)
      all.push_back({.name = fmt::format("cast-{}-to-{}", name, name_of(type)),
                     .graph = cast_to(type, list),
                     .good = {{"c", {1, 1, 1}}},
                     .bad = {},
                     .differs_in_openvino = true});
  return all;
}

const std::vector<Border>& borders() {
  static const std::vector<Border> all = {
      {"gather",
       "graph(%x: f32[3,4], %i: i64[2]) -> (%y) { %y: f32[*] = Gather(%x, %i) }",
       {{"i", {-1, -3}}},
       {{{{"i", {0, 3}}}, "saw 3 at [1]; allowed -3 to 2"},
        {{{"i", {-4, 0}}}, "saw -4 at [0]"},
        {{{"i", {0, std::int64_t{1} << 32}}}, "saw 4294967296"}}},
      {"gather-i32-last-axis",
       "graph(%x: f32[3,4], %i: i32[2,2]) -> (%y) { %y: f32[*] = Gather(%x, %i) {axis=1} }",
       {{"i", {-1, 0, 3, -4}}},
       {{{{"i", {0, 0, 4, 0}}}, "saw 4 at [1,0]; allowed -4 to 3"}}},
      {"gather-ids-of-another-type",
       "graph(%x: f32[3,4], %i: i32[1,2]) -> (%y) { %w: i64[*] = Cast(%i) {to=7} %y: f32[*] = Gather(%x, %w) }",
       {{"i", {-1, 2}}},
       {{{{"i", {3, 0}}}, "saw 3 at [0,0]"}}},
      {"gather-elements",
       "graph(%x: f32[3,4], %i: i64[1,4]) -> (%y) { %y: f32[*] = GatherElements(%x, %i) }",
       {{"i", {0, -1, 1, -3}}},
       {{{{"i", {0, 3, 1, 1}}}, "saw 3 at [0,1]"}}},
      {"gather-nd",
       "graph(%x: f32[3,4], %i: i64[2,2]) -> (%y) { %y: f32[*] = GatherND(%x, %i) }",
       {{"i", {0, -1, -3, 3}}},
       {{{{"i", {0, 0, 3, 3}}}, "saw 3 at [1,0]; allowed -3 to 2"},
        {{{"i", {0, 4, 1, 1}}}, "saw 4 at [0,1]; allowed -4 to 3"}}},
      {"gather-nd-of-batches",
       "graph(%x: f32[3,4], %i: i64[3,1]) -> (%y) { %y: f32[*] = GatherND(%x, %i) {batch_dims=1} }",
       {{"i", {0, -1, 3}}},
       {{{{"i", {4, 0, 0}}}, "saw 4 at [0,0]"}}},
      {"scatter-elements",
       "graph(%x: f32[3,4], %i: i64[1,4], %u: f32[1,4]) -> (%y) { %y: f32[*] = ScatterElements(%x, %i, %u) }",
       {{"i", {0, -1, 1, -3}}},
       {{{{"i", {0, 1, 2, -4}}}, "saw -4 at [0,3]"}}},
      {"scatter-nd",
       "graph(%x: f32[3,4], %i: i64[2,1], %u: f32[2,4]) -> (%y) { %y: f32[*] = ScatterND(%x, %i, %u) }",
       {{"i", {-1, 0}}},
       {{{{"i", {3, 0}}}, "saw 3 at [0,0]"}}},
      {"one-hot-beyond-is-off",
       "graph(%i: i64[3]) -> (%y) { constant %d = i64[]{3} constant %v = f32[2]{0.0, 1.0} %y: f32[*] = OneHot(%i, %d, "
       "%v) }",
       {{"i", {-1, 7, -9}}},
       {}},
      {"div",
       "graph(%a: i64[3], %b: i64[3]) -> (%y) { %y: i64[*] = Div(%a, %b) }",
       {{"a", {-7, 7, 6}}, {"b", {2, -2, -1}}},
       {{{{"a", {1, 2, 3}}, {"b", {1, 0, 2}}}, "saw 0 at [1]"},
        {{{"a", {kLeast64, 2, 3}}, {"b", {-1, 1, 2}}}, "saw -1 where a holds -9223372036854775808 at [0]"}}},
      {"div-i32-by-one-number",
       "graph(%a: i32[3], %b: i32[]) -> (%y) { %y: i32[*] = Div(%a, %b) }",
       {{"a", {-7, 7, 6}}, {"b", {-2}}},
       {{{{"a", {1, 2, 3}}, {"b", {0}}}, "saw 0; allowed anything but 0"},
        {{{"a", {1, kLeast32, 3}}, {"b", {-1}}}, "saw -1 where a holds -2147483648 at [1]"}}},
      {"mod",
       "graph(%a: i64[3], %b: i64[3]) -> (%y) { %y: i64[*] = Mod(%a, %b) }",
       {{"a", {-7, 7, 6}}, {"b", {2, -2, -1}}},
       {{{{"a", {1, 2, 3}}, {"b", {0, 1, 2}}}, "saw 0 at [0]"},
        {{{"a", {kLeast64, 2, 3}}, {"b", {-1, 1, 2}}}, "saw -1 where a"}}},
      {"mod-u8",
       "graph(%a: u8[3], %b: u8[3]) -> (%y) { %y: u8[*] = Mod(%a, %b) }",
       {{"a", {255, 7, 6}}, {"b", {2, 255, 6}}},
       {{{{"a", {1, 2, 3}}, {"b", {1, 1, 0}}}, "saw 0 at [2]"}}},
      {"reverse-sequence",
       "graph(%x: f32[4,3], %l: i64[3]) -> (%y) { %y: f32[*] = ReverseSequence(%x, %l) }",
       {{"l", {1, 4, 2}}},
       {{{{"l", {1, 5, 2}}}, "saw 5 at [1]; allowed 0 to 4"}, {{{"l", {1, -1, 2}}}, "saw -1"}}},
      {"gru-of-sequences",
       "graph(%x: f32[3,2,2], %w: f32[1,6,2], %r: f32[1,6,2], %l: i32[2]) -> (%y) { %y: f32[*] = GRU(%x, %w, %r, _, "
       "%l) "
       "{hidden_size=2} }",
       {{"l", {1, 3}}},
       {{{{"l", {1, 4}}}, "saw 4 at [1]; allowed 0 to 3"}}},
      {"rotary-embedding",
       "graph(%x: f32[1,2,3,4], %c: f32[5,2], %s: f32[5,2], %p: i64[1,3]) -> (%y) { %y: f32[*] = RotaryEmbedding(%x, "
       "%c, "
       "%s, %p) }",
       {{"p", {0, 4, 1}}},
       {{{{"p", {0, 5, 1}}}, "saw 5 at [0,1]; allowed 0 to 4"}, {{{"p", {-1, 0, 1}}}, "saw -1"}}},
      {"embeddings",
       "graph(%i: i32[1,2], %s: i32[1,2], %t: f32[5,4], %p: f32[3,4], %u: f32[2,4], %g: f32[4], %b: f32[4]) -> (%y) { "
       "opset ai.onnx 20, com.microsoft 1 %y: f32[1,2,4], %m: i32[1] = com.microsoft::EmbedLayerNormalization(%i, %s, "
       "%t, "
       "%p, %u, %g, %b) }",
       {{"i", {0, 4}}, {"s", {1, 0}}},
       {{{{"i", {0, 5}}, {"s", {0, 0}}}, "saw 5 at [0,1]; allowed 0 to 4"},
        {{{"i", {0, 0}}, {"s", {-1, 0}}}, "saw -1 at [0,0]; allowed 0 to 1"}}},
  };
  return all;
}

Result<Graph> graph_of(const std::string& text) {
  COLLAGE_TRY(Graph graph, parse_graph(text));
  if (!graph.opsets.contains("")) graph.opsets[""] = 26;
  COLLAGE_TRY(Imported imported, import_model(export_graph(graph, {.value_info = false, .keep_ids = false}), "",
                                              {.knows_vendor_operator = [](auto, auto) { return true; }}));
  return std::move(imported.graph);
}

template <class T>
Tensor narrowed(const ValueType& type, const Integers& numbers) {
  std::vector<T> values;
  for (const std::int64_t number : numbers) values.push_back(static_cast<T>(number));
  return make_tensor(type.element, type.extents(), values);
}

Tensor integers(const ValueType& type, const Integers& numbers) {
  switch (bits_of(type.element)) {
    case 8:
      return narrowed<std::uint8_t>(type, numbers);
    case 32:
      return narrowed<std::int32_t>(type, numbers);
    default:
      return narrowed<std::int64_t>(type, numbers);
  }
}

/// The whole graph as one step of a backend; a failure when it does not take it.
Result<Session> plan_of(const Graph& graph, const std::string& name, Registry& registry) {
  COLLAGE_TRY(Backend* const backend, registry.get(name));
  Cover cover = whole_cover(graph, name);
  const auto refused = [&](const Refusal& refusal) {
    return fail(ExitCode::kUnsupported, "conformance/refused", name, refusal.detail);
  };
  auto& kernel = std::get<CoverKernel>(cover.steps[0].work);
  const auto variants = guarded_support(*backend, graph, kernel.region, {});
  if (!variants) return refused(variants.error());
  const auto is_plain = [](const Variant& variant) {
    return std::ranges::all_of(variant.input_formats, &Format::is_plain) &&
           std::ranges::all_of(variant.output_formats, &Format::is_plain);
  };
  const auto variant = std::ranges::find_if(*variants, is_plain);
  if (variant == variants->end()) return refused({.detail = "no plain variant"});
  kernel.variant = *variant;
  const CompileRequest request{.graph = &graph, .region = kernel.region, .variant = *variant, .model_bytes = {}};
  auto artifacts = backend->compile({&request, 1}, {});
  if (!artifacts[0]) return refused(artifacts[0].error());
  AssembleRequest assembly{.graph = &graph, .cover = &cover};
  assembly.artifacts.push_back(*std::move(artifacts[0]));
  COLLAGE_TRY(RealisedPlan plan, assemble(assembly, registry));
  return test::session_of(std::move(plan), registry);
}

class Borders : public testing::TestWithParam<Border> {
 protected:
  void SetUp() override {
    auto made = graph_of(GetParam().graph);
    ASSERT_TRUE(made) << to_string(made.error());
    graph = *std::move(made);
  }

  Result<std::vector<Tensor>> outputs_for(Session& session, const Given& given) {
    COLLAGE_TRY(std::vector<Tensor> inputs, make_inputs(graph));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (const auto found = given.find(graph.value(graph.inputs[i]).name); found != given.end())
        inputs[i] = integers(graph.value(graph.inputs[i]).type, found->second);
    COLLAGE_TRY_VOID(session.set_inputs(inputs));
    COLLAGE_TRY_VOID(session.run());
    return session.copy_outputs();
  }

  /// Numbers where they are legal, and an error that says what is wrong where they are not.
  void expect_borders_kept(Session& session, const std::vector<Tensor>& expected) {
    for (const auto& [given, saw] : GetParam().bad) {
      const auto outputs = outputs_for(session, given);
      ASSERT_FALSE(outputs) << saw;
      const std::string text = to_string(outputs.error());
      EXPECT_EQ(outputs.error().code, "runtime/bad-operand") << text;
      EXPECT_EQ(outputs.error().exit, ExitCode::kBadInput);
      EXPECT_THAT(text, testing::HasSubstr(saw));
      EXPECT_THAT(text, testing::HasSubstr("step 0"));
      EXPECT_THAT(text, testing::HasSubstr(graph.nodes.back().op_type + " " + graph.nodes.back().name));
    }
    const auto outputs = outputs_for(session, GetParam().good);
    ASSERT_TRUE(outputs) << to_string(outputs.error());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const Comparison comparison = compare((*outputs)[i], expected[i], Accuracy::kStandard, false);
      EXPECT_TRUE(comparison.ok) << to_string(comparison);
    }
  }

  Graph graph;
  Registry registry{{test::build_path("/lib/collage")}};
};

TEST_P(Borders, AreKeptByEveryBackend) {
  const std::vector<std::string> kinds = registry.kinds();
  if (std::ranges::find(kinds, "onnxruntime") == kinds.end()) GTEST_SKIP() << "no reference";
  auto reference = plan_of(graph, std::string(kReferenceEngine), registry);
  ASSERT_TRUE(reference) << to_string(reference.error());
  const auto expected = outputs_for(*reference, GetParam().good);
  ASSERT_TRUE(expected) << to_string(expected.error());
  std::string takers;
  for (const std::string name : {"host", "native", "onednn", "onnxruntime", "openvino", "blas"}) {
    if (std::ranges::find(kinds, name) == kinds.end()) continue;
    if (GetParam().differs_in_openvino && name == "openvino") continue;
    SCOPED_TRACE(name);
    auto session = plan_of(graph, name, registry);
    if (!session) {
      EXPECT_EQ(session.error().code, "conformance/refused") << to_string(session.error());
      continue;
    }
    takers += " " + name;
    expect_borders_kept(*session, *expected);
  }
  fmt::print("  {}: taken by{}\n", GetParam().name, takers);
}

std::string test_name(const testing::TestParamInfo<Border>& param) {
  std::string name = param.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Conformance, Borders, testing::ValuesIn(borders()), test_name);
INSTANTIATE_TEST_SUITE_P(ConformanceOfCasts, Borders, testing::ValuesIn(casts()), test_name);

}  // namespace
}  // namespace collage::conformance
