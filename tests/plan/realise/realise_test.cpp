#include "plan/realise.h"

#include <map>
#include <set>

#include "plan/file/plan_json.h"
#include "plan/memory.h"
#include "tests/plan/plan_fixture.h"
#include "tests/support/dice.h"

namespace collage {
namespace {

/// Runs a plan on symbolic bytes: every step writes "step(inputs)" over its outputs' ranges; what is read must be what
/// the graph's own dataflow says. Finds wrong sharing, lost values, wrong order.
class Interpreter {
 public:
  Interpreter(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    for (std::size_t i = 0; i < plan.values.size(); ++i)
      if (plan.values[i].storage == Storage::kConstant)
        write(static_cast<PlanIndex>(i), "const " + truth(plan.values[i].name));
    for (const PlanIndex input : plan.inputs) write(input, truth(plan.values[input].name));
  }

  void run() {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const PlanStep& step = plan_.steps[s];
      for (const PlanIndex input : step.inputs) expect_intact(input, "read by step " + std::to_string(s));
      if (is_view(step)) continue;
      // The workspace is scribbled on while the inputs are read, outputs come last.
      scribble({Storage::kArena, 0}, workspace_of(step).offset, workspace_of(step).bytes);
      for (const PlanIndex input : step.inputs)
        expect_intact(input, "beside the workspace of step " + std::to_string(s));
      for (const PlanIndex output : step.outputs) write(output, truth(plan_.values[output].name));
      for (const PlanIndex output : step.outputs) expect_intact(output, "written by step " + std::to_string(s));
    }
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
      EXPECT_EQ(plan_.values[plan_.outputs[k]].name, graph_.value(graph_.outputs[k]).name);
      expect_intact(plan_.outputs[k], "at the end");
    }
  }

 private:
  using Place = std::pair<Storage, std::uint32_t>;

  /// Views show the bytes of what they view, so a view's truth is its source's.
  std::string truth(const std::string& name) const {
    for (const PlanStep& step : plan_.steps)
      if (is_view(step))
        for (const PlanIndex output : step.outputs)
          if (plan_.values[output].name == name && plan_.values[step.inputs[0]].name != name)
            return truth(plan_.values[step.inputs[0]].name);
    return name;
  }

  void scribble(const Place& place, std::size_t offset, std::size_t bytes) { fill(place, offset, bytes, "scribble"); }

  void fill(const Place& place, std::size_t offset, std::size_t bytes, const std::string& content) {
    std::vector<std::string>& memory = memory_[place];
    if (memory.size() < offset / 64 + bytes / 64 + 1) memory.resize(offset / 64 + bytes / 64 + 1);
    for (std::size_t line = offset / 64; line * 64 < offset + bytes; ++line) memory[line] = content;
  }

  std::string content(PlanIndex index) const {
    const PlanValue& value = plan_.values[index];
    // Constants and graph outputs of constants carry a mark, so that a read-only place is seen.
    return truth(value.name) + "/" + (value.place.format.is_plain() ? "" : value.place.format.name);
  }

  void write(PlanIndex index, const std::string&) {
    const PlanValue& value = plan_.values[index];
    if (value.storage == Storage::kDynamic) return;
    fill({value.storage, value.buffer}, value.offset, value.bytes, content(index));
  }

  void expect_intact(PlanIndex index, const std::string& when) const {
    const PlanValue& value = plan_.values[index];
    if (value.storage == Storage::kDynamic || value.bytes == 0) return;
    const std::vector<std::string>& memory = memory_.at({value.storage, value.buffer});
    for (std::size_t line = value.offset / 64; line * 64 < value.offset + value.bytes; ++line)
      ASSERT_EQ(memory[line].substr(0, memory[line].find('/')), truth(value.name)) << value.name << " " << when;
  }

  const Graph& graph_;
  const Plan& plan_;
  std::map<Place, std::vector<std::string>> memory_;
};

TEST(Realise, LetsTheProducerWriteTheOutputDirectly) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")});
  s.output(s.step("b", {a}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(plan->plan.steps.size(), 2U);
  EXPECT_EQ(value_of(plan->plan, "a").storage, Storage::kArena);
  EXPECT_EQ(value_of(plan->plan, "b").storage, Storage::kOutput);
  EXPECT_EQ(plan->plan.arena_bytes, 1024U);
  EXPECT_EQ(plan->plan.steps[0].cost_ns, 100);
  EXPECT_EQ(plan->plan.steps[0].cost_low_ns, 90);
  EXPECT_EQ(nodes_of(plan->plan.steps[0]).names, std::vector<std::string>{"a"});
}

TEST(Realise, SharesTheBytesOfAViewWithItsInputUpToTheOutput) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")});
  s.output(s.step("v", {a}, {.is_view = true, .extents = {256}}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->plan.steps.size(), 2U);
  EXPECT_EQ(value_of(plan->plan, "a").storage, Storage::kOutput);
  EXPECT_EQ(value_of(plan->plan, "v").storage, Storage::kOutput);
  EXPECT_EQ(artifact_of(plan->plan.steps[1]), nullptr);
  EXPECT_TRUE(s.copies.empty());
}

TEST(Realise, KeepsTheInputOfAViewAliveAsLongAsTheView) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")});
  const ValueId v = s.step("v", {a}, {.is_view = true, .extents = {256}});
  const ValueId b = s.step("b", {s.graph.inputs[0]});
  const ValueId c = s.step("c", {b});
  s.output(s.step("d", {c, v}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(value_of(plan->plan, "v").offset, value_of(plan->plan, "a").offset);
  EXPECT_EQ(plan->plan.arena_bytes, 3 * 1024U);
  Interpreter(s.graph, plan->plan).run();
}

TEST(Realise, WritesInPlaceOnlyWhenTheInputDies) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")});
  const ValueId b = s.step("b", {a}, {.in_place = {{0, 0}}});  // `a` is read again by d
  const ValueId c = s.step("c", {b}, {.in_place = {{0, 0}}});  // `b` dies here
  const ValueId twice = s.step("twice", {c, c}, {.in_place = {{0, 0}}});
  s.output(s.step("d", {twice, a}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_NE(value_of(plan->plan, "b").offset, value_of(plan->plan, "a").offset);
  EXPECT_EQ(value_of(plan->plan, "c").offset, value_of(plan->plan, "b").offset);
  Interpreter(s.graph, plan->plan).run();
}

TEST(Realise, NeverWritesOverModelInputsOrConstantsOrOutputs) {
  Sketch s;
  const ValueId x = s.input("x");
  const ValueId a = s.step("a", {x}, {.in_place = {{0, 0}}});
  const ValueId b = s.step("b", {a}, {.in_place = {{0, 0}}});
  s.output(a);
  s.output(b);
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(value_of(plan->plan, "a").storage, Storage::kOutput);
  EXPECT_EQ(value_of(plan->plan, "a").buffer, 0U);
  EXPECT_EQ(value_of(plan->plan, "b").buffer, 1U);
  EXPECT_EQ(plan->plan.arena_bytes, 0U);
}

TEST(Realise, RunsAChainInPlaceInsideTheOutputBuffer) {
  Sketch s;
  ValueId value = s.step("s0", {s.input("x")});
  for (int i = 1; i < 5; ++i) value = s.step("s" + std::to_string(i), {value}, {.in_place = {{0, 0}}});
  s.output(value);
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->plan.arena_bytes, 0U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(value_of(plan->plan, "s" + std::to_string(i)).storage, Storage::kOutput);
}

TEST(Realise, CopiesWhatCannotBeWrittenByItsProducer) {
  Sketch s;
  const ValueId x = s.input("x");
  const ValueId c = s.constant("c", {8}, 3);
  const ValueId a = s.step("a", {x});
  const ValueId v = s.step("v", {a}, {.is_view = true, .extents = {256}});
  const ValueId xv = s.step("xv", {x}, {.is_view = true, .extents = {256}});
  for (const ValueId id : {x, c, a, a, v, xv}) s.output(id);
  const auto plan = s.realise();
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(s.copies.size(), 5U);  // all but the first of a
  std::set<std::uint32_t> buffers;
  for (const PlanIndex output : plan->plan.outputs) {
    EXPECT_EQ(plan->plan.values[output].storage, Storage::kOutput);
    buffers.insert(plan->plan.values[output].buffer);
  }
  EXPECT_EQ(buffers.size(), 6U);
  Interpreter(s.graph, plan->plan).run();
}

TEST(Realise, KeepsSeveralFormatsOfOneValue) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")}, {.out = channels_last()});
  s.convert(a, channels_last(), plain());
  const ValueId b = s.step("b", {a}, {.in = channels_last()});
  s.output(s.step("c", {a, b}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_NE(value_of(plan->plan, "a").offset, value_of(plan->plan, "a", channels_last()).offset);
  EXPECT_TRUE(is_conversion(plan->plan.steps[1]));
  EXPECT_EQ(plan->plan.steps[1].inputs, std::vector<PlanIndex>{*find_value(plan->plan, "a", channels_last())});
}

TEST(Realise, RenamesAFormatWithoutBytes) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")}, {.out = channels_last()});
  s.rename(a, channels_last(), plain());
  s.output(a);
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(value_of(plan->plan, "a", channels_last()).storage, Storage::kOutput);
  EXPECT_EQ(value_of(plan->plan, "a").storage, Storage::kOutput);
}

TEST(Realise, AsksForTheBytesOfNamedFormats) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")}, {.out = {"fake:blocked"}});
  s.output(s.step("b", {a}, {.in = {"fake:blocked"}}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(value_of(plan->plan, "a", {"fake:blocked"}).bytes, 2048U);
  EXPECT_EQ(plan->plan.arena_bytes, 2048U);
}

TEST(Realise, LetsSecondWritersOfAValueHaveTheirOwnPlace) {
  Sketch s;
  const ValueId x = s.input("x");
  const ValueId a = s.step("a", {x});
  s.output(s.step("b", {a}));
  s.cover.steps.push_back(s.cover.steps[0]);  // computed twice
  s.made.push_back(s.made[0]);
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  Interpreter(s.graph, plan->plan).run();
}

TEST(Realise, SharesOneArtifactAndOnePlaceOfEachConstant) {
  Sketch s;
  const ValueId w = s.constant("w", {3}, 1);
  const ValueId u = s.constant("u", {100}, 2);
  const ValueId a = s.step("a", {s.input("x"), w}, {.bytes = "same"});
  const ValueId b = s.step("b", {a, w, u}, {.bytes = "same"});
  s.output(b);
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->plan.artifacts.size(), 1U);
  EXPECT_EQ(plan->artifacts.size(), 1U);
  EXPECT_EQ(plan->constants.size(), 2U);
  EXPECT_EQ(value_of(plan->plan, "w").offset, 0U);
  EXPECT_EQ(value_of(plan->plan, "u").offset, 64U);
  EXPECT_EQ(plan->plan.weights_bytes, 64U + 448U);
  EXPECT_EQ(artifact_of(plan->plan.steps[1])->constants.size(), 2U);
  EXPECT_FALSE(plan->plan.weights_hash.empty());
  EXPECT_TRUE(verify(plan->plan));
  Plan damaged = plan->plan;
  for (PlanValue& value : damaged.values)
    if (value.name == "w") value.place.format = {"plain.bf16"};
  EXPECT_EQ(verify(damaged).error().code, "plan/damaged") << "fewer bytes than its readers are told";
}

TEST(Realise, PutsWorkspacesBesideTheLiveValues) {
  Sketch s;
  const ValueId a = s.step("a", {s.input("x")}, {.workspace = 4000});
  s.output(s.step("b", {a}, {.workspace = 100}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan);
  EXPECT_EQ(workspace_of(plan->plan.steps[0]).bytes, 4000U);
  Interpreter(s.graph, plan->plan).run();
}

TEST(Realise, HandsDynamicOutputsToTheKernel) {
  Sketch s;
  const ValueId d = s.step("d", {s.input("x")}, {.dynamic = true});
  s.output(d);
  s.output(d);
  const auto plan = s.realise();
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(value_of(plan->plan, "d").storage, Storage::kDynamic);
  EXPECT_EQ(plan->plan.outputs[0], plan->plan.outputs[1]);
}

TEST(Realise, HandsDynamicValuesToTheNextStep) {
  Sketch s;
  const ValueId d = s.step("d", {s.input("x")}, {.dynamic = true});
  s.output(s.step("e", {d}));
  const auto plan = s.realise();
  ASSERT_TRUE(plan) << to_string(plan.error());
  EXPECT_EQ(value_of(plan->plan, "d").storage, Storage::kDynamic);
  EXPECT_TRUE(verify(plan->plan));
  // Damaged files.
  Plan damaged = plan->plan;
  const PlanIndex d_index = damaged.steps[1].inputs[0];
  damaged.values[d_index].type.shape = std::nullopt;
  EXPECT_EQ(verify(damaged).error().code, "plan/damaged") << "a tensor of unknown rank between steps";
  damaged = plan->plan;
  damaged.values[d_index].place.format = channels_last();
  EXPECT_EQ(verify(damaged).error().code, "plan/damaged") << "of another format";
}

TEST(Realise, RefusesAStepThatReadsAValueOfUnknownRank) {
  Sketch s;
  const ValueId d = s.step("d", {s.input("x")}, {.dynamic = true});
  s.graph.value(d).type.shape = std::nullopt;
  s.output(s.step("e", {d}));
  const auto plan = s.realise();
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, "plan/dynamic-value");
  EXPECT_EQ(plan.error().where, "d");
}

TEST(Realise, TakesInputsOfOpenShapeWhenOneStepReadsThem) {
  for (const bool has_two_steps : {false, true}) {
    Sketch s;
    const ValueId x = s.input("x");
    s.graph.value(x).type.shape->front() = Dim{.extent = -1, .symbol = "n"};
    ValueId y = s.step("a", {x}, {.dynamic = !has_two_steps});
    if (has_two_steps) y = s.step("b", {y}, {.dynamic = true});
    s.output(y);
    const auto plan = s.realise();
    ASSERT_EQ(plan.has_value(), !has_two_steps);
    if (has_two_steps) {
      EXPECT_EQ(plan.error().code, "plan/dynamic-value");
    } else {
      EXPECT_TRUE(verify(plan->plan));
      EXPECT_EQ(plan->plan.values[plan->plan.inputs[0]].type, s.graph.value(x).type);
      EXPECT_EQ(parse_plan(to_json(plan->plan), "test").value(), plan->plan);
    }
  }
}

TEST(Realise, RefusesCoversThatReadWhatNobodyMade) {
  Sketch missing;
  const ValueId a = missing.step("a", {missing.input("x")});
  missing.output(missing.step("b", {a}, {.in = channels_last()}));
  EXPECT_EQ(missing.realise().error().code, "plan/bad-cover");

  Sketch unmade;
  unmade.output(unmade.step("a", {unmade.input("x")}, {.out = channels_last()}));
  EXPECT_EQ(unmade.realise().error().code, "plan/bad-cover");

  Sketch unsorted;
  const ValueId first = unsorted.step("a", {unsorted.input("x")});
  unsorted.output(unsorted.step("b", {first}));
  std::swap(unsorted.cover.steps[0], unsorted.cover.steps[1]);
  EXPECT_EQ(unsorted.realise().error().code, "plan/bad-cover");
}

/// Random straight-line graphs with random formats, views, in-place wishes, workspaces and repeated outputs.
Sketch random_sketch(std::uint64_t seed) {
  Dice dice(seed);
  Sketch s;
  const std::vector<Extents> shapes = {{1, 16, 4, 4}, {256}, {16, 16}};
  std::vector<ValueId> known;
  std::vector<Format> formats;
  for (std::size_t i = 0; i < 1 + dice.below(3); ++i) {
    known.push_back(s.input("x" + std::to_string(i)));
    formats.push_back(plain());
  }
  const ValueId w = s.constant("w", {256}, 1);
  for (std::size_t i = 0; i < 3 + dice.below(25); ++i) {
    const std::size_t from = dice.below(known.size());
    const std::size_t also = dice.below(known.size());
    Sketch::Options options{.extents = shapes[dice.below(3)]};
    options.in = formats[from];
    std::vector<ValueId> in = {known[from]};
    if (dice.one_in(4)) {
      options.is_view = true;
      options.out = plain();
    } else {
      if (formats[also] == formats[from]) in.push_back(known[also]);
      if (dice.one_in(3)) in.push_back(w);
      if (dice.one_in(3) && options.extents.size() == 4) options.out = channels_last();
      if (dice.one_in(2)) options.in_place = {{0, 0}, {0, 1}};
      if (dice.one_in(3)) options.workspace = dice.below(3000);
    }
    known.push_back(s.step("n" + std::to_string(i), in, options));
    formats.push_back(options.out);
  }
  for (std::size_t i = 0; i < 1 + dice.below(4); ++i) {
    const std::size_t k = dice.below(known.size());
    if (formats[k] != plain()) s.convert(known[k], formats[k], plain());
    s.output(known[k]);
  }
  if (dice.one_in(5)) s.output(w);
  return s;
}

TEST(Realise, GivesSoundPlansForRandomCovers) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Sketch s = random_sketch(seed);
    const auto plan = s.realise();
    ASSERT_TRUE(plan) << "seed " << seed << ": " << to_string(plan.error());
    ASSERT_TRUE(verify(plan->plan));
    Interpreter(s.graph, plan->plan).run();
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Realise, GivesTheSamePlanForTheSameCover) { EXPECT_EQ(*rich_sketch().realise(), *rich_sketch().realise()); }

}  // namespace
}  // namespace collage
