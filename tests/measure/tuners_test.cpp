// Tuners that share a store, as processes of their own with workers of their own: killed at random moments, or many at
// once. A journal beside the store tells what was measured and acknowledged.
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>
#include <random>
#include <thread>

#include "base/hash.h"
#include "store/keys.h"
#include "tests/measure/pricing_fixture.h"
#include "tests/measure/tuner_journal.h"
#include "tests/measure/tuner_regions.h"
#include "tests/support/dice.h"
#include "tests/support/long_run.h"
#include "tests/support/paths.h"

namespace collage {
namespace {

class Tuners : public ::testing::Test, protected test::PricingLab {
 protected:
  struct Tuner {
    std::string name;
    pid_t pid = -1;
  };

  Tuner start(std::size_t first, std::size_t last, double seconds) {
    Tuner tuner{.name = "t" + std::to_string(++started_)};
    std::vector<std::string> arguments = {test::build_path("/tests/measure_tuner"),
                                          folder.path().string(),
                                          std::to_string(started_ * 7919 + seed_),
                                          std::to_string(first),
                                          std::to_string(last),
                                          std::to_string(seconds)};
    std::vector<std::string> environment = {std::string(test::kJournalVariable) + "=" + journal_,
                                            std::string(test::kTunerVariable) + "=" + tuner.name};
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    EXPECT_EQ(::posix_spawn(&tuner.pid, arguments[0].c_str(), nullptr, nullptr, pointers(arguments).data(),
                            pointers(environment).data()),
              0);
    return tuner;
  }

  void kill(const Tuner& tuner) const {
    test::append_line(journal_, "kill " + tuner.name);
    ::kill(tuner.pid, SIGKILL);
    ::waitpid(tuner.pid, nullptr, 0);
  }

  static void expect_ends_well(const Tuner& tuner) {
    int status = -1;
    ::waitpid(tuner.pid, &status, 0);
    EXPECT_EQ(status, 0) << tuner.name;
  }

  /// The journal's lines since the last call.
  void read_journal() {
    std::ifstream file(journal_);
    file.seekg(read_bytes_);
    for (std::string line; std::getline(file, line) && !file.eof();) {
      reader_.read(line);
      read_bytes_ = file.tellg();
    }
  }

  Clock::time_point time_of_first_cost() {
    while (reader_.acknowledged().empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      read_journal();
    }
    return Clock::now();
  }

  /// Everything in the store, by the names of the journal.
  std::map<std::string, std::int64_t> stored() const {
    std::map<std::string, std::string> regions;
    for (const auto& nodes : test::tuner_regions())
      regions[hash_hex(structure_key(graph, test::region_of(graph, nodes)))] =
          test::name_of_candidate({nodes.begin(), nodes.end()}, "");
    Store shared = std::move(*Store::open(folder.file("costs.sqlite")));
    EXPECT_TRUE(shared.warnings().empty());
    EXPECT_EQ(shared.damaged_count(), 0U);
    std::map<std::string, std::int64_t> found;
    for (const auto& [key, cost] : shared.costs_like("")) {
      std::map<std::string, std::string> fields;
      for (const auto& [name, value] : fields_of(key)) fields[name] = value;
      const auto* measured = std::get_if<Measured>(&cost);
      EXPECT_TRUE(measured != nullptr && regions.contains(fields["region"])) << key;
      if (measured != nullptr) found[regions[fields["region"]] + fields["backend"]] = measured->median_ns;
    }
    return found;
  }

  /// All that was acknowledged is stored; what is stored is acknowledged from here on.
  void compare_with_store() {
    read_journal();
    const auto found = stored();
    for (const auto& [what, ns] : reader_.acknowledged()) {
      const auto at = found.find(what);
      ASSERT_NE(at, found.end()) << what << " is lost";
      ASSERT_EQ(at->second, ns) << what;
    }
    for (const auto& [what, ns] : found) reader_.acknowledge(what, ns);
    ASSERT_TRUE(reader_.faults().empty())
        << reader_.faults().front() << " and " << reader_.faults().size() - 1 << " more";
  }

  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  std::uint64_t seed_ = std::random_device()();
  std::size_t started_ = 0;
  std::string journal_ = folder.file("journal");
  std::streamoff read_bytes_ = 0;
  test::JournalReader reader_;
};

TEST_F(Tuners, KilledAtAnyMomentLoseNothingAndMeasureNothingTwice) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  constexpr double kLonger = 1e6;
  const int kills = test::by_length(20, 500);
  Dice dice(seed_);
  std::size_t newest = 20;
  const auto begin = Clock::now();
  std::vector<Tuner> pair = {start(0, newest, kLonger), start(0, newest, kLonger)};
  // From before the first measurement to well after it, however slow the machine is.
  const auto latest = 3 * (time_of_first_cost() - begin);
  for (int killed = 0; killed < kills;) {
    std::this_thread::sleep_for(latest * dice.below(1000) / 1000);
    // Both at once: whoever comes next finds a store that nobody had the time to close.
    const std::size_t victims = dice.one_in(4) ? 2 : 1;
    const std::size_t first = dice.below(2);
    for (std::size_t i = 0; i < victims; ++i, ++killed) kill(pair[(first + i) % 2]);
    compare_with_store();
    if (HasFatalFailure()) break;
    newest += victims;
    for (std::size_t i = 0; i < victims; ++i) pair[(first + i) % 2] = start(0, newest, kLonger);
  }
  for (const Tuner& tuner : pair) kill(tuner);
  const Tuner last = start(0, newest, 0.5);
  expect_ends_well(last);
  compare_with_store();
  EXPECT_GT(reader_.acknowledged().size(), static_cast<std::size_t>(kills));
  RecordProperty("measured", std::to_string(reader_.begun()));
  std::printf("%zu measurements begun, %zu stored\n", reader_.begun(), reader_.acknowledged().size());
}

TEST_F(Tuners, EightAtOnceShareTheWork) {
  SCOPED_TRACE("seed " + std::to_string(seed_));
  const double seconds = test::by_length(2.0, 120.0);
  const std::size_t builds = test::by_length<std::size_t>(20, 2000);
  std::vector<Tuner> tuners;
  for (int i = 0; i < 8; ++i) tuners.push_back(start(0, builds, seconds));
  for (const Tuner& tuner : tuners) expect_ends_well(tuner);
  compare_with_store();
  EXPECT_EQ(reader_.acknowledged().size(), reader_.begun()) << "what was begun is there, and was begun once";
  EXPECT_GT(reader_.begun(), 8U);
  std::printf("%zu measured\n", reader_.begun());
}

}  // namespace
}  // namespace collage
