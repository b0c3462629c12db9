// Steps on a device: its memory, its queue, transfers.
#include <atomic>
#include <thread>

#include "backend/extensions/device_extension.h"
#include "plan/file/plan_json.h"
#include "runtime_fixture.h"
#include "tests/support/backends/made_up_device.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

/// Kernels run in the queue of a made-up device, on the bytes behind its addresses.
class DeviceBackend final : public test::LoadOnlyBackend, public DeviceExtension {
 public:
  using Run = std::function<Result<void>(const float* in, float* out)>;

  DeviceBackend()
      : LoadOnlyBackend({.name = "device", .kind = "device", .version = "1", .build = "b", .location = "there"}) {}

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest&) override {
    return std::make_unique<DeviceKernel>(*this);
  }
  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return has_device ? select_extension<DeviceExtension>(*this, kind) : nullptr;
  }
  [[nodiscard]] Device& device() override { return device_; }

  Run run;
  bool has_device = true;

 private:
  struct DeviceCall final : Call {
    DeviceCall(const DeviceBackend& from, const Buffers& to) : backend(from), queue(*to.queue) {
      in = reinterpret_cast<const float*>(backend.device_.backing_of(static_cast<const std::byte*>(to.inputs[0])));
      out = reinterpret_cast<float*>(backend.device_.backing_of(static_cast<const std::byte*>(to.outputs[0])));
    }
    Result<void> run() override {
      test::enqueue(queue, [this] { return backend.run(in, out); });
      return {};
    }
    const DeviceBackend& backend;
    DeviceQueue& queue;
    const float* in;
    float* out;
  };
  struct DeviceKernel final : Kernel {
    explicit DeviceKernel(const DeviceBackend& from) : backend(from) {}
    [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
      return std::make_unique<DeviceCall>(backend, buffers);
    }
    const DeviceBackend& backend;
  };

  mutable test::MadeUpDevice device_{0, 0};
};

/// x -> "there" on the device -> u; x -> "here" at home -> v. Transfers around the device's step; u is copied home
/// last.
RealisedPlan two_branches() {
  Graph graph;
  const ValueId x = add_input(graph, "x", {64});
  const ValueId u = add_op(graph, "There", {x}, {64});
  const ValueId v = add_op(graph, "Here", {x}, {64});
  graph.outputs = {u, v};
  const Uses uses = uses_of(graph);
  const auto kernel = [&](std::size_t node, const std::string& backend, const std::string& location) {
    NodeSet nodes(graph.nodes.size());
    nodes.insert(node);
    const Variant variant{"direct", {plain()}, {plain()}};
    return CoverStep{.backend = backend, .work = CoverKernel{make_region(graph, uses, nodes), variant, location}};
  };
  const auto transfer = [](ValueId value, const std::string& from, const std::string& to) {
    return CoverStep{.backend = "device", .work = CoverTransfer{.value = value, .from = from, .to = to}};
  };
  Cover cover;
  cover.steps = {transfer(x, "cpu", "there"), kernel(0, "device", "there"), kernel(1, "scripted", "cpu"),
                 transfer(u, "there", "cpu")};
  const Artifact artifact{.bytes = "here", .compatibility = "1"};
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &cover;
  request.artifacts = {nullptr, &artifact, &artifact, nullptr};
  return realise(request).value();
}

class DeviceExecutable : public ::testing::Test {
 protected:
  Result<Executable> load() {
    return Executable::load(two_branches(),
                            [this](const std::string& name) -> Result<Backend*> {
                              if (name == "device") return &there;
                              return &here;
                            },
                            {});
  }
  /// Keeps its executable alive.
  Result<ExecutionContext> make_context() {
    COLLAGE_TRY(const Executable executable, load());
    return executable.make_context();
  }
  DeviceBackend there;
  ScriptedBackend here;
};

TEST_F(DeviceExecutable, ComputesThereAndHere) {
  there.run = [](const float* in, float* out) -> Result<void> {
    for (int i = 0; i < 64; ++i) out[i] = in[i] * 2;
    return {};
  };
  here.scripts["here"] = [](const Buffers& buffers) -> Result<void> {
    for (int i = 0; i < 64; ++i)
      static_cast<float*>(buffers.outputs[0])[i] = static_cast<const float*>(buffers.inputs[0])[i] + 1;
    return {};
  };
  const auto executable = load();
  ASSERT_TRUE(executable) << to_string(executable.error());
  EXPECT_EQ(executable->plan().device_arena_bytes.at("there"), 64 * 4 * 2U);
  auto context = executable->make_context();
  ASSERT_TRUE(context) << to_string(context.error());
  for (std::uint64_t seed : {1, 2}) {
    fill_input(*context, 0, seed);
    const std::vector<float> x = floats_in(context->input(0));
    ASSERT_TRUE(context->run());
    const std::vector<float> u = floats_in(context->output(0));
    const std::vector<float> v = floats_in(context->output(1));
    for (std::size_t i = 0; i < 64; ++i) {
      ASSERT_EQ(u[i], x[i] * 2);
      ASSERT_EQ(v[i], x[i] + 1);
    }
  }
}

TEST_F(DeviceExecutable, HomeWorksWhileTheDeviceIsBusy) {
  std::atomic<bool> home_ran = false;
  there.run = [&](const float*, float*) -> Result<void> {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!home_ran && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(1ms);
    if (home_ran) return {};
    return fail(ExitCode::kBug, "test/alone", "there", "nothing at home", "a step at home meanwhile");
  };
  here.scripts["here"] = [&](const Buffers&) -> Result<void> {
    home_ran = true;
    return {};
  };
  auto context = make_context();
  ASSERT_TRUE(context) << to_string(context.error());
  const auto ran = context->run();
  EXPECT_TRUE(ran) << to_string(ran.error());
}

TEST_F(DeviceExecutable, AnErrorInTheQueueStopsTheStepThatWaits) {
  there.run = [](const float*, float*) -> Result<void> {
    return fail(ExitCode::kUnsupported, "backend/library", "there", "smoke", "none");
  };
  here.scripts["here"] = [](const Buffers&) -> Result<void> { return {}; };
  auto context = make_context();
  ASSERT_TRUE(context) << to_string(context.error());
  const auto ran = context->run();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().saw, "smoke");
  EXPECT_THAT(ran.error().where, ::testing::HasSubstr("step 3"));
}

TEST_F(DeviceExecutable, AProfileChargesTheDevicesTimeToItsStep) {
  std::atomic<bool> there_ran = false;
  bool seen = false;
  there.run = [&](const float*, float*) -> Result<void> {
    std::this_thread::sleep_for(5ms);
    there_ran = true;
    return {};
  };
  here.scripts["here"] = [&](const Buffers&) -> Result<void> {
    seen = there_ran;
    return {};
  };
  auto context = make_context();
  ASSERT_TRUE(context) << to_string(context.error());
  std::vector<std::int64_t> times(4);
  ASSERT_TRUE(context->run_profiled(times));
  EXPECT_TRUE(seen) << "the step after the device's began before it was done";
  EXPECT_GE(times[1], 5'000'000);
}

TEST_F(DeviceExecutable, APlanWithoutItsDeviceIsRefused) {
  there.has_device = false;
  const auto executable = load();
  ASSERT_FALSE(executable);
  EXPECT_EQ(executable.error().code, "plan/missing-device");
}

TEST_F(DeviceExecutable, AContextMayEndWhileTheDeviceIsAtWork) {
  std::atomic<int> done = 0;
  there.run = [&](const float*, float* out) -> Result<void> {
    std::this_thread::sleep_for(20ms);
    out[0] = 1;
    ++done;
    return {};
  };
  here.scripts["here"] = [](const Buffers&) -> Result<void> {
    return fail(ExitCode::kUnsupported, "backend/library", "here", "smoke", "none");
  };
  {
    auto context = make_context();
    ASSERT_TRUE(context) << to_string(context.error());
    EXPECT_FALSE(context->run());
  }
  EXPECT_EQ(done, 1);
}

TEST(DevicePlan, StaysTheSameThroughItsFile) {
  const Plan plan = two_branches().plan;
  const auto read = parse_plan(to_json(plan), "plan");
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(*read, plan);
}

TEST(DevicePlan, ValuesThatAreNotWhereTheirStepRunsAreDamage) {
  const Plan sound = two_branches().plan;
  ASSERT_TRUE(verify(sound));
  Plan moved = sound;
  std::get<PlanKernel>(moved.steps[1].work).location = kHome;
  EXPECT_FALSE(verify(moved));
  Plan elsewhere = sound;
  elsewhere.device_arena_bytes.clear();
  EXPECT_FALSE(verify(elsewhere));
  Plan short_arena = sound;
  short_arena.device_arena_bytes["there"] = 64;
  EXPECT_FALSE(verify(short_arena));
  Plan to_home = sound;
  to_home.steps[0].outputs = to_home.steps[0].inputs;
  EXPECT_FALSE(verify(to_home));
}

}  // namespace
}  // namespace collage
