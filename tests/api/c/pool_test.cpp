// Sessions whose loops run on threads of the program.
#include <algorithm>
#include <atomic>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/api/c/plan_files.h"

// Last: the product's headers mean their own types by names that this one has too.
#include "api/c/collage.hpp"

namespace collage::test {
namespace {

using Task = void (*)(void*, std::size_t);

/// What a pool was asked to do.
struct Record {
  std::atomic<std::size_t> loops = 0;
  std::atomic<std::size_t> most = 0;  ///< tasks of a loop
  void count(std::size_t tasks) {
    ++loops;
    std::size_t seen = most;
    while (seen < tasks && !most.compare_exchange_weak(seen, tasks)) {
    }
  }
};

void one_after_the_other(void* pool, std::size_t count, Task task, void* data) {
  static_cast<Record*>(pool)->count(count);
  for (std::size_t i = count; i-- > 0;) task(data, i);
}

void on_counted_threads(void* pool, std::size_t count, Task task, void* data) {
  static_cast<Record*>(pool)->count(count);
  on_new_threads(nullptr, count, task, data);
}

class Pool : public CApi {
 protected:
  /// Of this many threads: all backends that take a pool.
  std::vector<std::string> pooled_files(int threads) const {
    std::vector<std::string> files = {saved(single_case(wide_plan(threads)), "host.collage")};
    static std::map<int, std::optional<RealisedPlan>> made;  // compiling takes long
    if (!made.contains(threads)) made[threads] = plan_of_backend("native", convolution_graph(), threads);
    if (made[threads]) files.push_back(saved(single_case(*made[threads]), "native.collage"));
    return files;
  }

  std::string session_error(const PlanHandle& plan, const collage_session_options& options) const {
    collage_session* session = nullptr;
    collage_status* const status = api_.session_create(plan.get(), &options, &session);
    const SessionHandle owner(session);
    message_ = api_.status_message(status);
    return code_of(status);
  }

  mutable std::string message_;
};

TEST_F(Pool, GivesTheSameNumbersAsOurThreads) {
  for (const int threads : {2, 3}) {
    for (const std::string& file : pooled_files(threads)) {
      const PlanHandle plan = loaded(file);
      const std::string expected = Runner(plan.get()).outputs(0, 1);
      ASSERT_FALSE(expected.empty()) << file;
      for (const collage_parallel_for parallel_for : {one_after_the_other, on_counted_threads}) {
        Record record;
        const auto options = pool_options(parallel_for, &record);
        Runner runner(plan.get(), &options);
        for (int run = 0; run < 3; ++run) EXPECT_EQ(runner.outputs(0, 1), expected) << file;
        EXPECT_GT(record.loops, 0U) << file;
        EXPECT_GE(record.most, 2U) << file;
        EXPECT_LE(record.most, static_cast<std::size_t>(threads)) << file;
      }
    }
  }
}

TEST_F(Pool, GetsNoMoreTasksThanItHasThreads) {
  for (const std::string& file : pooled_files(4)) {
    const PlanHandle plan = loaded(file);
    const std::string expected = Runner(plan.get()).outputs(0, 1);
    for (const std::int32_t threads : {1, 2, 3, 100}) {
      Record record;
      const auto options = pool_options(on_counted_threads, &record, threads);
      EXPECT_EQ(Runner(plan.get(), &options).outputs(0, 1), expected) << file << ' ' << threads;
      EXPECT_EQ(record.most > 0, threads > 1) << file << ' ' << threads;
      EXPECT_LE(record.most, static_cast<std::size_t>(std::min(threads, 4))) << file;
    }
  }
}

TEST_F(Pool, IsNotCalledByAPlanForOneThread) {
  for (const std::string& file : pooled_files(1)) {
    const PlanHandle plan = loaded(file);
    Record record;
    const auto options = pool_options(on_counted_threads, &record);
    EXPECT_EQ(Runner(plan.get(), &options).outputs(0, 1), Runner(plan.get()).outputs(0, 1)) << file;
    EXPECT_EQ(record.loops, 0U) << file;
  }
}

TEST_F(Pool, IsRefusedByNameWhereABackendStartsItsOwnThreads) {
  for (const int threads : {1, 2}) {
    auto made = plan_of_backend("onednn", convolution_graph(), threads);
    if (!made) GTEST_SKIP() << "no onednn";
    const PlanHandle plan = loaded(saved(single_case(*std::move(made)), "onednn.collage"));
    Record record;
    EXPECT_EQ(session_error(plan, pool_options(one_after_the_other, &record)),
              threads == 1 ? "" : "session/pool-not-supported");
    if (threads > 1) {
      EXPECT_THAT(message_, testing::HasSubstr("2 threads with steps of onednn"));
    }
  }
}

TEST_F(Pool, OptionsOfOtherHeadersMeanWhatTheyMeant) {
  const PlanHandle plan = loaded(pooled_files(2).front());
  Record record;
  auto options = pool_options(one_after_the_other, &record);
  options.size = sizeof options.size;  // a program older than pools
  EXPECT_FALSE(Runner(plan.get(), &options).outputs(0, 1).empty());
  EXPECT_EQ(record.loops, 0U);
  EXPECT_EQ(session_error(plan, pool_options(one_after_the_other, &record, -1)), "api/wrong-option");
  EXPECT_EQ(session_error(plan, pool_options(nullptr, nullptr, 2)), "api/wrong-option");
  options = pool_options(one_after_the_other, &record);
  options.reserved = 1;
  EXPECT_EQ(session_error(plan, options), "api/unknown-option");
}

/// Runs tasks as told: all, or only the first ones.
struct Careless {
  std::size_t left_out = 0;
  static void parallel_for(void* pool, std::size_t count, Task task, void* data) {
    const std::size_t all = count - static_cast<Careless*>(pool)->left_out;
    for (std::size_t i = 0; i < all; ++i) task(data, i);
    task(data, count + 7);  // none of the loop's: nothing happens
  }
};

TEST_F(Pool, ThatLeavesOutTasksIsAnErrorOfTheRun) {
  for (const std::string& file : pooled_files(2)) {
    const PlanHandle plan = loaded(file);
    Careless pool;
    const auto options = pool_options(Careless::parallel_for, &pool);
    Runner runner(plan.get(), &options);
    const std::string expected = runner.outputs(0, 1);
    pool.left_out = 1;
    EXPECT_EQ(code_of(api_.session_run(runner.session())), "session/pool-failed") << file;
    pool.left_out = 0;
    EXPECT_EQ(runner.outputs(0, 1), expected) << file << ": the next run is a new one";
  }
}

TEST_F(Pool, ThatThrowsIsAnErrorOfTheRun) {
  for (const std::string& file : pooled_files(2)) {
    auto plan = capi::Plan::load(file);
    ASSERT_TRUE(plan) << plan.error().message;
    auto session =
        plan->make_session({[](std::size_t, const capi::PoolTask&) { throw std::runtime_error("full"); }, 0});
    ASSERT_TRUE(session) << session.error().message;
    const auto done = session->run();
    ASSERT_FALSE(done) << file;
    EXPECT_EQ(done.error().code, "session/pool-failed");
  }
}

TEST_F(Pool, MayBeAnyFunctionObjectInCpp) {
  auto plan = capi::Plan::load(pooled_files(3).front());
  ASSERT_TRUE(plan) << plan.error().message;
  std::atomic<int> tasks = 0;
  std::optional<capi::Session> moved;
  {
    auto session = plan->make_session({[&tasks](std::size_t count, const capi::PoolTask& task) {
                                         for (std::size_t i = 0; i < count; ++i, ++tasks) task(i);
                                       },
                                       2});
    ASSERT_TRUE(session) << session.error().message;
    moved = *std::move(session);
  }
  ASSERT_TRUE(moved->run());
  EXPECT_GT(tasks, 0);
  EXPECT_EQ(tasks % 2, 0);
}

/// A pool that runs another session inside a task, as pools whose waiting threads take other work do.
struct Nesting {
  collage_session* inner = nullptr;
  std::atomic<int> runs = 0;
  std::atomic<int> failures = 0;
  static void parallel_for(void* pool, std::size_t count, Task task, void* data) {
    auto& nesting = *static_cast<Nesting*>(pool);
    for (std::size_t i = 0; i < count; ++i) {
      if (collage_session* const session = std::exchange(nesting.inner, nullptr)) {
        ++nesting.runs;
        if (collage_status* const status = c_api().session_run(session)) {
          ++nesting.failures;
          c_api().status_free(status);
        }
        nesting.inner = session;
      }
      task(data, i);
    }
  }
};

TEST_F(Pool, MayRunAnotherSessionInsideATask) {
  for (const std::string& file : pooled_files(2)) {
    const PlanHandle plan = loaded(file);
    const std::string expected = Runner(plan.get()).outputs(0, 2);
    Nesting nesting;
    const auto options = pool_options(Nesting::parallel_for, &nesting);
    Runner inner(plan.get(), &options);
    Runner outer(plan.get(), &options);
    const std::string first = inner.outputs(0, 1);
    nesting.inner = inner.session();
    EXPECT_EQ(outer.outputs(0, 2), expected) << file;
    EXPECT_GT(nesting.runs, 0) << file;
    EXPECT_EQ(nesting.failures, 0) << file;
    nesting.inner = nullptr;
    EXPECT_EQ(inner.outputs(0, 1), first) << file;
  }
}

TEST_F(Pool, ServesManySessionsAtOnce) {
  for (const std::string& file : pooled_files(2)) {
    const PlanHandle plan = loaded(file);
    const std::string expected = Runner(plan.get()).outputs(0, 3);
    Record record;
    const auto options = pool_options(on_counted_threads, &record);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&] {
        Runner runner(plan.get(), &options);
        for (int run = 0; run < 10; ++run) wrong += runner.outputs(0, 3) == expected ? 0 : 1;
      });
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, 0) << file;
  }
}

TEST_F(Pool, ServesPlansOfManyShapes) {
  const PlanHandle plan = loaded(rows_file());
  Record record;
  const auto options = pool_options(one_after_the_other, &record);
  Runner runner(plan.get(), &options);
  for (const std::int64_t rows : open_extents_of(plan.get()))
    EXPECT_EQ(runner.outputs(rows, 1), Runner(plan.get()).outputs(rows, 1)) << rows;
}

}  // namespace
}  // namespace collage::test
