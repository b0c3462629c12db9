// Completion scripts and manual pages.
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace collage::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ManualTest : public CliTest {
 protected:
  [[nodiscard]] std::string shown(const std::vector<std::string>& arguments) const {
    const Ended ended = run(arguments);
    expect_good(ended);
    return ended.out;
  }

  /// What bash offers for the last of these words.
  [[nodiscard]] std::vector<std::string> offered(const std::vector<std::string>& words) const {
    const std::string script = given("collage.bash", shown({"completion", "bash"}));
    std::string line = "source " + script + "; COMP_WORDS=(";
    for (const std::string& word : words) line += "'" + word + "' ";
    line += "); COMP_CWORD=" + std::to_string(words.size() - 1) + R"(; _collage; printf '%s\n' "${COMPREPLY[@]}")";
    Program bash(home(), {"-c", line}, "/bin/bash");
    const Ended ended = bash.wait();
    expect_good(ended);
    std::vector<std::string> found;
    std::istringstream lines(ended.out);
    for (std::string one; std::getline(lines, one);)
      if (!one.empty()) found.push_back(one);
    return found;
  }
};

TEST_F(ManualTest, BashCompletesCommandsAndOptions) {
  EXPECT_THAT(offered({"collage", "tu"}), ElementsAre("tune"));
  EXPECT_THAT(offered({"collage", "tune", "--bud"}), ElementsAre("--budget"));
  EXPECT_THAT(offered({"collage", "db", "li"}), ElementsAre("list"));
  EXPECT_THAT(offered({"collage", "db", "list", "--lim"}), ElementsAre("--limit"));
  for (const char* command : {"help", "manual"})
    EXPECT_THAT(offered({"collage", command, "expl"}), ElementsAre("explain")) << command;
  EXPECT_THAT(offered({"collage", "explain", "--thr"}), IsEmpty());
}

TEST_F(ManualTest, BashLeavesFilesToItselfAndOffersNothingForOtherValues) {
  EXPECT_THAT(offered({"collage", "tune", "mod"}), IsEmpty());
  EXPECT_THAT(offered({"collage", "tune", "--json", "-"}), IsEmpty());
  EXPECT_THAT(offered({"collage", "tune", "--budget", "-"}), IsEmpty());
  EXPECT_THAT(offered({"collage", "tune", "m.onnx", "--budget", "60s", "--out"}), ElementsAre("--output"));
}

TEST_F(ManualTest, ScriptsOfOtherShellsKnowTheSameWords) {
  const std::string zsh = shown({"completion", "zsh"});
  EXPECT_THAT(zsh, HasSubstr("#compdef collage\n"));
  EXPECT_THAT(zsh, HasSubstr("'--output[the plan to write]:PLAN:_files'"));
  EXPECT_THAT(zsh, HasSubstr("'*--pin["));
  EXPECT_THAT(zsh, HasSubstr("        tune) _collage_tune ;;\n"));
  EXPECT_THAT(zsh, HasSubstr("_collage_db_list() {\n"));
  const std::string fish = shown({"completion", "fish"});
  EXPECT_THAT(fish, HasSubstr("complete -c collage -n '__collage_at tune' -s o -l output -r -F -d "));
  EXPECT_THAT(fish, HasSubstr("complete -c collage -n '__collage_at db list' -l limit -x -d "));
  expect_error(run({"completion", "csh"}), 2, "cli/usage", "allowed bash, zsh or fish");
}

TEST_F(ManualTest, EveryCommandHasAPage) {
  const std::string folder = file("man1");
  std::filesystem::create_directory(folder);
  (void)shown({"manual", "--folder", folder});
  std::vector<std::string> pages;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) pages.push_back(entry.path().filename());
  for (const char* page : {"collage.1", "collage-tune.1", "collage-db.1", "collage-db-list.1", "collage-manual.1"})
    EXPECT_THAT(pages, Contains(page));
  const std::string tune = read_all(folder + "/collage-tune.1");
  EXPECT_EQ(tune, shown({"manual", "tune"}));
  EXPECT_THAT(tune, HasSubstr(".TH \"collage\\-tune\" 1"));
  EXPECT_THAT(tune, HasSubstr(".TP\n\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIPLAN\\fR\nthe plan to write\n"));
  EXPECT_THAT(tune, HasSubstr("collage tune model.onnx"));
  expect_error(run({"manual", "tnue"}), 2, "cli/usage", "did you mean tune?");
  EXPECT_THAT(shown({"manual", "db"}), HasSubstr("\\(aq"));
}

TEST_F(ManualTest, PagesHoldNoOtherCommandsOfRoff) {
  std::istringstream lines(shown({"manual", "tune"}));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with('.'))
      EXPECT_THAT((std::vector<std::string>{".TH", ".SH", ".TP", ".nf", ".fi"}), Contains(line.substr(0, 3))) << line;
    else
      EXPECT_THAT(line, Not(::testing::StartsWith("'")));
}

}  // namespace
}  // namespace collage::testing
