// Damaged files, seeded: whatever the bytes, the program ends by itself and says what is wrong.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>

#include "plan/file/zip.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/support/dice.h"
#include "tests/support/long_run.h"

namespace collage::testing {
namespace {

/// Another one from COLLAGE_TEST_SEED, for longer hunts.
std::uint64_t seed() {
  const char* given = std::getenv("COLLAGE_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20240229;
}

/// Cuts the bytes short, changes some bits, or both.
std::string damaged(const std::string& whole, Dice& dice) {
  std::string bytes = whole;
  if (dice.one_in(3)) bytes.resize(dice.below(bytes.size()));
  const std::size_t flips = bytes.empty() || dice.one_in(4) ? 0 : 1 + dice.below(4);
  for (std::size_t i = 0; i < flips; ++i) {
    // Half of them near an end, where the structure is.
    const std::size_t near = std::min<std::size_t>(bytes.size(), 2000);
    const std::size_t at = dice.one_in(2)   ? dice.below(bytes.size())
                           : dice.one_in(2) ? dice.below(near)
                                            : bytes.size() - 1 - dice.below(near);
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
  }
  return bytes;
}

class DamageTest : public CliTest {
 protected:
  using Damage = std::function<std::string(Dice&)>;

  /// Runs so many damaged files through the commands in turn, two at a time.
  void expect_orderly(int cases, const Damage& damage, const std::string& suffix,
                      const std::vector<std::vector<std::string>>& commands) const {
    std::cout << "seed " << seed() << "\n";
    Dice dice(seed());
    std::map<int, int> ends;
    for (int first = 0; first < cases; first += 2) {
      std::array<std::unique_ptr<Program>, 2> programs;
      for (int k = 0; k < 2; ++k) {
        const std::string path = given(std::to_string(first + k) + suffix, damage(dice));
        std::vector<std::string> command = commands[static_cast<std::size_t>(first / 2) % commands.size()];
        command.insert(command.begin() + 1, path);
        programs[static_cast<std::size_t>(k)] = std::make_unique<Program>(home(), command);
      }
      for (int k = 0; k < 2; ++k) expect_orderly_end(first + k, programs[static_cast<std::size_t>(k)]->wait(), ends);
    }
    EXPECT_GT(ends[3], cases / 8) << "damage is seen";
    EXPECT_THAT(temporaries(), ::testing::IsEmpty());
    for (const auto& [code, count] : ends) std::cout << "exit code " << code << ": " << count << " times\n";
  }

 private:
  static void expect_orderly_end(int number, const Ended& ended, std::map<int, int>& ends) {
    SCOPED_TRACE("seed " + std::to_string(seed()) + ", case " + std::to_string(number));
    ++ends[ended.exit_code];
    EXPECT_FALSE(ended.timed_out);
    EXPECT_EQ(ended.signal, 0) << describe(ended);
    EXPECT_THAT(ended.exit_code, ::testing::AnyOf(0, 1, 2, 3, 4, 5, 6)) << describe(ended);
    if (ended.exit_code > 1) {
      EXPECT_THAT(ended.err, ::testing::ContainsRegex("collage: error\\[.*\\]: .*: saw .*")) << describe(ended);
    }
  }
};

TEST_F(DamageTest, ModelsEndInOrder) {
  const std::string whole = small_network();
  expect_orderly(test::by_length(60, 2000), [&](Dice& dice) { return damaged(whole, dice); }, ".onnx",
                 {{"check"}, {"run"}, {"check", "--json", "-"}});
}

class DamagedPlanTest : public DamageTest {
 protected:
  /// A plan of several backends.
  std::string plan_file() const {
    const std::string model = given("model.onnx", small_network());
    const Ended tuned = tuned_once(model, file("whole.collage"));
    EXPECT_EQ(tuned.exit_code, 0) << describe(tuned);
    return file("whole.collage");
  }

  std::vector<std::vector<std::string>> commands_ = {{"run"}, {"verify"}, {"explain"}, {"run", "--json", "-"}};
};

TEST_F(DamagedPlanTest, EndsInOrder) {
  const std::string whole = read_all(plan_file());
  expect_orderly(
      test::by_length(60, 2000), [&](Dice& dice) { return damaged(whole, dice); }, ".collage", commands_);
}

/// Another number, name or bracket in the text: what checksums do not see when a plan was edited by hand.
std::string edited(const std::string& json, Dice& dice) {
  std::string text = json;
  for (std::size_t edits = 1 + dice.below(2); edits > 0; --edits) {
    std::size_t at = dice.below(text.size());
    const bool wants_digit = !dice.one_in(4);
    while (wants_digit && !std::isdigit(static_cast<unsigned char>(text[at]))) at = (at + 1) % text.size();
    text[at] = wants_digit ? static_cast<char>('0' + dice.below(10)) : text[dice.below(text.size())];
    if (dice.one_in(8)) text.insert(at, "00000000");
  }
  return text;
}

TEST_F(DamagedPlanTest, EndsInOrderWhenItsChecksumsFit) {
  const std::string path = plan_file();
  const Result<Buffer> whole = Buffer::map_file(path);
  ASSERT_TRUE(whole);
  const auto members = read_zip(*whole, path);
  ASSERT_TRUE(members);
  const std::string json(members->front().data.text());
  const auto damage = [&](Dice& dice) {
    const std::string text = edited(json, dice);
    std::vector<ZipSource> sources;
    for (const ZipMember& member : *members)
      sources.push_back({.name = member.name, .parts = {member.data.bytes()}, .alignment = 4096});
    sources.front().parts = {std::as_bytes(std::span(text))};
    const int descriptor = ::open(file("edited").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    EXPECT_TRUE(write_zip(descriptor, sources, "edited"));
    ::close(descriptor);
    return read_all(file("edited"));
  };
  expect_orderly(test::by_length(50, 2000), damage, ".collage", commands_);
}

}  // namespace
}  // namespace collage::testing
