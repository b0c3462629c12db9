// Mutants of everything that the product reads, in child processes: none dies, hangs, takes more than 2 GiB, leaves a
// file behind, or is refused without a place. COLLAGE_TEST_SEED names another seed; a mutant that fails is written to
// COLLAGE_MUTANTS, if that is set; COLLAGE_READER_MUTANTS is another number of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>

#include "tests/readers/reader.h"
#include "tests/support/child_tasks.h"
#include "tests/support/long_run.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/scratch_folder.h"

namespace collage::test {
namespace {

using testing::answers_of_children;
using testing::ChildAnswer;

constexpr std::size_t kUsualMutants = 150;
constexpr std::size_t kAllMutants = 20'000;

std::uint64_t number_in_environment(const char* name, std::uint64_t usual) {
  const char* const given = std::getenv(name);
  return given == nullptr ? usual : std::strtoull(given, nullptr, 10);
}

/// Answers cross a pipe as text.
std::string packed(const Answer& answer) {
  return (answer.is_accepted ? "+" : "-") + std::to_string(static_cast<int>(answer.exit)) + ' ' + answer.text;
}
Answer unpacked(const std::string& text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  return {.is_accepted = text.starts_with("+"),
          .exit = static_cast<ExitCode>(std::atoi(text.substr(1, blank).c_str())),
          .text = text.substr(std::min(blank + 1, text.size()))};
}

/// Made in a child: backends that have run something do not survive a fork.
std::vector<std::string> samples_of(const Reader& reader) {
  const auto packed_all = answers_of_children(1, {.seconds = 120}, [&](std::size_t) {
    std::string all;
    for (const std::string& sample : reader.samples()) {
      const std::size_t size = sample.size();
      all.append(reinterpret_cast<const char*>(&size), sizeof size);
      all += sample;
    }
    return all;
  });
  EXPECT_EQ(packed_all[0].end, ChildAnswer::End::kAnswered) << packed_all[0].text;
  std::vector<std::string> samples;
  if (packed_all[0].end != ChildAnswer::End::kAnswered) return samples;
  for (std::string_view rest = packed_all[0].text; rest.size() >= sizeof(std::size_t);) {
    std::size_t size = 0;
    std::memcpy(&size, rest.data(), sizeof size);
    samples.emplace_back(rest.substr(sizeof size, size));
    rest.remove_prefix(sizeof size + size);
  }
  return samples;
}

/// Readers write and sync small files thousands of times: in memory, where there is such a folder.
struct FilesInMemory {
  FilesInMemory() {
    if (std::getenv("TMPDIR") == nullptr && std::filesystem::exists("/dev/shm")) ::setenv("TMPDIR", "/dev/shm", 0);
  }
};

using Mutant = std::function<std::string(std::size_t)>;

class Mutants : public ::testing::TestWithParam<std::string> {
 protected:
  Mutants() {
    reader_ = &*std::ranges::find(readers(), GetParam(), &Reader::name);
    // What readers keep in temporary files is seen, too.
    ::setenv("TMPDIR", folder_.path().c_str(), 1);
    samples_ = samples_of(*reader_);
    std::filesystem::create_directory(folder_.file("work"));
  }
  ~Mutants() override { ::unsetenv("TMPDIR"); }

  [[nodiscard]] std::vector<ChildAnswer> answers(std::size_t count, const Mutant& mutant) const {
    return answers_of_children(count, {},
                               [&](std::size_t i) { return packed(reader_->read(mutant(i), folder_.file("work"))); });
  }

  /// What each sample gives as it is.
  [[nodiscard]] std::vector<std::string> whole_answers() const {
    std::vector<std::string> texts;
    for (const ChildAnswer& answer : answers(samples_.size(), [&](std::size_t i) { return samples_[i]; })) {
      EXPECT_EQ(answer.end, ChildAnswer::End::kAnswered) << answer.text;
      EXPECT_TRUE(unpacked(answer.text).is_accepted) << answer.text;
      texts.push_back(answer.text);
    }
    return texts;
  }

  void report(const std::string& what, std::size_t i, const std::string& mutant, const ChildAnswer& answer) const {
    const std::string name = reader_->name + "-" + std::to_string(i);
    if (const char* const folder = std::getenv("COLLAGE_MUTANTS"); folder != nullptr)
      write_bytes(std::filesystem::path(folder) / name, mutant);
    ADD_FAILURE() << name << ": " << what << ": " << answer.text.substr(0, 600) << " after " << answer.seconds << " s";
  }

  /// `expected`: what an accepted mutant must give; empty: anything.
  void judge(const std::vector<ChildAnswer>& answers, const Mutant& mutant,
             const std::function<std::string(std::size_t)>& expected) const {
    std::map<std::string, std::size_t> counts;
    double slowest = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const ChildAnswer& answer = answers[i];
      slowest = std::max(slowest, answer.seconds);
      if (answer.end != ChildAnswer::End::kAnswered) {
        const bool is_dead = answer.end == ChildAnswer::End::kDied;
        ++counts[is_dead ? "DIED" : "HUNG"];
        report(is_dead ? "died" : "hung", i, mutant(i), answer);
        continue;
      }
      const Answer seen = unpacked(answer.text);
      const bool has_code = seen.text.starts_with("error[");
      ++counts[seen.is_accepted ? "accepted" : has_code ? seen.text.substr(0, seen.text.find(':')) : "refused"];
      if (seen.exit == ExitCode::kBug) report("a bug", i, mutant(i), answer);
      if (seen.is_accepted && !expected(i).empty() && answer.text != expected(i))
        report("accepted with another result", i, mutant(i), answer);
      if (!seen.is_accepted && seen.text.find(reader_->names) == std::string::npos)
        report("does not name " + reader_->names, i, mutant(i), answer);
    }
    std::cout << reader_->name << ": " << answers.size() << " mutants of " << samples_.size() << " samples, slowest "
              << slowest << " s;";
    for (const auto& [what, count] : counts) std::cout << ' ' << what << ' ' << count << ',';
    std::cout << std::endl;  // a campaign may be ended before its end
  }

  void expect_nothing_left() const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      if (entry.path() != folder_.file("work")) ADD_FAILURE() << "left behind: " << entry.path();
    }
  }

  const Reader* reader_ = nullptr;
  FilesInMemory in_memory_;
  ScratchFolder folder_;
  std::vector<std::string> samples_;
};

TEST_P(Mutants, AreRefusedWithAPlaceOrRead) {
  if (samples_.empty()) GTEST_SKIP() << "nothing to change";
  const std::uint64_t seed = number_in_environment("COLLAGE_TEST_SEED", 1);
  const std::size_t count =
      number_in_environment("COLLAGE_READER_MUTANTS", by_length(kUsualMutants, kAllMutants) / reader_->slowness);
  std::cout << reader_->name << ": seed " << seed << std::endl;
  (void)whole_answers();
  const auto mutant = [&](std::size_t i) {
    Dice dice(seed * 1'000'003 + i);
    return reader_->mutate(samples_[i % samples_.size()], samples_[dice.below(samples_.size())], dice);
  };
  judge(answers(count, mutant), mutant, [](std::size_t) { return std::string(); });
  expect_nothing_left();
}

/// Truncations and flipped bits: nothing in them fits a checksum.
TEST_P(Mutants, OfSingleBitsAreRefusedOrGiveTheSame) {
  if (samples_.empty()) GTEST_SKIP() << "nothing to change";
  const std::vector<std::string> whole = whole_answers();
  // The smallest, every bit of it in a long campaign where that is no more than a campaign has.
  const auto smallest =
      static_cast<std::size_t>(std::ranges::min_element(samples_, {}, &std::string::size) - samples_.begin());
  const std::string& sample = samples_[smallest];
  const std::size_t all = broken_count(sample);
  const std::size_t most = number_in_environment("COLLAGE_READER_MUTANTS",
                                                 by_length(kUsualMutants, std::size_t{1'000'000}) / reader_->slowness);
  const std::size_t step = std::max<std::size_t>(1, (all + most - 1) / most);
  const auto mutant = [&](std::size_t i) { return broken_bytes(sample, i * step); };
  judge(answers((all + step - 1) / step, mutant), mutant,
        [&](std::size_t) { return reader_->is_checked ? whole[smallest] : std::string(); });
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Readers, Mutants, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Reader& reader : readers()) names.push_back(reader.name);
                           return names;
                         }()),
                         [](const auto& named) { return named.param; });

}  // namespace
}  // namespace collage::test
