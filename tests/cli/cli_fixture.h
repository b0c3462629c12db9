// An empty folder for each test and what most tests of the program ask of it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_numbers.h"
#include "tests/cli/program.h"
#include "tests/support/scratch_folder.h"

namespace collage::testing {

class CliTest : public ::testing::Test {
 protected:
  CliTest();
  ~CliTest() override;

  /// A path in this test's folder.
  [[nodiscard]] std::string file(const std::string& name) const { return (folder_ / name).string(); }
  /// Where the program has its home, cache and temporary files.
  [[nodiscard]] const std::filesystem::path& home() const { return home_; }
  /// Writes a file of the test's folder and returns its path.
  [[nodiscard]] std::string given(const std::string& name, const std::string& bytes) const;

  [[nodiscard]] Ended run(const std::vector<std::string>& arguments) const;
  /// `tune` with a store in memory, little time and no progress, then `more`.
  [[nodiscard]] std::vector<std::string> quick_tune(const std::string& model, const std::string& plan,
                                                    const std::vector<std::string>& more = {}) const;

  /// The answer of `make`, which is asked once in a process. What the test's folder held then, later tests get a copy
  /// of: in the same place, so that paths inside of files hold.
  [[nodiscard]] Ended made_once(const std::string& name, const std::function<Ended()>& make) const;
  /// The same for quick_tune, by its arguments.
  [[nodiscard]] Ended tuned_once(const std::string& model, const std::string& plan,
                                 const std::vector<std::string>& more = {}) const;

  /// Names in the test's folder, hidden ones too, sorted.
  [[nodiscard]] std::vector<std::string> names() const;
  /// What the program left in its folder for temporary files.
  [[nodiscard]] std::vector<std::string> temporaries() const;

 private:
  test::ScratchFolder scratch_;
  std::filesystem::path folder_;  ///< the same for all tests of a process
  std::filesystem::path home_ = scratch_.path() / "home";
};

/// The program ended with code 0 and said nothing on stderr.
void expect_good(const Ended& ended);
/// The program ended with this exit code and one line on stderr, "collage: error[code]: WHERE: saw X; allowed Y", and
/// nothing on stdout. `about`: a text that the line must have, such as the name of the file or the dimension.
void expect_error(const Ended& ended, int exit_code, const std::string& code, const std::string& about = "");

/// The text as JSON; fails the test and gives null when it is none. What names a schema must have the form that
/// docs/schemas publishes.
[[nodiscard]] nlohmann::json parsed(const std::string& text);
[[nodiscard]] std::vector<std::string> keys_of(const nlohmann::json& object);

}  // namespace collage::testing
