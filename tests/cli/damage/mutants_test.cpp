// Commands on mutants of what they read: every one ends in time with an exit code of docs/CLI.md, and errors name the
// file. tests/readers reads many more of them without starting a process for each.
#include <cstdlib>
#include <iostream>

#include "onnx/files/tensor_file.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/readers/plan_archive.h"
#include "tests/support/long_run.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_json.h"
#include "tests/support/mutate/mutate_text.h"

namespace collage::testing {
namespace {

using test::by_length;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Command = std::vector<std::string>;
using Mutate = std::function<std::string(const std::string&, Dice&)>;

class MutantsTest : public CliTest {
 protected:
  MutantsTest()
      : model_(given("model.onnx", small_network())), plan_(file("model.collage")), store_(file("costs.sqlite")) {
    expect_good(run({"tune", model_, "-o", plan_, "--budget", "1s", "--quiet", "--only", "onednn", "--store", store_}));
  }

  /// `changed` is the file that all commands read.
  void try_all(const std::string& changed, const Mutate& mutate, const std::vector<Command>& commands,
               std::size_t count) const {
    const std::string whole = read_all(changed);
    const char* const given_seed = std::getenv("COLLAGE_TEST_SEED");
    const std::uint64_t seed = given_seed == nullptr ? 1 : std::strtoull(given_seed, nullptr, 10);
    std::map<int, std::size_t> codes;
    for (std::size_t i = 0; i < count; ++i) {
      Dice dice(seed * 1'000'003 + i);
      const std::string mutant = mutate(whole, dice);
      for (const Command& command : commands) {
        (void)given(std::filesystem::path(changed).filename(), mutant);
        SCOPED_TRACE(command.front() + ", mutant " + std::to_string(i) + " of seed " + std::to_string(seed));
        Program program(home(), command);
        const Ended ended = program.wait(std::chrono::seconds(20));
        ++codes[ended.exit_code];
        expect_documented(ended, std::filesystem::path(changed).filename());
      }
    }
    (void)given(std::filesystem::path(changed).filename(), whole);
    EXPECT_THAT(temporaries(), IsEmpty());
    std::cout << count << " mutants, " << commands.size() << " commands each;";
    for (const auto& [code, times] : codes) std::cout << " exit " << code << ": " << times << ",";
    std::cout << std::endl;
  }

  static void expect_documented(const Ended& ended, const std::string& about) {
    EXPECT_TRUE(ended.exit_code >= 0 && ended.exit_code <= 6) << describe(ended);
    if (ended.exit_code < 2) return;
    EXPECT_THAT(ended.err, HasSubstr("collage: error[")) << describe(ended);
    EXPECT_THAT(ended.err, HasSubstr(about)) << describe(ended);
  }

  std::string model_;
  std::string plan_;
  std::string store_;
};

TEST_F(MutantsTest, OfPlansEndCommandsAsDocumented) {
  const std::string whole = given("whole.collage", read_all(plan_));
  const Mutate mutate = [&](const std::string& bytes, Dice& dice) {
    return dice.one_in(3) ? test::mutated_artifact(bytes, dice) : test::mutated_plan(bytes, bytes, dice);
  };
  try_all(plan_, mutate,
          {{"run", plan_}, {"explain", plan_}, {"explain", plan_, "--html", file("page.html")}, {"diff", whole, plan_}},
          by_length<std::size_t>(3, 500));
}

TEST_F(MutantsTest, OfStoresEndCommandsAsDocumented) {
  const Mutate mutate = [](const std::string& bytes, Dice& dice) { return test::mutated_bytes(bytes, bytes, dice); };
  try_all(store_, mutate,
          {{"db", "stats", "--store", store_}, {"db", "list", "--store", store_}, {"db", "verify", "--store", store_}},
          by_length<std::size_t>(3, 500));
}

TEST_F(MutantsTest, OfStoresNeverEndATune) {
  const Mutate mutate = [](const std::string& bytes, Dice& dice) { return test::mutated_bytes(bytes, bytes, dice); };
  try_all(store_, mutate,
          {{"tune", model_, "-o", file("again.collage"), "--budget", "1s", "--quiet", "--store", store_, "--only",
            "onednn"}},
          by_length<std::size_t>(1, 60));
}

TEST_F(MutantsTest, OfArraysEndCommandsAsDocumented) {
  const std::string array = file("x.npy");
  ASSERT_TRUE(write_npy(array, ramp({1, 3, 8, 8})));
  const Mutate mutate = [](const std::string& bytes, Dice& dice) { return test::mutated_bytes(bytes, bytes, dice); };
  try_all(array, mutate, {{"run", plan_, "--input", "image=" + array}}, by_length<std::size_t>(3, 500));
}

TEST_F(MutantsTest, OfRulesEndCommandsAsDocumented) {
  const std::string rules = given("rules.txt", R"(pattern onednn block: Conv -> Relu
rule host: label(gate; union(singles, operators(Relu|Add)))
limit onednn: nodes<=3, no taps
ban onednn: Softmax
)");
  const Mutate mutate = [](const std::string& bytes, Dice& dice) { return test::mutated_text(bytes, bytes, dice); };
  try_all(rules, mutate,
          {{"check", model_, "--rules", rules}, {"check", model_, "--dump", "candidates", "--rules", rules}},
          by_length<std::size_t>(3, 500));
}

TEST_F(MutantsTest, OfExportedCostsEndCommandsAsDocumented) {
  const std::string costs = file("costs.jsonl");
  expect_good(run({"db", "export", costs, "--store", store_, "--quiet"}));
  const Mutate mutate = [](const std::string& bytes, Dice& dice) {
    std::string line = bytes.substr(0, bytes.find('\n'));
    return (dice.one_in(2) ? test::mutated_json_text(line, dice) : line) + "\n" +
           test::mutated_bytes(bytes, bytes, dice);
  };
  try_all(costs, mutate, {{"db", "import", costs, "--store", "memory:"}}, by_length<std::size_t>(3, 500));
}

}  // namespace
}  // namespace collage::testing
