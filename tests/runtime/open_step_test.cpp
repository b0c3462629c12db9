// A step that reads a value whose extents an earlier step decides: it follows them from run to run, binds its kernel
// once while that can be moved, and never runs on what an earlier, failed run left.
#include <gtest/gtest.h>

#include "backend/open_kernel.h"
#include "plan/memory.h"
#include "tests/runtime/runtime_fixture.h"

namespace collage {
namespace {

/// What the two kernels below do and what was seen of them.
struct Script {
  std::size_t misaligned_by = 0;  ///< bytes, of the value that is made
  ElementType type = ElementType::kFloat32;
  bool fails_to_move = false;
  bool can_move = true;
  int binds = 0;
  bool was_aligned = true;
};

/// x f32[64] -> as many elements of x as its first one says, as a value of open shape.
struct TakeFirst final : Kernel {
  explicit TakeFirst(Script& given) : script(given) {}
  struct Run final : Call {
    Run(Script& given, const void* from) : script(given), x(static_cast<const float*>(from)) {}
    Result<void> run() override {
      memory.assign(x, x + static_cast<std::size_t>(x[0]));
      memory.resize(memory.size() + 32);
      bytes = GuardedCopy(memory, script.misaligned_by);
      count = static_cast<std::int64_t>(x[0]);
      return {};
    }
    Result<DynamicOutput> dynamic_output(std::size_t) override {
      return DynamicOutput{.type = script.type, .extents = {count}, .data = bytes.data()};
    }
    /// At an address that is aligned but for so many bytes.
    struct GuardedCopy {
      GuardedCopy() = default;
      GuardedCopy(const std::vector<float>& values, std::size_t by)
          : room(values.size() * sizeof(float) + 2 * kBufferAlignment), offset(by) {
        std::memcpy(data(), values.data(), values.size() * sizeof(float));
      }
      [[nodiscard]] std::byte* data() {
        const auto address = reinterpret_cast<std::uintptr_t>(room.data());
        return room.data() + (kBufferAlignment - address % kBufferAlignment) % kBufferAlignment + offset;
      }
      std::vector<std::byte> room;
      std::size_t offset = 0;
    };
    Script& script;
    const float* x;
    std::vector<float> memory;
    GuardedCopy bytes;
    std::int64_t count = 0;
  };
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<Run>(script, buffers.inputs[0]);
  }
  Script& script;
};

/// Twice its input, of any extent.
struct Twice final : OpenKernel {
  explicit Twice(Script& given) : script(given) {}
  struct Run final : Call {
    Run(Script& given, const void* from, std::int64_t length)
        : script(given), x(static_cast<const float*>(from)), count(length) {}
    Result<void> run() override {
      script.was_aligned &= reinterpret_cast<std::uintptr_t>(x) % kBufferAlignment == 0;
      made.assign(x, x + count);
      for (float& value : made) value *= 2;
      return {};
    }
    Result<DynamicOutput> dynamic_output(std::size_t) override {
      return DynamicOutput{.type = ElementType::kFloat32, .extents = {count}, .data = made.data()};
    }
    Result<bool> move_inputs(std::span<const void* const> inputs, std::span<const Extents> extents) override {
      if (script.fails_to_move) return fail(ExitCode::kUnsupported, "test/no-move", "twice", "a move");
      if (!script.can_move) return false;
      x = static_cast<const float*>(inputs[0]);
      count = extents[0][0];
      return true;
    }
    Script& script;
    const float* x;
    std::int64_t count;
    std::vector<float> made;
  };
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers&) const override {
    return fail(ExitCode::kBug, "test/no-extents", "twice", "no extents");
  }
  [[nodiscard]] Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                      std::span<const Extents> inputs) const override {
    ++script.binds;
    return std::make_unique<Run>(script, buffers.inputs[0], inputs[0][0]);
  }
  Script& script;
};

class OpenBackend final : public test::LoadOnlyBackend {
 public:
  explicit OpenBackend(Script& script)
      : LoadOnlyBackend({.name = "scripted", .kind = "scripted", .version = "1", .build = "b"}), script_(script) {}
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    if (request.artifact.bytes == "take") return std::make_unique<TakeFirst>(script_);
    return std::make_unique<Twice>(script_);
  }

 private:
  Script& script_;
};

/// x -> take -> twice, with values of open shape from the first step on.
RealisedPlan open_chain() {
  Graph graph;
  const ValueId x = add_input(graph, "x", {64});
  ValueId value = x;
  for (int i = 0; i < 2; ++i) {
    value = add_op(graph, "Op", {value}, {64});
    graph.value(value).type.shape->front() = Dim{.extent = -1, .symbol = "n"};
  }
  graph.outputs = {value};
  const Uses uses = uses_of(graph);
  Cover cover;
  for (std::size_t i = 0; i < 2; ++i) {
    NodeSet nodes(graph.nodes.size());
    nodes.insert(i);
    const Variant variant{"direct", {plain()}, {plain()}};
    cover.steps.push_back({.backend = "scripted", .work = CoverKernel{make_region(graph, uses, nodes), variant}});
  }
  const Artifact take{.bytes = "take", .compatibility = "1", .constants = {}, .in_place = {}};
  const Artifact twice{.bytes = "twice", .compatibility = "1", .constants = {}, .in_place = {}};
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &cover;
  request.artifacts = {&take, &twice};
  request.header.backends = {{"scripted", "1", "b"}};
  request.header.threads = 1;
  return realise(request).value();
}

class OpenStep : public ::testing::Test {
 protected:
  void SetUp() override {
    auto executable =
        Executable::load(open_chain(), [this](const std::string&) -> Result<Backend*> { return &backend_; }, {});
    ASSERT_TRUE(executable) << to_string(executable.error());
    context_.emplace(executable->make_context().value());
  }

  /// The input counts up from its first element, which says how many of them are taken.
  Result<std::vector<float>> run(std::size_t count) {
    std::vector<float> x(64);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(count + i);
    std::memcpy(context_->input(0).data(), x.data(), x.size() * sizeof(float));
    COLLAGE_TRY_VOID(context_->run());
    COLLAGE_TRY(const DynamicOutput made, context_->output_tensor(0));
    const auto* const values = static_cast<const float*>(made.data);
    return std::vector<float>(values, values + made.extents.at(0));
  }
  static std::vector<float> expected(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 2 * static_cast<float>(count + i);
    return values;
  }

  Script script_;
  OpenBackend backend_{script_};
  std::optional<ExecutionContext> context_;
};

TEST_F(OpenStep, FollowsTheExtentsOfEachRunWithOneBinding) {
  for (const std::size_t count : {3, 0, 40, 40, 1}) EXPECT_EQ(run(count).value(), expected(count));
  EXPECT_EQ(script_.binds, 1);
}

TEST_F(OpenStep, BindsAgainWhereTheKernelCannotMove) {
  script_.can_move = false;
  for (const std::size_t count : {3, 40, 1}) EXPECT_EQ(run(count).value(), expected(count));
  EXPECT_GE(script_.binds, 3);
}

TEST_F(OpenStep, NeverRunsOnWhatAFailedRunLeft) {
  EXPECT_EQ(run(3).value(), expected(3));
  script_.fails_to_move = true;
  EXPECT_EQ(run(40).error().code, "test/no-move");
  EXPECT_FALSE(context_->output_tensor(0));
  script_.fails_to_move = false;
  EXPECT_EQ(run(40).value(), expected(40));
}

TEST_F(OpenStep, ReadsAlignedMemoryOnly) {
  script_.misaligned_by = 4;
  for (const std::size_t count : {3, 40}) EXPECT_EQ(run(count).value(), expected(count));
  EXPECT_TRUE(script_.was_aligned);
}

TEST_F(OpenStep, RefusesAValueThatThePlanDoesNotExpect) {
  script_.type = ElementType::kInt32;
  EXPECT_EQ(run(3).error().code, "runtime/open-shape");
}

}  // namespace
}  // namespace collage
