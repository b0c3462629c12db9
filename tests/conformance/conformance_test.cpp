// The same cases for every backend: our own (cases/) against the reference, the official operator tests against their
// official outputs. What a backend may refuse stands in expected/<backend>.txt, what is no case to run in
// expected/import.txt. COLLAGE_UPDATE_EXPECTED=1 writes these files instead of judging refusals by them; failures of
// cases stay failures.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <tuple>

#include "tests/conformance/expectations.h"
#include "tests/conformance/official_cases.h"
#include "tests/conformance/own_cases.h"
#include "tests/conformance/run_case.h"

namespace collage::conformance {
namespace {

constexpr const char* kReference = "onnxruntime:opt=off";

std::string cases_folder() { return std::string(COLLAGE_SOURCE_DIR) + "/tests/conformance/cases"; }

std::string expected_path(const std::string& file) {
  return std::string(COLLAGE_SOURCE_DIR) + "/tests/conformance/expected/" + file + ".txt";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_official(const std::string& family) { return family.starts_with("official_"); }

bool updates_files() { return std::getenv("COLLAGE_UPDATE_EXPECTED") != nullptr; }

/// Writes one family's part of a file anew.
void update(const std::string& file, const std::string& family, const Outcomes& outcomes) {
  const auto text = updated(read_text(expected_path(file)), family, summarised(outcomes));
  ASSERT_TRUE(text) << to_string(text.error());
  std::ofstream(expected_path(file)) << *text;
}

/// Judges a family's outcomes by a file of expectations.
void judge(const std::string& file, const std::string& family, const Outcomes& outcomes) {
  if (updates_files()) update(file, family, outcomes);
  const auto lines = parse_expectations(read_text(expected_path(file)));
  ASSERT_TRUE(lines) << file << ": " << to_string(lines.error());
  std::string message;
  for (const std::string& problem : problems(of_family(*lines, family), outcomes)) message += "  " + problem + '\n';
  EXPECT_TRUE(message.empty()) << file << ", " << family << ":\n" << message;
}

/// One for the whole process: modules stay loaded anyway, and instances of engines are dear.
Laboratory& laboratory() {
  static Laboratory the_laboratory(std::string(COLLAGE_BUILD_DIR) + "/lib/collage");
  return the_laboratory;
}

/// Fills in what an own case's outputs must be: what the reference computes, and for the reference's own library
/// what OpenVINO does where it takes the case.
Result<void> add_expected(const std::string& backend, Case& which) {
  if (backend == "onnxruntime" && laboratory().has("openvino")) {
    auto other = compute(laboratory(), "openvino", which);
    if (other) {
      which.expected = *std::move(other);
      return {};
    }
  }
  COLLAGE_TRY(which.expected, compute(laboratory(), kReference, which));
  return {};
}

class Conformance : public testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  [[nodiscard]] static std::string backend() { return std::get<0>(GetParam()); }
  [[nodiscard]] static std::string family() { return std::get<1>(GetParam()); }

  static void run(std::vector<Case> cases) {
    Outcomes outcomes;
    for (const Case& which : cases) outcomes[which.name] = run_case(laboratory(), backend(), which);
    judge(backend(), family(), outcomes);
  }
};

TEST_P(Conformance, PassesOrRefusesAsExpected) {
  if (!laboratory().has(backend())) GTEST_SKIP() << "no backend " << backend();
  if (is_official(family())) {
    OfficialCases official = read_official_cases(COLLAGE_ONNX_CASES, family());
    if (official.read.empty()) GTEST_SKIP() << "no official tests here";
    return run(std::move(official.cases));
  }
  if (!laboratory().has("onnxruntime")) GTEST_SKIP() << "no reference";
  auto cases = read_own_cases(cases_folder(), family());
  ASSERT_TRUE(cases) << to_string(cases.error());
  for (Case& which : *cases) {
    const auto added = add_expected(backend(), which);
    ASSERT_TRUE(added) << which.name << ": " << to_string(added.error());
  }
  run(*std::move(cases));
}

std::vector<std::string> all_families() {
  std::vector<std::string> families = own_families(cases_folder());
  families.insert(families.end(), official_families().begin(), official_families().end());
  return families;
}

INSTANTIATE_TEST_SUITE_P(Backend, Conformance,
                         testing::Combine(testing::Values("host", "onnxruntime", "openvino", "onednn"),
                                          testing::ValuesIn(all_families())),
                         [](const auto& param) { return std::get<0>(param.param) + '_' + std::get<1>(param.param); });

class OfficialTests : public testing::TestWithParam<std::string> {};

TEST_P(OfficialTests, AreCasesOrSayWhyNot) {
  const OfficialCases official = read_official_cases(COLLAGE_ONNX_CASES, GetParam());
  if (official.read.empty()) GTEST_SKIP() << "no official tests here";
  judge("import", GetParam(), official.read);
}

INSTANTIATE_TEST_SUITE_P(Import, OfficialTests, testing::ValuesIn(official_families()),
                         [](const auto& param) { return param.param; });

TEST(ExpectationFiles, NameOnlyFamiliesThatExist) {
  const std::vector<std::string> families = all_families();
  for (const char* file : {"host", "onnxruntime", "openvino", "onednn", "import"}) {
    const auto lines = parse_expectations(read_text(expected_path(file)));
    ASSERT_TRUE(lines) << file << ": " << to_string(lines.error());
    for (const Expectation& line : *lines)
      EXPECT_NE(std::find(families.begin(), families.end(), family_of(line.pattern)), families.end())
          << file << ": " << line.pattern;
  }
}

}  // namespace
}  // namespace collage::conformance
