// A plan is replaced while requests come in: none is lost, and a bad file changes nothing.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "tests/serve/serve_fixture.h"

namespace collage::test {
namespace {

using namespace std::chrono_literals;

class ReloadTest : public ServeTest {};

TEST_F(ReloadTest, LosesNoRequest) {
  start();
  std::atomic<bool> is_over{false};
  std::atomic<int> answered{0};
  std::atomic<int> lost{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c)
    clients.emplace_back([&] {
      while (!is_over) ++(post(kInfer, infer_text({1, 2, 3, 4})).status == 200 ? answered : lost);
    });
  for (int i = 0; i < 10; ++i) {
    write_plan({2, 8}, true);
    if (i % 2 == 0)
      EXPECT_EQ(post("/v2/repository/models/rows/load", "{}").status, 200);
    else
      EXPECT_TRUE(service().reload().empty());
  }
  is_over = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(answered, 0);
  EXPECT_EQ(host().metrics().reloads.load(), 10U);
}

TEST_F(ReloadTest, FinishesRequestsOfTheOldPlanWithTheOldPlan) {
  start({.sessions = 1, .joins = false, .backend_places = {}});
  close_gate();
  Reply reply;
  std::thread client([&] { reply = post(kInfer, infer_text({1, 2, 3, 4})); });
  await_held();
  const std::shared_ptr<Model> old = host().current();
  std::thread load([&] { EXPECT_TRUE(service().reload().empty()); });
  while (host().current() == old) std::this_thread::sleep_for(1ms);
  open_gate();
  client.join();
  load.join();
  EXPECT_EQ(reply.status, 200);
}

TEST_F(ReloadTest, ABrokenFileLeavesThePlanBefore) {
  start();
  std::ofstream(plan_path() + ".new") << "no plan";
  std::filesystem::rename(plan_path() + ".new", plan_path());
  const Reply reply = post("/v2/repository/models/rows/load", "{}");
  EXPECT_EQ(reply.status, 500) << "the request was right";
  EXPECT_NE(reply.code(), "");
  EXPECT_EQ(service().reload().size(), 1U);
  EXPECT_NE(post("/v2/repository/index", "").json()[0]["reason"], "");
  expect_alive();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need much of the address space
/// While it lives, the process may map only a little more: there is no stack for another thread.
struct NarrowMemory {
  NarrowMemory() {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    ::getrlimit(RLIMIT_AS, &before);
    rlimit narrow = before;
    narrow.rlim_cur = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (std::size_t{4} << 20U);
    EXPECT_EQ(::setrlimit(RLIMIT_AS, &narrow), 0);
  }
  ~NarrowMemory() { ::setrlimit(RLIMIT_AS, &before); }
  rlimit before{};
};

TEST_F(ReloadTest, APlanWithoutThreadsForItsSessionsLeavesThePlanBefore) {
  start({.sessions = 64, .joins = false, .backend_places = {}});
  std::vector<Error> errors;
  {
    const NarrowMemory narrow;
    errors = service().reload();
  }
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.front().code, "serve/exception") << to_string(errors.front());
  EXPECT_EQ(host().reason(), to_string(errors.front()));
  expect_alive();
}
#endif

TEST_F(ReloadTest, ServesTheShapesOfTheNewPlan) {
  write_plan({2}, false);
  start();
  EXPECT_EQ(post(kInfer, infer_text({1, 2, 3, 4})).code(), "shape/no-case");
  write_plan({1, 2}, false);
  EXPECT_EQ(post("/v2/repository/models/rows/load", "{}").status, 200);
  expect_alive();
}

}  // namespace
}  // namespace collage::test
