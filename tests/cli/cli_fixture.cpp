#include "tests/cli/cli_fixture.h"

#include <stdlib.h>

#include <algorithm>
#include <map>
#include <regex>

#include <fmt/ranges.h>

#include "tests/support/schema_check.h"

namespace collage::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(folder, missing)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

/// The folder of all tests, one after the other.
fs::path work_folder() {
  static const test::ScratchFolder scratch;
  return scratch.path() / "work";
}

/// What a test made for those after it.
struct Made {
  Ended ended;
  test::ScratchFolder files;
};

}  // namespace

CliTest::CliTest() : folder_(work_folder()) {
  fs::create_directories(folder_);
  fs::create_directories(home_);
}

CliTest::~CliTest() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string CliTest::given(const std::string& name, const std::string& bytes) const {
  write_all(folder_ / name, bytes);
  return file(name);
}

Ended CliTest::run(const std::vector<std::string>& arguments) const { return Program(home_, arguments).wait(); }

std::vector<std::string> CliTest::quick_tune(const std::string& model, const std::string& plan,
                                             const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {"tune", model, "-o", plan, "--budget", "8s", "--quiet", "--store", "memory:"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Ended CliTest::made_once(const std::string& name, const std::function<Ended()>& make) const {
  static std::map<std::string, Made> all;
  const auto [place, is_new] = all.try_emplace(name);
  Made& made = place->second;
  if (is_new) {
    made.ended = make();
    fs::copy(folder_, made.files.path(), fs::copy_options::recursive);
  } else {
    fs::copy(made.files.path(), folder_, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }
  return made.ended;
}

Ended CliTest::tuned_once(const std::string& model, const std::string& plan,
                          const std::vector<std::string>& more) const {
  const std::vector<std::string> arguments = quick_tune(model, plan, more);
  return made_once(fmt::format("{}: {}", read_all(model), fmt::join(arguments, " ")), [&] { return run(arguments); });
}

std::vector<std::string> CliTest::names() const { return names_in(folder_); }

std::vector<std::string> CliTest::temporaries() const { return names_in(home_ / "tmp"); }

void expect_good(const Ended& ended) {
  EXPECT_EQ(ended.exit_code, 0) << describe(ended);
  EXPECT_EQ(ended.err, "");
}

void expect_error(const Ended& ended, int exit_code, const std::string& code, const std::string& about) {
  EXPECT_EQ(ended.exit_code, exit_code) << describe(ended);
  EXPECT_EQ(ended.out, "");
  static const std::regex form(R"(collage: error\[([a-z]+/[a-z0-9-]+)\]: ([^\n]+): saw ([^\n]+); allowed ([^\n]+)\n)");
  std::smatch parts;
  ASSERT_TRUE(std::regex_match(ended.err, parts, form)) << ended.err;
  EXPECT_EQ(parts[1], code) << ended.err;
  EXPECT_THAT(ended.err, ::testing::HasSubstr(about));
}

nlohmann::json parsed(const std::string& text) {
  nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  const bool names_schema = json.is_object() && json.contains("schema") && json["schema"].is_string();
  EXPECT_EQ(names_schema ? test::schema_problem(json) : "", "") << text.substr(0, 2000);
  return json.is_discarded() ? nlohmann::json() : json;
}

std::vector<std::string> keys_of(const nlohmann::json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

}  // namespace collage::testing
