// What the system refuses while a model is tuned costs at most the tune: a clear message, no wrong plan, a sound store.
// COLLAGE_LONG=1 makes every single call fail, in turn; otherwise a few drawn at random.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/dice.h"

namespace collage::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

bool is_long() { return std::getenv("COLLAGE_LONG") != nullptr; }

class FaultsTest : public CliTest {
 protected:
  FaultsTest() : model_(given("model.onnx", small_network())) {}
  ~FaultsTest() override {
    for (const char* name : {"LD_PRELOAD", "COLLAGE_FAULT", "COLLAGE_FAULT_COMMAND", "COLLAGE_FAULT_COUNT"})
      ::unsetenv(name);
  }

  /// `tune` with the store "costs" of the test's folder and this fault in it.
  Ended tune_with(const std::string& fault) {
    ::setenv("LD_PRELOAD", COLLAGE_FAULT_INJECTOR, 1);
    ::setenv("COLLAGE_FAULT", fault.c_str(), 1);
    ::setenv("COLLAGE_FAULT_COMMAND", "tune", 1);
    ::setenv("COLLAGE_FAULT_COUNT", file("count").c_str(), 1);
    const Ended ended = run({"tune", model_, "-o", file("plan.collage"), "--budget", "1s", "--quiet", "--store",
                             file("costs"), "--backends", "onednn"});
    ::unsetenv("LD_PRELOAD");
    return ended;
  }

  long count_of(const std::string& kind) {
    const Ended ended = tune_with(kind + ":0:once");
    EXPECT_EQ(ended.exit_code, 0) << describe(ended);
    long count = 0;
    std::ifstream(file("count")) >> count;
    EXPECT_GT(count, 50);
    return count;
  }

  void forget(const std::string& what) { std::filesystem::remove_all(file(what)); }

  /// A right plan, or a message; both when a plan was written before something else failed.
  void expect_clear_end(const Ended& ended) {
    SCOPED_TRACE(describe(ended));
    EXPECT_EQ(ended.signal, 0);
    if (ended.exit_code == 0) {
      expect_good(run({"verify", file("plan.collage")}));
    } else {
      EXPECT_THAT(ended.exit_code, AnyOf(3, 4, 5, 6));
      EXPECT_THAT(ended.err, HasSubstr("collage: error["));
      if (std::filesystem::exists(file("plan.collage"))) expect_good(run({"verify", file("plan.collage")}));
    }
  }

  /// Whatever was stored is sound. There is no store where not even the first call for it came through.
  void expect_sound_store() {
    std::error_code none;
    const std::uintmax_t bytes = std::filesystem::file_size(file("costs"), none);
    if (!none && bytes > 0) expect_good(run({"db", "verify", "--store", file("costs")}));
  }

  std::string model_;
};

/// The numbers of the calls that fail: all, or `few` at random.
std::vector<long> chosen(long count, std::size_t few, Dice& dice) {
  std::vector<long> calls;
  if (is_long())
    for (long call = 1; call <= count; ++call) calls.push_back(call);
  else
    for (std::size_t i = 0; i < few; ++i)
      calls.push_back(1 + static_cast<long>(dice.below(static_cast<std::size_t>(count))));
  return calls;
}

TEST_F(FaultsTest, FileCallThatFailsInATuneIsAMessageOrDoesNotMatter) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(kSeed);
  Dice dice(kSeed);
  const long count = count_of("io");
  for (const char* how : {"once", "on"})
    for (const long call : chosen(count, 6, dice)) {
      SCOPED_TRACE("io:" + std::to_string(call) + ":" + how);
      for (const char* what : {"plan.collage", "costs", "costs-wal", "costs-shm", "costs.files"}) forget(what);
      expect_clear_end(tune_with("io:" + std::to_string(call) + ":" + how));
      expect_sound_store();
    }
}

TEST_F(FaultsTest, FileCallThatFailsWithAFilledStoreLosesNothingOfIt) {
  constexpr std::uint64_t kSeed = 6;
  SCOPED_TRACE(kSeed);
  Dice dice(kSeed);
  static_cast<void>(count_of("io"));  // fills the store
  const long count = count_of("io");
  const Ended before = run({"db", "stats", "--json", "-", "--store", file("costs")});
  for (const char* how : {"once", "on"})
    for (const long call : chosen(count, 6, dice)) {
      SCOPED_TRACE("io:" + std::to_string(call) + ":" + how);
      forget("plan.collage");
      expect_clear_end(tune_with("io:" + std::to_string(call) + ":" + how));
      expect_sound_store();
      const auto stats = parsed(run({"db", "stats", "--json", "-", "--store", file("costs")}).out);
      EXPECT_GE(stats.at("costs"), parsed(before.out).at("costs"));
    }
}

TEST_F(FaultsTest, AllocationThatFailsInATuneIsAMessageOrDoesNotMatter) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE(kSeed);
  Dice dice(kSeed);
  static_cast<void>(count_of("memory"));
  const long count = count_of("memory");
  const std::size_t trials = is_long() ? 500 : 8;
  for (std::size_t trial = 0; trial < trials; ++trial) {
    const long call = 1 + static_cast<long>(dice.below(static_cast<std::size_t>(count)));
    SCOPED_TRACE("memory:" + std::to_string(call));
    forget("plan.collage");
    expect_clear_end(tune_with("memory:" + std::to_string(call) + ":once"));
    expect_sound_store();
  }
}

}  // namespace
}  // namespace collage::testing
