#include "worker/worker_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>
#include <thread>

#include "tests/measure/measure_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

Allowance limit(std::chrono::milliseconds time) {
  return [time](const std::optional<JobProgress>&) { return time; };
}

/// How long tests wait for a worker that is expected to answer; sanitisers are slow.
const Allowance kPatience = limit(60s);

Json dying(const std::string& how, int candidate = 0) {
  return {{"type", "die"}, {"how", how}, {"candidate", candidate}};
}

Json pid_job() { return {{"type", "pid"}}; }

class Worker : public ::testing::Test {
 protected:
  /// A fresh worker serves after whatever happened before.
  void expect_works() {
    const auto answer = worker.call({{"type", "echo"}, {"value", {1, "two"}}}, kPatience);
    ASSERT_TRUE(answer) << answer.error().refusal.detail;
    ASSERT_TRUE(*answer) << to_string(answer->error());
    EXPECT_EQ(**answer, Json({1, "two"}));
  }

  Death expect_death(const Json& job, const Allowance& allowance = kPatience) {
    const auto answer = worker.call(job, allowance);
    EXPECT_FALSE(answer);
    EXPECT_FALSE(worker.is_running());
    return answer ? Death{} : answer.error();
  }

  WorkerProcess worker{test::worker_command()};
};

TEST_F(Worker, AnswersJobsInOneProcess) {
  EXPECT_FALSE(worker.is_running());
  expect_works();
  const pid_t pid = worker.pid();
  EXPECT_EQ(**worker.call(pid_job(), kPatience), Json(pid));
  expect_works();
  EXPECT_EQ(worker.pid(), pid);
}

TEST_F(Worker, ErrorsAndExceptionsOfHandlersAreErrors) {
  const auto failed = worker.call({{"type", "fail"}}, kPatience);
  ASSERT_TRUE(failed);
  EXPECT_EQ(
      failed->error(),
      (Error{.code = "test/failure", .where = "here", .saw = "this", .allowed = "that", .exit = ExitCode::kLimit}));
  EXPECT_EQ((*worker.call(dying("throw"), kPatience)).error().code, "worker/exception");
  EXPECT_EQ((*worker.call({{"type", "nonsense"}}, kPatience)).error().code, "worker/unknown-job");
  EXPECT_EQ((*worker.call({{"no", "type"}}, kPatience)).error().code, "measure/malformed-json");
  expect_works();
}

TEST_F(Worker, CrashNamesTheSignalAndTheCandidate) {
  const Death death = expect_death(dying("abort", 4));
  EXPECT_EQ(death.refusal.reason, RefusalReason::kCrashed);
  EXPECT_NE(death.refusal.detail.find("SIGABRT"), std::string::npos) << death.refusal.detail;
  EXPECT_EQ(death.stage, "die");
  EXPECT_EQ(death.candidate, 4);
  expect_works();
}

TEST_F(Worker, SilentExitIsACrash) {
  const Death death = expect_death(dying("exit", -1));
  EXPECT_EQ(death.refusal.reason, RefusalReason::kCrashed);
  EXPECT_NE(death.refusal.detail.find("status 3"), std::string::npos) << death.refusal.detail;
  EXPECT_EQ(death.candidate, std::nullopt);
  expect_works();
}

TEST_F(Worker, HangEndsAtTheDeadline) {
  expect_works();
  const auto begin = Clock::now();
  const Death death = expect_death(dying("hang", 2), limit(300ms));
  EXPECT_EQ(death.refusal.reason, RefusalReason::kTimeout);
  EXPECT_EQ(death.candidate, 2);
  EXPECT_LT(Clock::now() - begin, 5s);
  expect_works();
}

TEST_F(Worker, BrokenProtocolIsACrash) {
  EXPECT_EQ(expect_death(dying("garbage")).refusal.reason, RefusalReason::kCrashed);
  // Bytes that look like the beginning of a frame and then an answer that does not fit.
  EXPECT_EQ(expect_death(dying("half")).refusal.reason, RefusalReason::kCrashed);
  expect_works();
}

TEST_F(Worker, EverySignOfLifeStartsTheClockAnew) {
  expect_works();
  const auto answer = worker.call({{"type", "steps"}}, limit(250ms));
  ASSERT_TRUE(answer) << answer.error().refusal.detail;
  EXPECT_EQ(**answer, Json("done"));
}

TEST_F(Worker, StopRequestEndsTheJobAtOnce) {
  expect_works();
  std::stop_source source;
  std::jthread stopper([&] {
    std::this_thread::sleep_for(150ms);
    source.request_stop();
  });
  const auto begin = Clock::now();
  const auto answer = worker.call(dying("hang"), kPatience, source.get_token());
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().stopped);
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST_F(Worker, StopRequestIsSeenThoughTheWorkerReportsOften) {
  expect_works();
  std::stop_source source;
  source.request_stop();
  const auto answer = worker.call({{"type", "steps"}}, kPatience, source.get_token());
  ASSERT_FALSE(answer);
  EXPECT_TRUE(answer.error().stopped);
}

TEST_F(Worker, WorkerKilledBetweenJobsIsNoticed) {
  expect_works();
  ::kill(worker.pid(), SIGKILL);
  const Death death = expect_death(pid_job());
  EXPECT_EQ(death.refusal.reason, RefusalReason::kResources);
  EXPECT_EQ(death.candidate, std::nullopt);
  expect_works();
}

/// Live processes of a process group.
int group_size(pid_t group) {
  int count = 0;
  DIR* proc = ::opendir("/proc");
  for (const dirent* entry = ::readdir(proc); entry != nullptr; entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0 || ::getpgid(pid) != group) continue;
    std::ifstream stat("/proc/" + std::string(entry->d_name) + "/stat");
    const std::string text{std::istreambuf_iterator<char>(stat), {}};
    const std::size_t end = text.rfind(')');
    if (end != std::string::npos && text.substr(end + 2, 1) != "Z") ++count;
  }
  ::closedir(proc);
  return count;
}

TEST_F(Worker, ChildrenOfAWorkerDieWithIt) {
  expect_works();
  const pid_t group = worker.pid();
  EXPECT_EQ(expect_death(dying("child"), limit(500ms)).refusal.reason, RefusalReason::kTimeout);
  for (int tries = 0; tries < 100 && group_size(group) > 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(group_size(group), 0);
}

/// Live processes in whose environment `text` is.
int count_with_environment(const std::string& text) {
  int count = 0;
  DIR* proc = ::opendir("/proc");
  for (const dirent* entry = ::readdir(proc); entry != nullptr; entry = ::readdir(proc)) {
    std::ifstream file("/proc/" + std::string(entry->d_name) + "/environ");
    const std::string environment{std::istreambuf_iterator<char>(file), {}};
    count += environment.find(text) != std::string::npos && std::atoi(entry->d_name) != ::getpid() ? 1 : 0;
  }
  ::closedir(proc);
  return count;
}

TEST_F(Worker, ChildrenThatLeftItsSessionDieWithItToo) {
  const std::string variable = "COLLAGE_TEST_ESCAPE=" + std::to_string(::getpid());
  ::setenv("COLLAGE_TEST_ESCAPE", std::to_string(::getpid()).c_str(), 1);
  expect_works();
  EXPECT_EQ(count_with_environment(variable), 1);
  EXPECT_EQ(expect_death(dying("escape"), limit(500ms)).refusal.reason, RefusalReason::kTimeout);
  for (int tries = 0; tries < 100 && count_with_environment(variable) > 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(count_with_environment(variable), 0);
  ::unsetenv("COLLAGE_TEST_ESCAPE");
}

TEST(WorkerLimitsOn, MemoryEndTheWorkerThatTakesMore) {
  constexpr std::int64_t kCap = std::int64_t{512} << 20;
  WorkerProcess worker(test::worker_command(), {.memory_bytes = kCap});
  const auto answer = worker.call(dying("hog", 3), kPatience);
  ASSERT_FALSE(answer) << "8 GiB were had under a cap of 512 MiB";
  EXPECT_EQ(answer.error().refusal.reason, RefusalReason::kResources);
  EXPECT_NE(answer.error().refusal.detail.find("512 allowed"), std::string::npos) << answer.error().refusal.detail;
  EXPECT_EQ(answer.error().candidate, 3);
  EXPECT_FALSE(worker.is_running());
  EXPECT_TRUE(worker.call(pid_job(), kPatience));
}

TEST_F(Worker, HasNoNetwork) {
  const auto errors = worker.call({{"type", "sockets"}}, kPatience);
  ASSERT_TRUE(errors && *errors);
  EXPECT_EQ(**errors, Json({EACCES, EACCES, 0}));
}

TEST(WorkerLimitsOn, FilesAndTimeHoldInTheWorker) {
  WorkerProcess worker(test::worker_command(), {.file_bytes = 1 << 20, .descriptors = 99, .cpu_seconds = 1234});
  const auto told = worker.call({{"type", "limits"}}, kPatience);
  ASSERT_TRUE(told && *told);
  EXPECT_EQ(**told, Json({{"core", 0}, {"file", 1 << 20}, {"descriptors", 99}, {"cpu", 1234}}));
}

TEST_F(Worker, EndlessMessagesTakeNoMemory) {
  const Death death = expect_death(dying("chatter"), limit(1s));
  EXPECT_EQ(death.refusal.reason, RefusalReason::kTimeout);
  EXPECT_LT(death.refusal.detail.size(), 1000U);
}

TEST_F(Worker, WorkerDiesWithItsSupervisor) {
  int report[2];
  ASSERT_EQ(::pipe2(report, O_CLOEXEC), 0);
  const pid_t supervisor = ::fork();
  if (supervisor == 0) {
    WorkerProcess mine(test::worker_command());
    const auto answer = mine.call(pid_job(), kPatience);
    const pid_t pid = answer && *answer ? (*answer)->get<pid_t>() : -1;
    (void)!::write(report[1], &pid, sizeof pid);
    (void)mine.call(dying("hang"), kPatience);
    ::_exit(0);
  }
  pid_t pid = -1;
  ASSERT_EQ(::read(report[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ::close(report[0]);
  ::close(report[1]);
  ASSERT_GT(pid, 0);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(group_size(pid), 1);
  ::kill(supervisor, SIGKILL);
  ::waitpid(supervisor, nullptr, 0);
  for (int tries = 0; tries < 300 && group_size(pid) > 0; ++tries) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(group_size(pid), 0);
}

TEST_F(Worker, LeavesNoDescriptorsBehind) {
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    expect_works();
    expect_death(dying("abort"));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(WorkerProcess, ProgramThatIsNotThereIsAnError) {
  WorkerProcess worker({"/nonexistent/program"});
  const auto answer = worker.call(pid_job(), kPatience);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code, "worker/cannot-start");
}

TEST(WorkerProcess, ProgramThatIsNoWorkerIsACrash) {
  WorkerProcess worker({"/bin/false"});
  const auto answer = worker.call(pid_job(), kPatience);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().refusal.reason, RefusalReason::kCrashed);
}

}  // namespace
}  // namespace collage
