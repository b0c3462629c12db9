#include "runtime/executable.h"

#include <cmath>
#include <thread>

#include "runtime_fixture.h"
#include "tests/support/shape_cases.h"

namespace collage {
namespace {

std::vector<std::vector<float>> run_once(const Executable& executable, std::uint64_t seed) {
  auto context = executable.make_context();
  EXPECT_TRUE(context);
  for (std::size_t i = 0; i < executable.inputs().size(); ++i) fill_input(*context, i, seed + i);
  const auto done = context->run();
  EXPECT_TRUE(done) << to_string(done.error());
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = 0; i < executable.outputs().size(); ++i) outputs.push_back(floats_in(context->output(i)));
  return outputs;
}

/// The sample graph in plain C++.
std::vector<std::vector<float>> sample_by_hand(const Graph& graph, const std::vector<float>& x,
                                               const std::vector<float>& y) {
  const auto scale = graph.value(graph.nodes[0].inputs[1]).constant->data.as<float>();
  const auto bias = graph.value(graph.nodes[6].inputs[1]).constant->data.as<float>();
  std::vector<float> b(960), c(960), v(2880), s(24);
  for (std::size_t i = 0; i < 960; ++i) {
    const float a = x[i] * scale[i / 120];
    b[i] = a * std::min(std::max(a / 6 + 0.5F, 0.0F), 1.0F);
    c[i] = b[i] + y[i];
  }
  for (std::size_t i = 0; i < 2880; ++i) {
    const float e = i < 960 ? c[i] : i < 1920 ? b[i - 960] : x[i - 1920];
    v[i] = std::max(e, 0.0F) + bias[i / 120];
  }
  double total = 0;
  for (std::size_t channel = 0; channel < 24; ++channel) {
    double mean = 0;
    for (std::size_t i = 0; i < 120; ++i) mean += static_cast<double>(v[channel * 120 + i]) / 120;
    s[channel] = static_cast<float>(std::exp(mean));
    total += std::exp(mean);
  }
  for (float& value : s) value /= static_cast<float>(total);
  return {s, c, v, c, x};
}

void expect_near(const std::vector<std::vector<float>>& actual, const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(actual[i].size(), expected[i].size()) << "output " << i;
    for (std::size_t k = 0; k < actual[i].size(); ++k)
      ASSERT_NEAR(actual[i][k], expected[i][k], 1e-5F) << "output " << i;
  }
}

TEST(Executable, ComputesTheGraphInEveryMixtureOfVariants) {
  const Graph graph = sample_graph();
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Dice dice(seed);
    auto plan = HostPlanner(graph, [&](std::size_t variants) { return dice.below(variants); }).plan();
    ASSERT_TRUE(plan) << to_string(plan.error());
    const auto executable = Executable::load(*plan, host_only, {});
    ASSERT_TRUE(executable) << to_string(executable.error());
    auto context = executable->make_context();
    fill_input(*context, 0, seed);
    fill_input(*context, 1, seed + 1);
    const auto x = floats_in(context->input(0));
    const auto y = floats_in(context->input(1));
    expect_near(run_once(*executable, seed), sample_by_hand(graph, x, y));
  }
}

TEST(Executable, RunsInSeveralThreadsAtOnce) {
  const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
  ASSERT_TRUE(executable);
  std::vector<std::vector<std::vector<float>>> expected;
  for (std::uint64_t seed = 0; seed < 3; ++seed) expected.push_back(run_once(*executable, seed * 10));
  std::vector<std::thread> threads;
  std::vector<int> wrong(3, 0);
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    threads.emplace_back([&, seed] {
      for (int round = 0; round < 50; ++round)
        if (run_once(*executable, seed * 10) != expected[seed]) ++wrong[seed];
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
}

TEST(Executable, OutlivesItselfInItsContexts) {
  auto context = [] {
    const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
    return executable->make_context();
  }();
  ASSERT_TRUE(context);
  fill_input(*context, 0, 1);
  EXPECT_TRUE(context->run());
}

TEST(Executable, ReadsAndWritesTheCallersBuffers) {
  const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
  const auto expected = run_once(*executable, 3);
  auto context = executable->make_context();
  std::vector<Buffer> held;
  std::vector<std::byte*> places;
  const auto memory = [&](std::size_t bytes) {
    held.push_back(Buffer::make(bytes, [&](std::span<std::byte> out) { places.push_back(out.data()); }));
    return places.back();
  };
  for (std::size_t i = 0; i < 2; ++i) {
    fill_input(*context, i, 3 + i);
    std::byte* place = memory(executable->inputs()[i].bytes);
    std::memcpy(place, context->input(i).data(), executable->inputs()[i].bytes);
    std::memset(context->input(i).data(), 0, executable->inputs()[i].bytes);
    ASSERT_TRUE(context->bind_input(i, place));
    EXPECT_TRUE(context->input(i).empty());
  }
  for (std::size_t i = 0; i < 5; ++i) ASSERT_TRUE(context->bind_output(i, memory(executable->outputs()[i].bytes)));
  ASSERT_TRUE(context->run());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(context->output(i).data(), places[2 + i]);
    EXPECT_EQ(floats_in(context->output(i)), expected[i]) << i;
  }
  ASSERT_TRUE(context->bind_input(0, nullptr));
  EXPECT_FALSE(context->input(0).empty());
}

TEST(Executable, RefusesUnalignedBuffersAndUnknownPorts) {
  const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
  auto context = executable->make_context();
  alignas(64) static std::byte memory[8192];
  EXPECT_EQ(context->bind_input(0, memory + 4).error().code, "runtime/unaligned");
  EXPECT_EQ(context->bind_input(2, memory).error().code, "runtime/no-port");
  EXPECT_EQ(context->bind_output(5, memory).error().code, "runtime/no-port");
  fill_input(*context, 0, 3);
  fill_input(*context, 1, 4);
  ASSERT_TRUE(context->run());
  EXPECT_EQ(floats_in(context->output(1)), run_once(*executable, 3)[1]);
}

TEST(Executable, LoadsEqualKernelsOnce) {
  ScriptedBackend backend;
  backend.scripts["same"] = [](const Buffers& buffers) -> Result<void> {
    std::memcpy(buffers.outputs[0], buffers.inputs[0], 256);
    return {};
  };
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const auto executable = Executable::load(scripted_chain({"same", "same", "same"}), source, {});
  ASSERT_TRUE(executable);
  EXPECT_EQ(backend.loads, 1);
  EXPECT_EQ(backend.last_threads, 3);
  const auto other = Executable::load(scripted_chain({"same"}), source, {.threads = 7});
  EXPECT_EQ(backend.last_threads, 7);
  EXPECT_EQ(run_once(*executable, 1)[0].size(), 64U);
}

TEST(Executable, GivesEachStepItsAlignedWorkspace) {
  ScriptedBackend backend;
  std::size_t good = 0;
  backend.scripts["s"] = [&](const Buffers& buffers) -> Result<void> {
    if (buffers.workspace != nullptr && reinterpret_cast<std::uintptr_t>(buffers.workspace) % 64 == 0) ++good;
    std::memset(buffers.workspace, 0xff, 1000);
    std::memcpy(buffers.outputs[0], buffers.inputs[0], 256);
    return {};
  };
  const auto executable = Executable::load(scripted_chain({"s", "s", "s"}, 1000),
                                           [&](const std::string&) -> Result<Backend*> { return &backend; }, {});
  auto context = executable->make_context();
  fill_input(*context, 0, 8);
  ASSERT_TRUE(context->run());
  EXPECT_EQ(good, 3U);
  EXPECT_EQ(floats_in(context->output(0)), floats_in(context->input(0)));
}

TEST(Executable, SaysWhichStepFailed) {
  ScriptedBackend backend;
  backend.scripts["ok"] = [](const Buffers&) -> Result<void> { return {}; };
  backend.scripts["bad"] = [](const Buffers&) -> Result<void> {
    return fail(ExitCode::kBadInput, "test/bad", "kernel", "a wrong index");
  };
  const auto executable = Executable::load(scripted_chain({"ok", "bad", "ok"}),
                                           [&](const std::string&) -> Result<Backend*> { return &backend; }, {});
  auto context = executable->make_context();
  const auto done = context->run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "test/bad");
  EXPECT_THAT(done.error().where, testing::HasSubstr("step 1"));
  std::vector<std::int64_t> times(3, 7);
  EXPECT_FALSE(context->run_profiled(times));
}

TEST(Executable, HandsOutOutputsOfUnknownShape) {
  ScriptedBackend backend;
  bool got_null = false;
  backend.scripts["s"] = [&](const Buffers& buffers) -> Result<void> {
    got_null = buffers.outputs[0] == nullptr;
    return {};
  };
  static const float values[3] = {1, 2, 3};
  backend.dynamic = {ElementType::kFloat32, {3}, values};
  const auto executable = Executable::load(scripted_chain({"s"}, 0, true),
                                           [&](const std::string&) -> Result<Backend*> { return &backend; }, {});
  ASSERT_TRUE(executable);
  auto context = executable->make_context();
  ASSERT_TRUE(context->run());
  EXPECT_TRUE(got_null);
  EXPECT_TRUE(context->output(0).empty());
  const auto tensor = context->output_tensor(0);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->extents, Extents{3});
  EXPECT_EQ(static_cast<const float*>(tensor->data)[2], 3.0F);
  alignas(64) static std::byte memory[256];
  EXPECT_EQ(context->bind_output(0, memory).error().code, "runtime/no-port");
}

TEST(Executable, DescribesFixedOutputsAsTensorsToo) {
  const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
  auto context = executable->make_context();
  ASSERT_TRUE(context->run());
  const auto tensor = context->output_tensor(2);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->extents, (Extents{1, 24, 12, 10}));
  EXPECT_EQ(tensor->data, context->output(2).data());
}

TEST(Executable, TimesEveryStepThatRuns) {
  const auto executable = Executable::load(all_plain(sample_graph()), host_only, {});
  auto context = executable->make_context();
  std::vector<std::int64_t> times(executable->plan().steps.size(), -1);
  ASSERT_TRUE(context->run_profiled(times));
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (is_view(executable->plan().steps[i])) {
      EXPECT_EQ(times[i], 0);
    } else {
      EXPECT_GT(times[i], 0) << i;
    }
  }
}

TEST(MachineVerdict, TellsSameUsableAndRefusedApart) {
  ScriptedBackend backend;
  backend.scripts["s"] = [](const Buffers&) -> Result<void> { return {}; };
  const BackendSource here = [&](const std::string&) -> Result<Backend*> { return &backend; };
  RealisedPlan plan = scripted_chain({"s"});
  plan.plan.machine = "this machine";
  EXPECT_EQ(judge_machine(plan.plan, here, "this machine").kind, MachineVerdict::Kind::kSame);
  EXPECT_EQ(judge_machine(plan.plan, here, "").kind, MachineVerdict::Kind::kSame);
  const MachineVerdict moved = judge_machine(plan.plan, here, "another machine");
  EXPECT_EQ(moved.kind, MachineVerdict::Kind::kUsable);
  EXPECT_THAT(moved.reasons, testing::ElementsAre(testing::HasSubstr("this machine")));

  backend.info_.build = "newer";
  const auto rebuilt = Executable::load(plan, here, {});
  ASSERT_TRUE(rebuilt);
  EXPECT_EQ(rebuilt->verdict().kind, MachineVerdict::Kind::kUsable);
  EXPECT_THAT(rebuilt->verdict().reasons, testing::ElementsAre(testing::HasSubstr("scripted")));

  backend.info_.unusable = "no such device";
  EXPECT_EQ(judge_machine(plan.plan, here, "").kind, MachineVerdict::Kind::kRefused);
  const BackendSource nowhere = [](const std::string& name) -> Result<Backend*> {
    return fail(ExitCode::kUnsupported, "backend/missing", name, "no module", "host");
  };
  const auto refused = Executable::load(plan, nowhere, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "plan/missing-backend");
  EXPECT_EQ(refused.error().exit, ExitCode::kUnsupported);
}

TEST(MachineVerdict, SaysWhatBackendsSayOfTheirKernels) {
  ScriptedBackend backend;
  backend.scripts["s"] = backend.scripts["t"] = [](const Buffers&) -> Result<void> { return {}; };
  const BackendSource here = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const RealisedPlan plan = scripted_chain({"s", "t"});
  const std::string compatibility = plan.plan.artifacts.front().compatibility;
  EXPECT_EQ(judge_machine(plan.plan, here, "").kind, MachineVerdict::Kind::kSame);

  backend.verdicts.emplace(compatibility, "smaller kernels");
  const auto executable = Executable::load(plan, here, {});
  ASSERT_TRUE(executable) << to_string(executable.error());
  EXPECT_EQ(executable->verdict().kind, MachineVerdict::Kind::kUsable);
  EXPECT_THAT(executable->verdict().reasons, testing::ElementsAre("scripted: smaller kernels in 2 of 2 steps"));

  backend.verdicts.insert_or_assign(
      compatibility, fail(ExitCode::kUnsupported, "backend/incompatible-artifact", "s", "a kernel for giants", "us"));
  const MachineVerdict refused = judge_machine(plan.plan, here, "");
  EXPECT_EQ(refused.kind, MachineVerdict::Kind::kRefused);
  ASSERT_EQ(refused.reasons.size(), 1U) << "one line for all steps";
  EXPECT_THAT(refused.reasons[0],
              testing::AllOf(testing::HasSubstr("a kernel for giants"), testing::HasSubstr("steps")));
  const auto not_loaded = Executable::load(plan, here, {});
  ASSERT_FALSE(not_loaded);
  EXPECT_THAT(not_loaded.error().saw, testing::HasSubstr("a kernel for giants"));
}

TEST(Executable, RefusesPlansWithMissingPartsAndArtifactsThatChanged) {
  ScriptedBackend backend;
  backend.scripts["s"] = [](const Buffers&) -> Result<void> { return {}; };
  const BackendSource here = [&](const std::string&) -> Result<Backend*> { return &backend; };
  RealisedPlan lost = scripted_chain({"s"});
  lost.artifacts.clear();
  EXPECT_EQ(Executable::load(lost, here, {}).error().code, "plan/damaged");

  RealisedPlan changed = scripted_chain({"s"});
  const std::string other = "S";
  changed.artifacts.begin()->second = Buffer::copy_of(std::as_bytes(std::span(other)));
  EXPECT_EQ(Executable::load(changed, here, {}).error().code, "plan/damaged");

  RealisedPlan sick = scripted_chain({"s"});
  sick.plan.arena_bytes = 0;
  sick.plan.outputs = {sick.plan.inputs[0]};
  EXPECT_EQ(Executable::load(sick, here, {}).error().code, "plan/damaged");

  EXPECT_EQ(Executable::load(scripted_chain({"unknown"}), here, {}).error().code, "backend/bad-artifact");

  // Between two steps a value without memory, in a format that nobody knows.
  backend.scripts["t"] = backend.scripts["s"];
  RealisedPlan strange = scripted_chain({"s", "t"});
  ASSERT_TRUE(Executable::load(strange, here, {}));
  PlanValue& between = strange.plan.values[strange.plan.steps[0].outputs[0]];
  between.place.format = {"unheard_of"};
  between.bytes = 0;
  strange.plan.arena_bytes = 0;
  const auto refused = Executable::load(strange, here, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "plan/damaged");
  EXPECT_EQ(refused.error().allowed, "a format of scripted");
}

TEST(Executable, WithOpenInputsWantsExtentsThatFitThem) {
  test::RowsBackend backend;
  const BackendSource source = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const auto executable = Executable::load(test::plan_of_rows(-1), source, {});
  ASSERT_TRUE(executable) << to_string(executable.error());
  EXPECT_TRUE(executable->is_open());
  EXPECT_EQ(executable->make_context().error().code, "runtime/open-shape");
  EXPECT_EQ(executable->make_context({.inputs = {{3, 5}}, .arena = {}}).error().code, "runtime/open-shape");
  EXPECT_EQ(executable->make_context({.inputs = {{-3, 4}}, .arena = {}}).error().code, "runtime/open-shape");
  const auto context = executable->make_context({.inputs = {{3, 4}}, .arena = {}});
  ASSERT_TRUE(context) << to_string(context.error());
  EXPECT_EQ(to_string(context->inputs().front().type), "f32[3,4]");
}

}  // namespace
}  // namespace collage
