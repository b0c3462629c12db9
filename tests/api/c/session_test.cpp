// Sessions of plans whose shapes are fixed: memory of their own and the caller's, runs, and what is refused.
#include <algorithm>
#include <cstring>
#include <thread>

#include "api/run/loaded_plan.h"
#include "tests/api/c/c_fixture.h"

namespace collage {
namespace {

using test::CApi;
using test::code_of;
using test::is_good;
using test::kIncrements;
using test::PlanHandle;
using test::SessionHandle;

class CApiSession : public CApi {
 protected:
  static constexpr std::size_t kBytes = kIncrements * sizeof(float);

  static std::vector<float> numbers(float scale) {
    std::vector<float> values(kIncrements);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(i % 17);
    return values;
  }
  static std::vector<float> incremented(std::vector<float> values) {
    for (float& value : values) ++value;
    return values;
  }

  void copy_in(const std::vector<float>& values) const {
    ASSERT_TRUE(is_good(api_.session_copy_input(session_.get(), 0, values.data(), values.size() * sizeof(float))));
  }
  [[nodiscard]] std::vector<float> run() const {
    EXPECT_TRUE(is_good(api_.session_run(session_.get())));
    return output_of(session_, 0);
  }

  PlanHandle plan_ = loaded(increment_file());
  SessionHandle session_ = session_of(plan_);
};

TEST_F(CApiSession, RunsOnCopiesOfInputs) {
  for (const float scale : {1.0F, -3.0F}) {
    copy_in(numbers(scale));
    EXPECT_EQ(run(), incremented(numbers(scale)));
    std::vector<float> copied(kIncrements);
    ASSERT_TRUE(is_good(api_.session_copy_output(session_.get(), 0, copied.data(), kBytes)));
    EXPECT_EQ(copied, incremented(numbers(scale)));
  }
}

TEST_F(CApiSession, GivesItsOwnMemoryToBeWritten) {
  void* data = nullptr;
  std::size_t bytes = 0;
  ASSERT_TRUE(is_good(api_.session_input(session_.get(), 0, &data, &bytes)));
  EXPECT_EQ(bytes, kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
  std::memcpy(data, numbers(2).data(), bytes);
  EXPECT_EQ(run(), incremented(numbers(2)));
}

TEST_F(CApiSession, SaysWhatItsPortsAre) {
  collage_tensor_info info{};
  info.size = sizeof info;
  ASSERT_TRUE(is_good(api_.session_input_info(session_.get(), 0, &info)));
  EXPECT_STREQ(info.name, "x");
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(info.extents[1], 16);
  EXPECT_EQ(info.bytes, kBytes);
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  (void)run();
  ASSERT_TRUE(is_good(api_.session_output(session_.get(), 0, &tensor)));
  EXPECT_EQ(tensor.bytes, kBytes);
  EXPECT_EQ(tensor.element_type, COLLAGE_FLOAT32);
  ASSERT_EQ(tensor.rank, 2);
  EXPECT_EQ(tensor.extents[0], 6);
  std::size_t index = 9;
  ASSERT_TRUE(is_good(api_.session_input_index(session_.get(), "x", &index)));
  EXPECT_EQ(index, 0U);
  EXPECT_EQ(code_of(api_.session_output_index(session_.get(), "nobody", &index)), "output/unknown-name");
}

TEST_F(CApiSession, KeepsExtentsOfAnOutputWhileNothingChanges) {
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  (void)run();
  ASSERT_TRUE(is_good(api_.session_output(session_.get(), 0, &tensor)));
  const std::int64_t* const extents = tensor.extents;
  std::vector<float> copy(kIncrements);
  ASSERT_TRUE(is_good(api_.session_copy_output(session_.get(), 0, copy.data(), kBytes)));
  ASSERT_TRUE(is_good(api_.session_output(session_.get(), 0, &tensor)));
  EXPECT_EQ(tensor.extents, extents);
}

TEST_F(CApiSession, ReadsAndWritesTheCallersMemory) {
  alignas(64) std::array<float, kIncrements> in;
  alignas(64) std::array<float, kIncrements> out{};
  std::memcpy(in.data(), numbers(2).data(), kBytes);
  ASSERT_TRUE(is_good(api_.session_bind_input(session_.get(), 0, in.data(), kBytes)));
  ASSERT_TRUE(is_good(api_.session_bind_output(session_.get(), 0, out.data(), kBytes)));
  EXPECT_EQ(run(), incremented(numbers(2)));
  EXPECT_EQ(std::vector<float>(out.begin(), out.end()), incremented(numbers(2)));
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  ASSERT_TRUE(is_good(api_.session_output(session_.get(), 0, &tensor)));
  EXPECT_EQ(tensor.data, out.data()) << "no copy";
  void* data = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(code_of(api_.session_input(session_.get(), 0, &data, &bytes)), "input/bound");
  EXPECT_EQ(code_of(api_.session_copy_input(session_.get(), 0, in.data(), kBytes)), "input/bound");
  // Back to the session's own.
  ASSERT_TRUE(is_good(api_.session_bind_input(session_.get(), 0, nullptr, 0)));
  ASSERT_TRUE(is_good(api_.session_bind_output(session_.get(), 0, nullptr, 0)));
  copy_in(numbers(5));
  EXPECT_EQ(run(), incremented(numbers(5)));
  EXPECT_EQ(out[1], 3) << "of the run before";
}

TEST_F(CApiSession, RefusesMemoryThatDoesNotDo) {
  alignas(64) std::array<float, kIncrements + 16> memory{};
  EXPECT_EQ(code_of(api_.session_bind_input(session_.get(), 0, memory.data() + 1, kBytes)), "runtime/unaligned");
  EXPECT_EQ(code_of(api_.session_bind_output(session_.get(), 0, memory.data() + 1, kBytes)), "runtime/unaligned");
  EXPECT_EQ(code_of(api_.session_bind_input(session_.get(), 0, memory.data(), kBytes - 1)), "api/wrong-bytes");
  EXPECT_EQ(code_of(api_.session_bind_output(session_.get(), 0, memory.data(), kBytes - 1)), "api/wrong-bytes");
  EXPECT_TRUE(is_good(api_.session_bind_output(session_.get(), 0, memory.data(), kBytes + 8))) << "more does";
  ASSERT_TRUE(is_good(api_.session_bind_output(session_.get(), 0, nullptr, 0)));
  for (const std::size_t bytes : {std::size_t{0}, kBytes - 1, kBytes + 1})
    EXPECT_EQ(code_of(api_.session_copy_input(session_.get(), 0, memory.data(), bytes)), "api/wrong-bytes") << bytes;
  (void)run();
  collage_status* const status = api_.session_copy_output(session_.get(), 0, memory.data(), 8);
  EXPECT_STREQ(api_.status_code(status), "api/wrong-bytes");
  EXPECT_STREQ(api_.status_saw(status), "8 bytes");
  EXPECT_STREQ(api_.status_allowed(status), "at least 384 bytes");
  api_.status_free(status);
  copy_in(numbers(1));
  EXPECT_EQ(run(), incremented(numbers(1))) << "refusals change nothing";
}

TEST_F(CApiSession, HasNoOutputBeforeARun) {
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  EXPECT_EQ(code_of(api_.session_output(session_.get(), 0, &tensor)), "session/not-run");
  (void)run();
  alignas(64) std::array<float, kIncrements> out{};
  ASSERT_TRUE(is_good(api_.session_bind_output(session_.get(), 0, out.data(), kBytes)));
  EXPECT_EQ(code_of(api_.session_output(session_.get(), 0, &tensor)), "session/not-run") << "nothing is in it yet";
}

TEST_F(CApiSession, RefusesWrongIndices) {
  alignas(64) std::array<float, kIncrements> memory{};
  collage_tensor_info info{};
  info.size = sizeof info;
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  void* data = nullptr;
  std::size_t bytes = 0;
  collage_session* const session = session_.get();
  for (collage_status* status :
       {api_.session_input_info(session, 1, &info), api_.session_output_info(session, 1, &info),
        api_.session_input(session, 1, &data, &bytes), api_.session_copy_input(session, 1, memory.data(), kBytes),
        api_.session_output(session, 1, &tensor), api_.session_copy_output(session, 1, memory.data(), kBytes),
        api_.session_bind_input(session, SIZE_MAX, memory.data(), kBytes),
        api_.session_bind_output(session, 1, memory.data(), kBytes)})
    EXPECT_EQ(code_of(status), "api/wrong-index");
}

TEST_F(CApiSession, RefusesNullPointers) {
  alignas(64) std::array<float, kIncrements> memory{};
  collage_tensor_info info{};
  info.size = sizeof info;
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  collage_shape shape{};
  void* data = nullptr;
  std::size_t number = 0;
  collage_session* none = nullptr;
  collage_session* const session = session_.get();
  (void)run();
  for (collage_status* status : {api_.session_create(nullptr, nullptr, &none),
                                 api_.session_create(plan_.get(), nullptr, nullptr),
                                 api_.session_set_shapes(none, &shape, 1),
                                 api_.session_set_shapes(session, nullptr, 1),
                                 api_.session_input_info(none, 0, &info),
                                 api_.session_input_info(session, 0, nullptr),
                                 api_.session_output_info(none, 0, &info),
                                 api_.session_output_info(session, 0, nullptr),
                                 api_.session_input_index(none, "x", &number),
                                 api_.session_input_index(session, nullptr, &number),
                                 api_.session_output_index(none, "x", &number),
                                 api_.session_output_index(session, "x", nullptr),
                                 api_.session_input(none, 0, &data, &number),
                                 api_.session_input(session, 0, nullptr, &number),
                                 api_.session_input(session, 0, &data, nullptr),
                                 api_.session_copy_input(none, 0, memory.data(), kBytes),
                                 api_.session_copy_input(session, 0, nullptr, kBytes),
                                 api_.session_output(none, 0, &tensor),
                                 api_.session_output(session, 0, nullptr),
                                 api_.session_copy_output(none, 0, memory.data(), kBytes),
                                 api_.session_copy_output(session, 0, nullptr, kBytes),
                                 api_.session_bind_input(none, 0, memory.data(), kBytes),
                                 api_.session_bind_output(none, 0, memory.data(), kBytes),
                                 api_.session_run(none)})
    EXPECT_EQ(code_of(status), "api/null-argument");
  shape.rank = 2;
  EXPECT_EQ(code_of(api_.session_set_shapes(session, &shape, 1)), "api/null-argument");
  api_.session_free(nullptr);
}

TEST_F(CApiSession, TakesOptionsOfTheRightSizeOnly) {
  collage_session* session = nullptr;
  collage_session_options options{};
  EXPECT_EQ(code_of(api_.session_create(plan_.get(), &options, &session)), "api/wrong-size");
  EXPECT_EQ(session, nullptr);
  options.size = sizeof options;
  EXPECT_TRUE(is_good(api_.session_create(plan_.get(), &options, &session)));
  api_.session_free(session);
}

TEST_F(CApiSession, TakesTheShapeThatAFixedPlanHas) {
  const std::array<std::int64_t, 2> extents = {6, 16};
  collage_shape shape = {extents.data(), extents.size()};
  EXPECT_TRUE(is_good(api_.session_set_shapes(session_.get(), &shape, 1)));
  for (const std::size_t rank : {std::size_t{0}, std::size_t{1}, SIZE_MAX}) {
    shape.rank = rank;
    EXPECT_EQ(code_of(api_.session_set_shapes(session_.get(), &shape, 1)), "input/wrong-shape") << rank;
  }
  EXPECT_EQ(code_of(api_.session_set_shapes(session_.get(), &shape, 0)), "input/wrong-count");
}

TEST_F(CApiSession, OutlivesItsPlan) {
  plan_.reset();
  copy_in(numbers(4));
  EXPECT_EQ(run(), incremented(numbers(4)));
  collage_tensor_info info{};
  info.size = sizeof info;
  ASSERT_TRUE(is_good(api_.session_input_info(session_.get(), 0, &info)));
  EXPECT_STREQ(info.name, "x");
}

TEST_F(CApiSession, RunsBesideOthersInOtherThreads) {
  const auto run_often = [&](float scale) {
    const SessionHandle own = session_of(plan_);
    for (int i = 0; i < 200; ++i) {
      const std::vector<float> in = numbers(scale + static_cast<float>(i));
      ASSERT_TRUE(is_good(api_.session_copy_input(own.get(), 0, in.data(), kBytes)));
      ASSERT_TRUE(is_good(api_.session_run(own.get())));
      ASSERT_EQ(output_of(own, 0), incremented(in));
    }
  };
  std::thread other(run_often, 1.0F);
  run_often(1000.0F);
  other.join();
}

TEST_F(CApiSession, GivesTheNumbersOfALoadedPlan) {
  const std::string path = saved(single_case(all_plain(sample_graph())), "sample.collage");
  const LoadedPlan direct = LoadedPlan::load(path, test_registry()).value();
  Session expected = direct.make_session().value();
  const PlanHandle plan = loaded(path);
  const SessionHandle session = session_of(plan);
  for (std::size_t i = 0; i < direct.inputs().size(); ++i) {
    fill_input(expected, i, 5 + i);
    const auto bytes = expected.input(i);
    ASSERT_TRUE(is_good(api_.session_copy_input(session.get(), i, bytes.data(), bytes.size())));
  }
  ASSERT_TRUE(expected.run());
  ASSERT_TRUE(is_good(api_.session_run(session.get())));
  for (std::size_t i = 0; i < direct.outputs().size(); ++i)
    EXPECT_EQ(output_of(session, i), floats_in(expected.output(i))) << i;
}

TEST_F(CApiSession, TurnsExceptionsOfARunIntoStatuses) {
  const PlanHandle plan = loaded(saved(single_case(test::plan_of_rows(7)), "throws.collage"));
  const SessionHandle session = session_of(plan);
  collage_status* const status = api_.session_run(session.get());
  EXPECT_STREQ(api_.status_code(status), "api/exception");
  EXPECT_STREQ(api_.status_where(status), "session_run");
  api_.status_free(status);
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  EXPECT_EQ(code_of(api_.session_output(session.get(), 0, &tensor)), "session/not-run");
}

class CApiEarlyEnd : public CApi {
 protected:
  void set_trips(std::int64_t trips) const {
    ASSERT_TRUE(is_good(api_.session_copy_input(session_.get(), 0, &trips, sizeof trips)));
  }
  [[nodiscard]] collage_status* run(std::int64_t limit_ns, const collage_cancel* cancel = nullptr) const {
    const collage_run_options options = {sizeof options, limit_ns, cancel};
    return api_.session_run_with(session_.get(), &options);
  }

  static constexpr std::int64_t kHour = 3'600'000'000'000;
  static constexpr std::int64_t kForever = std::int64_t{1} << 60;
  PlanHandle plan_ = loaded(doubling_file());
  SessionHandle session_ = session_of(plan_);
};

TEST_F(CApiEarlyEnd, ATimeLimitEndsARunAndTheSessionRunsAgain) {
  for (int i = 0; i < 2; ++i) {
    set_trips(kForever);
    collage_status* const status = run(20'000'000);
    EXPECT_EQ(api_.status_kind(status), COLLAGE_LIMIT);
    EXPECT_EQ(code_of(status), "session/deadline");
    collage_tensor tensor{};
    tensor.size = sizeof tensor;
    EXPECT_EQ(code_of(api_.session_output(session_.get(), 0, &tensor)), "session/not-run");
    set_trips(1);
    EXPECT_TRUE(is_good(run(kHour)));
    EXPECT_EQ(output_of(session_, 0).size(), 2U);
  }
}

TEST_F(CApiEarlyEnd, AnotherThreadCancelsARunWithAndWithoutATimeLimit) {
  for (const std::int64_t limit : {std::int64_t{0}, kHour}) {
    collage_cancel* made = nullptr;
    ASSERT_TRUE(is_good(api_.cancel_create(&made)));
    const std::unique_ptr<collage_cancel, test::FreeHandle> cancel(made);
    set_trips(kForever);
    std::jthread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      api_.cancel_now(cancel.get());
    });
    collage_status* const status = run(limit, cancel.get());
    EXPECT_EQ(api_.status_kind(status), COLLAGE_INTERRUPTED);
    EXPECT_EQ(code_of(status), "session/cancelled");
    EXPECT_EQ(code_of(run(limit, cancel.get())), "session/cancelled") << "it stays cancelled";
  }
}

TEST_F(CApiEarlyEnd, RefusesWrongOptions) {
  EXPECT_EQ(code_of(run(-1)), "api/wrong-option");
  collage_run_options options{};
  options.size = 4;
  EXPECT_EQ(code_of(api_.session_run_with(session_.get(), &options)), "api/wrong-size");
  EXPECT_EQ(code_of(api_.session_run_with(nullptr, nullptr)), "api/null-argument");
  EXPECT_EQ(code_of(api_.cancel_create(nullptr)), "api/null-argument");
  api_.cancel_now(nullptr);
  api_.cancel_free(nullptr);
  set_trips(2);
  EXPECT_TRUE(is_good(api_.session_run_with(session_.get(), nullptr))) << "no options are the defaults";
}

}  // namespace
}  // namespace collage
