// What programs do around a run: fork, signals, small stacks, locales, floating-point modes, processor sets, plan files
// that change on disk.
#include <dlfcn.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <clocale>
#include <filesystem>
#include <fstream>
#include <locale>
#include <set>
#include <thread>

#include "tests/api/c/plan_files.h"
#include "tests/support/long_run.h"

namespace collage::test {
namespace {

/// Bytes of stack that docs/C_API.md asks for.
constexpr std::size_t kStack = std::size_t{256} << 10;

class Surroundings : public CApi {
 protected:
  /// Calls check(file, plan, expected output) for every plan there is.
  template <class Check>
  void for_each_plan(const Check& check) {
    for (const PlanFile& file : plan_files()) {
      const PlanHandle plan = loaded(file.path);
      const std::string expected = output_of_plan(plan.get());
      ASSERT_FALSE(expected.empty()) << file.name;
      check(file, plan.get(), expected);
    }
  }
  static std::string output_of_plan(const collage_plan* plan) {
    return Runner(plan).outputs(open_extents_of(plan)[0], 1);
  }
};

/// Runs `work` in a child process, which it ends after ten seconds; whether it gave true. The thread sanitiser follows
/// no child of a process with several threads: true then.
template <class Work>
bool in_child(const Work& work) {
#if defined(__SANITIZE_THREAD__)
  return true;
#endif
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// On a thread of its own, with this much stack; as much as there usually is for 0.
template <class Work>
void on_thread(const Work& work, std::size_t stack_bytes = 0) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes > 0) {
    ASSERT_EQ(pthread_attr_setstacksize(&attributes, stack_bytes), 0);
  }
  pthread_t thread{};
  const auto start = [](void* data) -> void* {
    (*static_cast<const Work*>(data))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, const_cast<Work*>(&work)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST_F(Surroundings, ChildrenRunAPlanThatWasLoadedBeforeTheFork) {
  for (const PlanFile& file : plan_files()) {
    if (file.name == "onednn2") continue;  // oneDNN shares out work among threads when it loads
    std::string expected;
    on_thread([&] { expected = output_of_plan(loaded(file.path).get()); });
    // On a thread that has run nothing yet: what forks must have started no threads for its loops.
    on_thread([&] {
      const PlanHandle plan = loaded(file.path);
      for (int child = 0; child < 3; ++child)
        EXPECT_TRUE(in_child([&] { return output_of_plan(plan.get()) == expected; })) << file.name;
    });
  }
}

TEST_F(Surroundings, ChildrenOfAThreadThatRanUseAThreadOfTheirOwn) {
  for_each_plan([](const PlanFile& file, const collage_plan* plan, const std::string& expected) {
    EXPECT_TRUE(in_child([&] {
      std::string seen;
      std::thread([&] { seen = output_of_plan(plan); }).join();
      return seen == expected;
    })) << file.name;
  });
}

/// Whether oneDNN computes steps of the plan.
bool has_onednn(const PlanFile& file) { return file.name.starts_with("onednn"); }

/// SIGALRM every 200 us for as long as it lives. The handler runs on the stack of the thread that it interrupts, and
/// system calls end with EINTR.
class SignalStorm {
 public:
  SignalStorm() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++count; };
    ::sigaction(SIGALRM, &action, &before_);
    const itimerval often{.it_interval = {.tv_sec = 0, .tv_usec = 200}, .it_value = {.tv_sec = 0, .tv_usec = 200}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~SignalStorm() {
    const itimerval none{};
    ::setitimer(ITIMER_REAL, &none, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  SignalStorm(const SignalStorm&) = delete;
  SignalStorm& operator=(const SignalStorm&) = delete;

  static inline std::atomic<int> count = 0;

 private:
  struct sigaction before_ {};
};

TEST_F(Surroundings, SignalsDuringRunsChangeNothing) {
  const auto runs = by_length(30, 3000);
  for_each_plan([&](const PlanFile& file, const collage_plan*, const std::string& expected) {
    if (has_onednn(file)) return;  // docs/C_API.md, signals
    const SignalStorm storm;
    for (int run = 0; run < runs; ++run) {
      const PlanHandle again = loaded(file.path);
      EXPECT_EQ(output_of_plan(again.get()), expected) << file.name;
    }
  });
  EXPECT_GT(SignalStorm::count, 0);
}

TEST_F(Surroundings, SignalsThatTheThreadsOfARunBlockChangeNothing) {
  const auto runs = by_length(30, 3000);
  for_each_plan([&](const PlanFile& file, const collage_plan*, const std::string& expected) {
    sigset_t alarm;
    sigset_t before;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, &before);  // threads inherit it
    std::thread caller([&] {
      for (int run = 0; run < runs; ++run) EXPECT_EQ(output_of_plan(loaded(file.path).get()), expected) << file.name;
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    const SignalStorm storm;
    caller.join();
  });
}

TEST_F(Surroundings, ThreadsWithSmallStacksRunPlans) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitisers take more stack";
#endif
  for_each_plan([](const PlanFile& file, const collage_plan* plan, const std::string& expected) {
    const std::int64_t extent = open_extents_of(plan)[0];
    std::string seen;
    std::string of_known;
    Runner known(plan);
    EXPECT_EQ(known.outputs(extent, 1), expected);
    on_thread(
        [&] {
          seen = output_of_plan(plan);
          of_known = known.outputs(extent, 1);
        },
        kStack);
    EXPECT_EQ(seen, expected) << file.name;
    EXPECT_EQ(of_known, expected) << file.name;
  });
}

/// Numbers as some languages write them: 1.234,5.
struct CommaNumbers : std::numpunct<char> {
  [[nodiscard]] char do_decimal_point() const override { return ','; }
  [[nodiscard]] char do_thousands_sep() const override { return '.'; }
  [[nodiscard]] std::string do_grouping() const override { return "\1"; }
};

TEST_F(Surroundings, LocalesChangeNothing) {
  std::vector<std::string> metadata;
  for_each_plan([&](const PlanFile&, const collage_plan* plan, const std::string&) {
    const char* text = nullptr;
    ASSERT_TRUE(is_good(api_.plan_metadata(plan, &text)));
    metadata.emplace_back(text);
  });
  for_each_plan([&](const PlanFile& file, const collage_plan*, const std::string& expected) {
    const std::locale usual = std::locale::global(std::locale(std::locale(), new CommaNumbers));
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) std::setlocale(LC_ALL, name);
    const PlanHandle plan = loaded(file.path);
    EXPECT_EQ(output_of_plan(plan.get()), expected) << file.name;
    const char* text = nullptr;
    EXPECT_TRUE(is_good(api_.plan_metadata(plan.get(), &text)));
    EXPECT_THAT(metadata, testing::Contains(text));
    std::setlocale(LC_ALL, "C");
    std::locale::global(usual);
  });
}

/// y = x / 2 in f32 for numbers so small that halves of them are denormal.
RealisedPlan halving_plan(int threads) {
  Graph graph;
  graph.opsets = {{"", 26}};
  const Extents extents = {512, 512};
  const ValueId x = add_input(graph, "x", extents);
  const ValueId half = add_constant(graph, "half", make_tensor<float>(ElementType::kFloat32, {1}, {0.5F}));
  graph.outputs = {add_op(graph, "Mul", {x, half}, extents)};
  RealisedPlan plan = all_plain(graph);
  plan.plan.threads = threads;
  return plan;
}

/// All that a program may set: flush to zero, denormals are zero, rounding upwards, exceptions that end it.
constexpr unsigned kOddMode = 0x8000U | 0x0040U | 0x4000U;

TEST_F(Surroundings, FloatingPointModesChangeNoNumbersAndStayAsTheyAre) {
  for_each_plan([](const PlanFile& file, const collage_plan* plan, const std::string& expected) {
    Runner known(plan);
    const std::int64_t extent = open_extents_of(plan)[0];
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & 0x1f80U) | kOddMode);
    const unsigned odd = _mm_getcsr();
    collage_status* const status = c_api().session_run(known.session());
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(code_of(status), extent == 0 ? "" : "session/no-shape") << file.name;
    EXPECT_EQ(after, odd) << file.name;
    EXPECT_EQ(known.outputs(extent, 1), expected);
  });
}

TEST_F(Surroundings, DenormalNumbersAreKeptOnEveryThread) {
  for (const int threads : {1, 2}) {
    const PlanHandle plan = loaded(saved(single_case(halving_plan(threads)), "halving.collage"));
    collage_session* made = nullptr;
    ASSERT_TRUE(is_good(api_.session_create(plan.get(), nullptr, &made)));
    const SessionHandle session(made);
    const std::vector<float> small(std::size_t{512} * 512, 1.5e-38F);
    ASSERT_TRUE(is_good(api_.session_copy_input(made, 0, small.data(), small.size() * sizeof(float))));
    const unsigned before = _mm_getcsr();
    _mm_setcsr(before | kOddMode);
    collage_status* const status = api_.session_run(made);
    _mm_setcsr(before);
    ASSERT_TRUE(is_good(status));
    for (const float value : output_of(session, 0)) ASSERT_EQ(value, 1.5e-38F / 2);
  }
}

TEST_F(Surroundings, ProgramsThatTrapFloatingPointErrorsRunPlans) {
  for_each_plan([](const PlanFile& file, const collage_plan* plan, const std::string& expected) {
    EXPECT_TRUE(in_child([&] {
      bool is_right = false;
      std::thread([&] {
        Runner runner(plan);
        is_right = runner.outputs(open_extents_of(plan)[0], 1) == expected;
        ::feenableexcept(FE_ALL_EXCEPT);
        is_right = c_api().session_run(runner.session()) == nullptr && is_right;
        ::fedisableexcept(FE_ALL_EXCEPT);
      }).join();
      return is_right;
    })) << file.name;
  });
}

/// OpenMP of this process: the library that the backends use, if one has brought it.
struct OpenMp {
  OpenMp() : handle(::dlopen("libgomp.so.1", RTLD_NOW | RTLD_NOLOAD)) {}
  ~OpenMp() {
    if (handle != nullptr) ::dlclose(handle);
  }
  [[nodiscard]] int threads() const { return reinterpret_cast<int (*)()>(::dlsym(handle, "omp_get_max_threads"))(); }
  void set_threads(int count) const { reinterpret_cast<void (*)(int)>(::dlsym(handle, "omp_set_num_threads"))(count); }
  void* handle;
};

TEST_F(Surroundings, ThreadsOfTheProgramsOwnOpenMpLoopsStayAsManyAsTheyWere) {
  for_each_plan([](const PlanFile& file, const collage_plan* plan, const std::string& expected) {
    const OpenMp openmp;
    if (openmp.handle == nullptr) GTEST_SKIP() << "no libgomp";
    on_thread([&] {
      openmp.set_threads(3);
      const PlanHandle again = loaded(file.path);
      EXPECT_EQ(openmp.threads(), 3) << file.name << ", loaded";
      EXPECT_EQ(output_of_plan(plan), expected);
      EXPECT_EQ(openmp.threads(), 3) << file.name << ", run";
    });
  });
}

/// The processors that the threads of this process may use, but for the first thread: a text for each thread.
std::multiset<std::string> allowed_processors() {
  std::multiset<std::string> lists;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (entry.path().filename() == std::to_string(::getpid())) continue;
    std::ifstream status(entry.path() / "status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("Cpus_allowed_list:")) lists.insert(line.substr(line.find('\t') + 1));
  }
  return lists;
}

TEST_F(Surroundings, ThreadsThatARunStartsStayOnTheProcessorsOfTheirCaller) {
  const std::string path = saved(single_case(wide_plan(2)), "two.collage");
  EXPECT_TRUE(in_child([&] {
    bool is_right = false;
    std::thread([&] {
      const int processor = ::sched_getcpu();
      cpu_set_t only;
      CPU_ZERO(&only);
      CPU_SET(processor, &only);
      ::sched_setaffinity(0, sizeof only, &only);
      output_of_plan(loaded(path).get());
      const auto lists = allowed_processors();
      is_right = lists.size() == 2 && lists.count(std::to_string(processor)) == 2;
    }).join();
    return is_right;
  }));
}

TEST_F(Surroundings, APlanFileMayBeReplacedOrRemovedWhileItIsUsed) {
  for_each_plan([&](const PlanFile& file, const collage_plan*, const std::string& expected) {
    const std::string path = folder_.file("used.collage");
    std::filesystem::copy_file(file.path, path);
    const PlanHandle plan = loaded(path);
    std::ofstream(path + ".new") << "another plan";
    std::filesystem::rename(path + ".new", path);
    EXPECT_EQ(output_of_plan(plan.get()), expected) << file.name;
    std::filesystem::remove(path);
    EXPECT_EQ(output_of_plan(plan.get()), expected) << file.name;
  });
}

TEST_F(Surroundings, AFileThatIsCopiedMayBeCutWhileItsPlanIsUsed) {
  for_each_plan([&](const PlanFile& file, const collage_plan*, const std::string& expected) {
    const std::string path = folder_.file("cut.collage");
    std::filesystem::copy_file(file.path, path);
    collage_plan_options options{};
    options.size = sizeof options;
    options.copy_file = 1;
    collage_plan* made = nullptr;
    ASSERT_TRUE(is_good(api_.plan_load_file(path.c_str(), &options, &made)));
    const PlanHandle plan(made);
    std::filesystem::resize_file(path, 0);
    EXPECT_EQ(output_of_plan(plan.get()), expected) << file.name;
    collage_plan* none = nullptr;
    EXPECT_EQ(code_of(api_.plan_load_file(path.c_str(), &options, &none)), "zip/damaged");
    EXPECT_EQ(code_of(api_.plan_load_file(folder_.path().c_str(), &options, &none)), "io/cannot-read");
    std::filesystem::remove(path);
  });
}

}  // namespace
}  // namespace collage::test
