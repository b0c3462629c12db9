// Programs that somebody else made: the library believes what they say about extents, types and numbers, so that they
// are refused before it sees them.
#include <ranges>
#include <set>

#include "base/json.h"
#include "xnnpack_fixture.h"

namespace collage::test {
namespace {

using nlohmann::json;

std::string load_error(const Graph& graph, const Variant& variant, const Artifact& artifact) {
  const auto kernel = loading("xnnpack").load(request_of(graph, variant, artifact));
  return kernel ? "" : kernel.error().code;
}

/// A program of ours and what becomes of changed ones.
struct Changeable {
  Graph graph;
  Variant variant;
  Artifact whole;
  json program;

  explicit Changeable(const std::string& text) : graph(graph_of(text)) {
    variant = variants_of(graph).at(0);
    whole = artifact_of(compiling("xnnpack"), graph, variant.name);
    program = json::parse(whole.bytes);
  }

  [[nodiscard]] std::string code_of(const json& changed) const {
    Artifact artifact = whole;
    artifact.bytes = changed.dump();
    return load_error(graph, variant, artifact);
  }
  /// Of a change to the first operation of a kind.
  template <class Change>
  [[nodiscard]] std::string code_after(const std::string& kind, const Change& change) const {
    json changed = program;
    for (json& op : changed["ops"])
      if (op["kind"] == kind) {
        change(op);
        return code_of(changed);
      }
    return "no operation " + kind + " in " + whole.bytes;
  }
};

/// Tensors that operations name: others are left over where two operations became one, and nobody looks at them.
std::set<std::size_t> used_tensors(const json& program) {
  std::set<std::size_t> used;
  for (const json& op : program["ops"]) {
    used.insert(op["output"].get<std::size_t>());
    for (const json& input : op["inputs"]) used.insert(input.get<std::size_t>());
  }
  return used;
}

/// Together they have every kind of operation, most with a tensor in between.
constexpr std::string_view kPrograms = R"(graph(%x: f32[1,8,9,9], %r: f32[1,24,9,9], %w: f32[24,8,3,3], %wb: f32[24])
-> (%y) { %c: f32[1,24,9,9] = Conv(%x, %w, %wb) {pads=[1,1,1,1]} %y: f32[1,24,9,9] = Add(%c, %r) }

graph(%x: f32[1,8,9,9], %r: f32[1,8,9,9], %w: f32[8,1,3,3]) -> (%y) {
%c: f32[1,8,9,9] = Conv(%x, %w) {group=8, pads=[1,1,1,1]} %y: f32[1,8,9,9] = Mul(%c, %r) }

graph(%a: f32[2,7,16], %r: f32[2,7,5], %w: f32[16,5], %wb: f32[5]) -> (%y) {
%m: f32[2,7,5] = MatMul(%a, %w) %n: f32[2,7,5] = Add(%m, %wb) %y: f32[2,7,5] = Mul(%n, %r) }

graph(%a: f32[3,7,16], %b: f32[16,5]) -> (%y) { %m: f32[3,7,5] = MatMul(%a, %b) %y: f32[3,7,5] = Softmax(%m) }

graph(%a: f32[3,7,16], %b: f32[3,5,16]) -> (%y) { %t: f32[3,16,5] = Transpose(%b) {perm=[0,2,1]}
%m: f32[3,7,5] = MatMul(%a, %t) %y: f32[3,7,5] = Sigmoid(%m) }

graph(%x: f32[1,8,9,8]) -> (%y) { %p: f32[1,8,4,4] = MaxPool(%x) {kernel_shape=[2,2], strides=[2,2]}
%y: f32[1,8,4,4] = Sigmoid(%p) }

graph(%x: f32[1,8,9,8]) -> (%y) { %p: f32[1,8,9,8] = AveragePool(%x) {kernel_shape=[3,3], pads=[1,1,1,1]}
%y: f32[1,8,9,8] = Sigmoid(%p) }

graph(%x: f32[1,8,9,8]) -> (%y) { %p: f32[1,8,1,1] = GlobalAveragePool(%x) %y: f32[1,8,1,1] = Sigmoid(%p) }

graph(%x: f32[2,3,4]) -> (%y) { %p: f32[2,4] = ReduceSum(%x) {axes=[1], keepdims=0} %y: f32[2,4] = Sigmoid(%p) }

graph(%x: f32[4,6]) -> (%y) { %t: f32[6,4] = Transpose(%x) %y: f32[6,4] = Sigmoid(%t) }

graph(%x: f32[4,6]) -> (%y) { constant %s = i64[2]{3,8} %t: f32[3,8] = Reshape(%x, %s) %y: f32[3,8] = Sigmoid(%t) }

graph(%x: f32[2,3,4], %r: f32[2,3,4]) -> (%y) { %c: f32[2,6,4] = Concat(%x, %r) {axis=1} %y: f32[2,6,4] = Sigmoid(%c) }

graph(%x: f32[2,3]) -> (%y) { constant %p = i64[4]{0,1,0,2} %c: f32[2,6] = Pad(%x, %p) %y: f32[2,6] = Sigmoid(%c) }

graph(%x: f32[1,3,4,5]) -> (%y) { constant %s = f32[4]{1,1,2,2} %c: f32[1,3,8,10] = Resize(%x, _, %s) {mode="linear"}
%y: f32[1,3,8,10] = Sigmoid(%c) }

graph(%x: u8[1,8,9,9], %w: i8[24,8,3,3], %wb: f32[24]) -> (%y) {
constant %s = f32[]{0.02} constant %z = u8[]{100} constant %ws = f32[]{0.01} constant %wz = i8[]{0}
%a: f32[1,8,9,9] = DequantizeLinear(%x, %s, %z) %b: f32[24,8,3,3] = DequantizeLinear(%w, %ws, %wz)
%c: f32[1,24,9,9] = Conv(%a, %b, %wb) {pads=[1,1,1,1]} %y: u8[1,24,9,9] = QuantizeLinear(%c, %s, %z) }

graph(%x: f32[1,8,5,4], %r: f32[1,6,10,8], %w: f32[8,6,2,2]) -> (%y) {
%c: f32[1,6,10,8] = ConvTranspose(%x, %w) {strides=[2,2]} %y: f32[1,6,10,8] = Add(%c, %r) })";

std::vector<std::string> programs() {
  std::vector<std::string> all;
  for (const auto& text : std::views::split(kPrograms, std::string_view("\n\n")))
    all.emplace_back(text.begin(), text.end());
  return all;
}

TEST(XnnpackHostile, ExtentsAreThoseThatTheLibraryInfers) {
  std::set<std::string> kinds;
  for (const std::string& text : programs()) {
    const Changeable one(text);
    EXPECT_EQ(one.code_of(one.program), "") << text;
    for (const json& op : one.program["ops"]) kinds.insert(op["kind"]);
    for (const std::size_t t : used_tensors(one.program))
      for (std::size_t axis = 0; axis < one.program["tensors"][t]["extents"].size(); ++axis)
        for (const std::int64_t more : {1, 4096, -1}) {
          json changed = one.program;
          json& extent = changed["tensors"][t]["extents"][axis];
          extent = extent.get<std::int64_t>() + more;
          EXPECT_EQ(one.code_of(changed), "backend/bad-artifact") << changed;
        }
  }
  EXPECT_EQ(kinds.size(), 16U) << "kinds of operations";
}

TEST(XnnpackHostile, TypesAreThoseThatTheLibraryComputesWithAtOnce) {
  for (const std::string& text : programs()) {
    const Changeable one(text);
    for (const std::size_t t : used_tensors(one.program))
      for (const char* type : {"u8", "i32"}) {
        json changed = one.program;
        json& tensor = changed["tensors"][t];
        if (tensor.contains("type") || tensor["role"] == "literal") continue;
        tensor["type"] = type;
        tensor["scales"] = json::array({0.5});
        EXPECT_EQ(one.code_of(changed), "backend/bad-artifact") << changed;
      }
  }
}

/// A transposition of many elements which says that they are few, so that joining it with others overflows the result.
TEST(XnnpackHostile, InnerTensorsCannotShrink) {
  const Changeable one(
      "graph(%x: f32[2,1000], %r: f32[2,3]) -> (%y) { %s: f32[2,1] = ReduceSum(%x) {axes=[1]} %t: f32[2,3] = Add(%r, "
      "%s) %y: f32[4,3] = Concat(%t, %r) {axis=0} }");
  EXPECT_EQ(one.code_of(one.program), "");
  json changed = json::parse(
      R"({"schema":"xnnpack-program/1","tensors":[{"extents":[2,1000],"role":"input"},{"extents":[2,3],"index":1,)"
      R"("role":"input"},{"extents":[2,3],"role":"temporary"},{"extents":[4,3],"role":"output"}],"ops":[{"axes":[0,1],)"
      R"("inputs":[0],"kind":"transpose","output":2},{"axes":[0],"inputs":[2,1],"kind":"concat","output":3}]})");
  EXPECT_EQ(one.code_of(changed), "backend/bad-artifact");
  changed["ops"][0]["inputs"] = json::array({1});
  changed["ops"].push_back(json::parse(R"({"algorithm":"tanh","inputs":[0],"kind":"unary","output":4})"));
  changed["tensors"].push_back(json::parse(R"({"extents":[2,1000],"role":"temporary"})"));
  EXPECT_EQ(one.code_of(changed), "");
}

TEST(XnnpackHostile, WindowsStayInside) {
  const Changeable pool(
      "graph(%x: f32[1,8,9,8]) -> (%y) { %y: f32[1,8,7,6] = MaxPool(%x) {dilations=[2,1], kernel_shape=[2,3]} }");
  EXPECT_EQ(pool.code_of(pool.program), "");
  const auto after = [&](const char* field, const json& value) {
    return pool.code_after("max_pooling", [&](json& op) { op[field] = value; });
  };
  EXPECT_EQ(after("begin", {0, 1}), "backend/bad-artifact");
  EXPECT_EQ(after("dilations", {1, 2}), "backend/bad-artifact");
  EXPECT_EQ(after("kernel", {2, 1073741825}), "backend/bad-artifact");
  EXPECT_EQ(after("strides", {0, 1}), "backend/bad-artifact");
  EXPECT_EQ(after("strides", json::array({1})), "backend/bad-artifact");
  // Windows that begin past the image: what they read instead of padding would lie outside.
  const Changeable wide(
      "graph(%x: f32[1,8,9,2]) -> (%y) { %y: f32[1,8,9,4] = MaxPool(%x) {kernel_shape=[1,3], pads=[0,2,0,2]} }");
  EXPECT_EQ(wide.code_of(wide.program), "");
  EXPECT_EQ(wide.code_after("max_pooling", [](json& op) { op["dilations"] = {2, 1}; }), "backend/bad-artifact");
}

TEST(XnnpackHostile, DeconvolutionsAddLessThanAStride) {
  const Changeable one(programs().back());
  const std::vector<std::pair<std::string, json>> changes = {
      {"adjustment", {2, 0}}, {"end", {1, 0}}, {"groups", 0}, {"groups", 3}};
  for (const auto& change : changes)
    EXPECT_EQ(one.code_after("deconvolution", [&](json& op) { op[change.first] = change.second; }),
              "backend/bad-artifact")
        << change.first;
}

TEST(XnnpackHostile, OperationsHaveAsManyInputsAsTheirKind) {
  for (const std::string& text : programs()) {
    const Changeable one(text);
    const std::string kind = one.program["ops"][0]["kind"];
    if (kind == "concat") continue;
    const auto code = one.code_after(kind, [](json& op) {
      while (op["inputs"].size() < 4) op["inputs"].push_back(op["inputs"][0]);
    });
    EXPECT_EQ(code, "backend/bad-artifact") << text;
  }
}

/// One number that is repeated without end would take all memory.
TEST(XnnpackHostile, ConstantsAreNotRepeatedWithoutEnd) {
  const Changeable one(
      "graph(%x: f32[1,5], %w: f32[5,7], %wb: f32[1]) -> (%y) { %m: f32[1,7] = MatMul(%x, %w) %y: f32[1,7] = Add(%m, "
      "%wb) }");
  EXPECT_EQ(one.code_of(one.program), "");
  json changed = one.program;
  changed["tensors"].push_back({{"role", "constant"},
                                {"index", 1},
                                {"extents", {1 << 20, 1 << 10}},
                                {"gathered", {1 << 20, 1 << 10}},
                                {"steps", {0, 0}}});
  EXPECT_EQ(one.code_of(changed), "backend/bad-artifact");
  changed["tensors"].back() = {{"role", "constant"},
                               {"index", 1},
                               {"extents", json::array({1})},
                               {"gathered", std::vector<int>(100000, 1)},
                               {"steps", std::vector<int>(100000, 0)}};
  EXPECT_EQ(one.code_of(changed), "backend/bad-artifact");
}

TEST(XnnpackHostile, OutputsAreWritten) {
  const Changeable one("graph(%x: f32[4,6]) -> (%y) { %t: f32[4,6] = Tanh(%x) %y: f32[4,6] = Sigmoid(%t) }");
  json changed = one.program;
  changed["ops"].erase(1);
  EXPECT_EQ(one.code_of(changed), "backend/bad-artifact");
}

/// The sizes of blocks and the like are not those of the elements.
TEST(XnnpackHostile, PortsHaveOneOfTheCommonFormats) {
  const Graph graph = graph_of("graph(%x: f32[1,5,6,6]) -> (%y) { %y: f32[1,5,6,6] = Tanh(%x) }");
  const Variant variant = variants_of(graph).at(0);
  const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant.name);
  LoadRequest request = request_of(graph, variant, artifact);
  EXPECT_TRUE(loading("xnnpack").load(request));
  request.outputs[0].place.format = {"onednn:aBcd16b"};
  const auto kernel = loading("xnnpack").load(request);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, "backend/bad-artifact");
}

}  // namespace
}  // namespace collage::test
