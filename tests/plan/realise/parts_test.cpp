// Parts of concatenations, splits and slices at their places in the whole.
#include <fmt/format.h>

#include "plan/overwrites.h"
#include "tests/plan/plan_fixture.h"

namespace collage {
namespace {

bool moves_bytes(const Node& node) {
  static const std::set<std::string> kinds = {"Concat", "Split", "Slice", "Reshape"};
  return kinds.contains(node.op_type);
}

/// A plan of fake kernels in which everything that only moves bytes is a view; every Relu may overwrite its input.
struct Planned {
  Graph graph;
  RealisedPlan plan;

  /// `lines` of the graph's text form; results all are f32.
  Planned(const std::string& inputs, const std::string& outputs, const std::string& lines) {
    auto parsed = parse_graph("graph g(" + inputs + ") -> (" + outputs + ") {\n  opset ai.onnx 26\n" + lines + "}\n");
    EXPECT_TRUE(parsed) << to_string(parsed.error());
    graph = std::move(parsed).value();
    FakeCover fake(graph);
    for (std::size_t s = 0; s < fake.cover.steps.size(); ++s) {
      if (graph.nodes[s].op_type == "Relu") fake.made[s]->in_place = {{0, 0}};
      if (!moves_bytes(graph.nodes[s])) continue;
      make_view(fake.cover.steps[s]);
      fake.made[s].reset();
    }
    auto realised = realise_fake(graph, fake);
    EXPECT_TRUE(realised) << to_string(realised.error());
    plan = std::move(realised).value();
  }

  [[nodiscard]] const PlanValue& at(const std::string& name) const { return value_of(plan.plan, name); }

  /// What runs, in order.
  [[nodiscard]] std::string steps() const {
    std::string text;
    for (const PlanStep& step : plan.plan.steps) {
      if (!text.empty()) text += ' ';
      const std::string name = plan.plan.values[step.outputs.front()].name;
      text += is_view(step) ? "(" + name + ")" : is_conversion(step) ? "copy:" + name : name;
    }
    return text;
  }

  /// Where values lie, as "name=storage+offset".
  [[nodiscard]] std::string places(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names)
      text += fmt::format("{}{}={}+{}", text.empty() ? "" : " ", name, name_of(at(name).storage), at(name).offset);
    return text;
  }
};

const std::string kX = "%x: f32[1,4,4,4]";
std::string relu(const std::string& to, const std::string& from, int channels = 4) {
  return fmt::format("  %{}: f32[1,{},4,4] = Relu(%{}) \"{}\"\n", to, channels, from, to);
}
std::string work(const std::string& to, const std::string& from, int channels = 4) {
  return fmt::format("  %{}: f32[1,{},4,4] = Op({}) \"{}\"\n", to, channels, from, to);
}
std::string concat(const std::string& to, const std::string& from, int channels) {
  return fmt::format("  %{}: f32[1,{},4,4] = Concat({}) {{axis=1}} \"{}\"\n", to, channels, from, to);
}

TEST(PartsInPlace, AreWrittenWhereTheWholeIsRead) {
  const Planned p(kX, "%z", work("a", "%x") + work("b", "%x", 2) + concat("c", "%a, %b", 6) + work("z", "%c", 6));
  EXPECT_EQ(p.steps(), "a b (c) z");
  EXPECT_EQ(p.places({"a", "b", "c"}), "a=arena+0 b=arena+256 c=arena+0");
  EXPECT_EQ(p.plan.plan.arena_bytes, 384U);
}

TEST(PartsInPlace, LieInTheCallersBufferWhenTheWholeIsAnOutput) {
  const Planned p(kX, "%c", work("a", "%x") + work("b", "%x") + concat("c", "%a, %b", 8));
  EXPECT_EQ(p.steps(), "a b (c)");
  EXPECT_EQ(p.places({"a", "b", "c"}), "a=output+0 b=output+256 c=output+0");
  EXPECT_EQ(p.plan.plan.arena_bytes, 0U);
}

TEST(PartsInPlace, NestAsGrowingConcatenationsDo) {
  const Planned p(kX, "%z",
                  work("a", "%x") + work("b", "%a") + concat("c", "%a, %b", 8) + work("d", "%c") +
                      concat("e", "%c, %d", 12) + work("f", "%e") + concat("g", "%f, %e", 16) + work("z", "%g"));
  EXPECT_EQ(p.steps(), "a b (c) d (e) f (g) z");
  EXPECT_EQ(p.places({"f", "a", "b", "d", "c", "e", "g"}),
            "f=arena+0 a=arena+256 b=arena+512 d=arena+768 c=arena+256 e=arena+256 g=arena+0");
}

TEST(PartsInPlace, LieInSeveralWholesThatBeginAlike) {
  const Planned p(kX, "%z",
                  work("a", "%x") + work("b", "%a") + concat("c", "%a, %b", 8) + work("d", "%c") +
                      concat("e", "%a, %b, %d", 12) + work("f", "%e") + concat("g", "%a, %b, %d, %f", 16) +
                      work("z", "%g"));
  EXPECT_EQ(p.steps(), "a b (c) d (e) f (g) z");
  EXPECT_EQ(p.places({"c", "e", "g", "f"}), "c=arena+0 e=arena+0 g=arena+0 f=arena+768");
}

TEST(PartsInPlace, AreCopiedWhereTheyLieElsewhereAlready) {
  const Planned p(kX, "%y, %z",
                  work("a", "%x") + work("b", "%x") + concat("c", "%a, %b", 8) + concat("d", "%b, %a", 8) +
                      work("y", "%c") + work("z", "%d"));
  EXPECT_EQ(p.steps(), "a b (c) copy:a (d) y z");
  EXPECT_EQ(p.at("d").offset, p.at("b").offset) << "b is the end of the first and the beginning of the second";
  const Planned q(kX, "%y, %z",
                  work("a", "%x") + work("b", "%x") + work("d", "%x") + concat("c", "%a, %b", 8) +
                      concat("e", "%a, %d", 8) + work("y", "%c") + work("z", "%e"));
  EXPECT_EQ(q.steps(), "a b d (c) copy:a (e) y z");
}

TEST(PartsInPlace, AreCopiedWhenNoStepOrTheSameStepMadeThem) {
  const Planned input(kX, "%z", work("a", "%x") + concat("c", "%x, %a", 8) + work("z", "%c"));
  EXPECT_EQ(input.steps(), "a copy:x (c) z");
  const Planned constant(kX, "%z",
                         "  constant %k = f32[1,1,4,4]{0.,1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.,13.,14.,15.}\n" +
                             work("a", "%x") + concat("c", "%k, %a", 5) + work("z", "%c"));
  EXPECT_EQ(constant.steps(), "a copy:k (c) z");
  EXPECT_EQ(constant.places({"a", "c"}), "a=arena+64 c=arena+0");
  const Planned twice(kX, "%z", work("a", "%x") + concat("c", "%a, %a", 8) + work("z", "%c"));
  EXPECT_EQ(twice.steps(), "a copy:a (c) z");
}

TEST(PartsInPlace, ThatAreOutputsAreCopiedThere) {
  const Planned p(kX, "%a, %z", work("a", "%x") + work("b", "%x") + concat("c", "%a, %b", 8) + work("z", "%c"));
  EXPECT_EQ(p.steps(), "a b (c) z copy:a");
  const Planned both(
      kX, "%c, %e",
      work("a", "%x") + work("b", "%x") + concat("c", "%a, %b", 8) + work("d", "%x") + concat("e", "%c, %d", 12));
  EXPECT_EQ(both.steps(), "a b (c) d (e) copy:c");
  EXPECT_EQ(both.places({"a", "d", "e"}), "a=output+0 d=output+512 e=output+0");
}

TEST(PartsInPlace, MayBeViewsOfTheirResults) {
  const Planned p(kX, "%z",
                  "  constant %s = i64[4]{1,4,4,4}\n  %r: f32[64] = Op(%x) \"r\"\n"
                  "  %a: f32[1,4,4,4] = Reshape(%r, %s) \"a\"\n" +
                      work("b", "%x") + concat("c", "%b, %a", 8) + work("z", "%c"));
  EXPECT_EQ(p.steps(), "r (a) b (c) z");
  EXPECT_EQ(p.places({"b", "r", "a", "c"}), "b=arena+0 r=arena+256 a=arena+256 c=arena+0");
}

std::string split(const std::string& a, const std::string& b, const std::string& from) {
  return fmt::format("  %{}: f32[1,2,4,4], %{}: f32[1,2,4,4] = Split(%{}) {{axis=1, num_outputs=2}} \"{}\"\n", a, b,
                     from, a);
}

TEST(PartsInPlace, OfASplitAreItsInputsBytes) {
  const Planned p(kX, "%y, %z", work("w", "%x") + split("a", "b", "w") + work("y", "%a", 2) + work("z", "%b", 2));
  EXPECT_EQ(p.steps(), "w (a) y z");
  EXPECT_EQ(p.places({"w", "a", "b"}), "w=arena+0 a=arena+0 b=arena+128");
  const Planned input(kX, "%y, %z", split("a", "b", "x") + work("y", "%a", 2) + work("z", "%b", 2));
  EXPECT_EQ(input.places({"a", "b"}), "a=input+0 b=input+128");
  const Planned output(kX, "%b", work("w", "%x") + split("a", "b", "w"));
  EXPECT_EQ(output.steps(), "w (b) copy:b");
}

TEST(PartsInPlace, OfASplitAreCopiedIntoOtherWholes) {
  const Planned shuffle(
      kX, "%z",
      work("w", "%x") + split("a", "b", "w") + work("d", "%b", 2) + concat("c", "%a, %d", 4) + work("z", "%c"));
  EXPECT_EQ(shuffle.steps(), "w (a) d copy:a (c) z");
  const Planned again(kX, "%z", work("w", "%x") + split("a", "b", "w") + concat("c", "%a, %b", 4) + work("z", "%c"));
  EXPECT_EQ(again.steps(), "w (a) (c) z");
  const Planned swapped(kX, "%z", work("w", "%x") + split("a", "b", "w") + concat("c", "%b, %a", 4) + work("z", "%c"));
  EXPECT_EQ(swapped.steps(), "w (a) copy:a (c) z");
  EXPECT_EQ(swapped.at("c").offset, swapped.at("b").offset) << "the end of one is the beginning of the other";
}

TEST(PartsInPlace, OfASliceOfAConstantAreConstants) {
  const Planned p(kX, "%z",
                  "  constant %k = f32[2,16]{0.,1.,2.,3.,4.,5.,6.,7.,8.,9.,10.,11.,12.,13.,14.,15.,"
                  "16.,17.,18.,19.,20.,21.,22.,23.,24.,25.,26.,27.,28.,29.,30.,31.}\n"
                  "  constant %s = i64[1]{1}\n  constant %e = i64[1]{2}\n"
                  "  %v: f32[1,16] = Slice(%k, %s, %e) \"v\"\n" +
                      work("z", "%x, %v"));
  EXPECT_EQ(p.at("v").storage, Storage::kConstant);
  EXPECT_EQ(p.at("v").offset, p.at("k").offset + 64);
  const auto index = find_value(p.plan.plan, "v", plain());
  EXPECT_EQ(p.plan.constants.at(*index).data.as<float>()[0], 16.0F);
}

TEST(PartsInPlace, AreNotOverwrittenWhileTheWholeIsNeeded) {
  // Relu may overwrite a, but a lies in c; and c, but b is still read.
  const Planned p(kX, "%y, %z",
                  work("a", "%x") + relu("r", "a") + work("b", "%r") + concat("c", "%a, %b", 8) + relu("q", "c", 8) +
                      work("y", "%q, %b") + work("z", "%q"));
  EXPECT_NE(p.at("r").offset, p.at("a").offset);
  EXPECT_NE(p.at("q").offset, p.at("c").offset);
  // After its last reader the whole is overwritten as a whole.
  const Planned q(kX, "%z",
                  work("a", "%x") + work("b", "%a") + concat("c", "%a, %b", 8) + relu("q", "c", 8) + work("z", "%q"));
  EXPECT_EQ(q.at("q").offset, q.at("c").offset);
  // A part overwrites nothing: its place is fixed.
  const Planned r(kX, "%z",
                  work("a", "%x") + relu("r", "a") + work("b", "%x") + concat("c", "%r, %b", 8) + work("z", "%c"));
  EXPECT_EQ(r.at("r").offset, r.at("c").offset);
}

TEST(PartsInPlace, LieSoInBodiesToo) {
  const std::string body = work("a", "%x") + work("b", "%x") + concat("c", "%a, %b", 8) + work("o", "%c");
  const auto graph = parse_graph(
      "graph g(%k: bool[], %x: f32[1,4,4,4]) -> (%z) {\n  opset ai.onnx 26\n"
      "  %z: f32[1,4,4,4] = If(%k) captures(%x) {else_branch=graph no() -> (%o) {\n"
      "  capture %x: f32[1,4,4,4]\n" +
      body +
      "}, then_branch=graph yes() -> (%n) {\n"
      "  capture %x: f32[1,4,4,4]\n" +
      work("n", "%x") + "}} \"z\"\n}\n");
  ASSERT_TRUE(graph) << to_string(graph.error());
  FakeCover fake(*graph);
  make_view(std::get<CoverControl>(fake.cover.steps[0].work).bodies[0].steps[2]);
  fake.made[3].reset();  // the control step, a, b, c
  const auto plan = realise_fake(*graph, fake);
  ASSERT_TRUE(plan) << to_string(plan.error());
  const PlanBody& no = bodies_of(plan->plan.steps[0])[0];
  EXPECT_EQ(no.values[*find_value(no, "b", plain())].offset, no.values[*find_value(no, "c", plain())].offset + 256);
}

/// Moves a value by so many bytes.
Plan moved(Plan plan, const std::string& name, std::ptrdiff_t by) {
  PlanValue& value = plan.values[*find_value(plan, name, plain())];
  value.offset = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(value.offset) + by);
  plan.arena_bytes += 4096;
  return plan;
}

TEST(Verify, FindsValuesThatAreOverwritten) {
  const Planned p(kX, "%z",
                  work("a", "%x") + work("b", "%x") + work("d", "%x") + concat("c", "%a, %b", 8) + work("z", "%c, %d"));
  const Plan& plan = p.plan.plan;
  EXPECT_TRUE(verify(plan));
  const auto code = [](const Plan& wrong) {
    const auto checked = verify(wrong);
    return checked ? std::string("sound") : checked.error().code + ": " + checked.error().saw;
  };
  const std::ptrdiff_t to_a =
      static_cast<std::ptrdiff_t>(p.at("a").offset) - static_cast<std::ptrdiff_t>(p.at("d").offset);
  EXPECT_THAT(code(moved(plan, "d", to_a)), testing::HasSubstr("(a) read after a write over it")) << "over a part";
  EXPECT_THAT(code(moved(plan, "b", -256)), testing::HasSubstr("(a) read after a write over it")) << "part over part";
  EXPECT_THAT(code(moved(plan, "b", 1024)), testing::HasSubstr("(c) beside the view's inputs")) << "a part elsewhere";
  EXPECT_THAT(code(moved(plan, "c", 64)), testing::HasSubstr("(c) beside the view's inputs")) << "the whole elsewhere";
  Plan late = plan;
  std::swap(late.steps[1], late.steps[3]);  // the whole before its second part
  EXPECT_THAT(code(late), testing::HasSubstr("plan/damaged"));
  Plan workspace = plan;
  *workspace_in(workspace.steps[2]) = {.offset = p.at("b").offset, .bytes = 64};
  EXPECT_THAT(code(workspace), testing::HasSubstr("(b) read after a write over it"));
  workspace_in(workspace.steps[2])->offset = p.at("d").offset;
  EXPECT_THAT(code(workspace), testing::HasSubstr("(d) in the step's workspace"));
}

TEST(Verify, FindsAnArenaLargerThanWhatIsInIt) {
  Plan plan = realise_nested().value().plan;
  ASSERT_TRUE(verify(plan));
  plan.arena_bytes += 64;
  EXPECT_THAT(verify(plan).error().allowed, testing::HasSubstr("for its values and steps"));
  plan = realise_nested().value().plan;
  PlanBody& body = std::get<PlanControl>(plan.steps[0].work).bodies[0];
  body.arena_bytes += 64;
  EXPECT_FALSE(verify(plan));
}

TEST(Verify, FindsAWriteIntoAWholeThatIsStillRead) {
  const Planned p(kX, "%y, %z",
                  work("a", "%x") + work("b", "%x") + concat("c", "%a, %b", 8) + relu("y", "c", 8) + work("d", "%x") +
                      work("z", "%c, %d"));
  Plan plan = p.plan.plan;
  ASSERT_TRUE(verify(plan));
  plan.values[*find_value(plan, "d", plain())].offset = p.at("b").offset;
  EXPECT_THAT(verify(plan).error().saw, testing::HasSubstr("(c) read after a write over it"));
}

}  // namespace
}  // namespace collage
