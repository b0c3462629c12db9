// The same cases for every backend: our own (cases/) against the reference, the official operator tests against their
// official outputs. What a backend may refuse stands in expected/<backend>.txt, what is no case to run in
// expected/import.txt. Backends run in a child process each, so that a crash is the failure of one case.
// Looks at the environment (README.md says what for): COLLAGE_UPDATE_EXPECTED, COLLAGE_CONFORMANCE_BACKENDS,
// COLLAGE_CONFORMANCE_CASE, COLLAGE_CONFORMANCE_ALL.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "backend/narrow_element.h"
#include "backend/roles.h"
#include "base/narrow_float.h"
#include "tests/conformance/expectations.h"
#include "tests/conformance/isolated.h"
#include "tests/conformance/official_cases.h"
#include "tests/conformance/own_cases.h"
#include "tests/conformance/run_case.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/long_run.h"
#include "tests/support/paths.h"
#include "tests/support/processor.h"

namespace collage::conformance {
namespace {

constexpr std::chrono::milliseconds kPatience{60'000};

/// Those that need tens of milliseconds to compile a case run representatives of the official cases only.
bool is_slow(const std::string& backend) {
  return backend == "openvino" || backend == "native" || backend == "tvm" || backend == "nvrtc";
}

/// The instance that runs a backend's cases. TVM's trials make kernels faster, not other ones; a GPU is rarely at hand.
std::string instance_of(const std::string& backend) {
  if (backend == "tvm") return "tvm:process=kept,trials=0";
  if (backend == "cublaslt") return test::cublaslt_on_host();
  if (backend == "cudnn") return test::cudnn_on_host();
  return backend == "nvrtc" ? test::nvrtc_on_host() : backend;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool updates_files() { return !variable("COLLAGE_UPDATE_EXPECTED").empty(); }

/// A pattern of case names: only these run, and no file is looked at.
std::string wanted_case() { return variable("COLLAGE_CONFORMANCE_CASE"); }

bool runs_all() {
  return updates_files() || !wanted_case().empty() || !variable("COLLAGE_CONFORMANCE_ALL").empty() ||
         test::by_length(false, true);
}

/// Sequences, optionals and strings are inside of a region: only the engine that fills gaps takes those.
bool is_for(const std::string& backend, const Case& one) {
  return backend == kFillerEngine || !one.name.ends_with("+inside");
}

/// In how many variants a case runs. OpenVINO's differ in formats alone; native's are kernels with tests of their own.
std::size_t variants_on(const std::string& backend, bool is_official) {
  if (runs_all() || !is_slow(backend)) return kAllVariants;
  if (backend == "openvino") return is_official ? 1 : 2;
  return is_official ? 2 : 4;
}

std::vector<std::string> all_backends() {
  return {"host", "native",  "onednn", "onnxruntime", "openvino", "blas", "onednn3",
          "mnn",  "xnnpack", "tvm",    "nvrtc",       "cublaslt", "cudnn"};
}

std::vector<std::string> wanted_backends() {
  const std::string wanted = ',' + variable("COLLAGE_CONFORMANCE_BACKENDS") + ',';
  std::vector<std::string> backends = all_backends();
  if (wanted != ",,")
    std::erase_if(backends, [&](const std::string& name) { return wanted.find(',' + name + ',') == wanted.npos; });
  return backends;
}

std::string cases_folder() { return test::source_path("/tests/conformance/cases"); }
std::string modules_folder() { return test::build_path("/lib/collage"); }

std::string expected_path(const std::string& file) {
  return test::source_path("/tests/conformance/expected/") + file + ".txt";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Writes one family's part of a file anew.
void update(const std::string& file, const std::string& family, const Outcomes& outcomes) {
  const auto text = updated(read_text(expected_path(file)), family, summarised(outcomes));
  ASSERT_TRUE(text) << to_string(text.error());
  std::ofstream(expected_path(file)) << *text;
}

/// Judges a family's outcomes by a file of expectations; `skipped` are the names of cases that did not run.
void judge(const std::string& file, const std::string& family, const Outcomes& outcomes,
           const std::vector<std::string>& skipped) {
  if (updates_files()) update(file, family, outcomes);
  const auto lines = parse_expectations(read_text(expected_path(file)));
  ASSERT_TRUE(lines) << file << ": " << to_string(lines.error());
  std::string message;
  for (const std::string& problem : problems(of_family(*lines, family), outcomes, skipped))
    message += "  " + problem + '\n';
  EXPECT_TRUE(message.empty()) << file << ", " << family << ":\n" << message;
}

/// Fills in what an own case's outputs must be: what the reference computes, and for the reference's own library
/// what OpenVINO does where it takes the case.
Result<void> add_expected(Laboratory& laboratory, const std::string& backend, Case& which) {
  if (backend == "onnxruntime" && laboratory.has("openvino")) {
    auto other = compute(laboratory, "openvino", which);
    if (other) {
      which.expected = *std::move(other);
      return {};
    }
  }
  COLLAGE_TRY(which.expected, compute(laboratory, kReferenceEngine, which));
  return {};
}

Outcome run_one(Laboratory& laboratory, const std::string& backend, const Case& which) {
  const bool is_official = which.expected.has_value();
  const std::size_t variants = variants_on(backend, is_official);
  if (is_official) return run_case(laboratory, instance_of(backend), which, variants);
  Case with_expected = which;
  const auto added = add_expected(laboratory, backend, with_expected);
  if (added) return run_case(laboratory, instance_of(backend), with_expected, variants);
  return {.kind = Outcome::Kind::kFailed, .reason = {}, .detail = "no reference: " + to_string(added.error())};
}

/// Numbers that narrow ports hold as they are: what is judged is arithmetic, not the rounding of inputs and weights.
Tensor as_held_in(ElementType element, const Tensor& tensor) {
  if (tensor.type != ElementType::kFloat32) return tensor;
  const bool is_bfloat = element == ElementType::kBfloat16;
  Tensor rounded = tensor;
  rounded.data = Buffer::make(tensor.data.size(), [&](std::span<std::byte> out) {
    const auto floats = tensor.data.as<float>();
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const float held = is_bfloat ? from_bfloat(to_bfloat(floats[i])) : from_half(to_half(floats[i]));
      std::memcpy(out.data() + i * sizeof held, &held, sizeof held);
    }
  });
  return rounded;
}

/// Numbers beyond the type's become infinite: a tune refuses that.
bool can_be_held_in(ElementType element, const Tensor& tensor) {
  constexpr float kMostHalf = 65504.0F;
  if (element != ElementType::kFloat16 || tensor.type != ElementType::kFloat32) return true;
  return std::ranges::all_of(tensor.data.as<float>(),
                             [](float number) { return !std::isfinite(number) || std::abs(number) <= kMostHalf; });
}

Outcome run_one_narrow(Laboratory& laboratory, const std::string& backend, const Case& which) {
  const ElementType element = *narrow_element({.accuracy = Accuracy::kFast});
  Case with_expected = which;
  for (Tensor& input : with_expected.inputs) input = as_held_in(element, input);
  for (Value& value : with_expected.graph.values)
    if (value.constant) value.constant = as_held_in(element, *value.constant);
  if (!with_expected.expected)
    if (const auto added = add_expected(laboratory, backend, with_expected); !added)
      return {.kind = Outcome::Kind::kFailed, .reason = {}, .detail = "no reference: " + to_string(added.error())};
  if (!std::ranges::all_of(*with_expected.expected, [&](const Tensor& one) { return can_be_held_in(element, one); }))
    return {.kind = Outcome::Kind::kRefused, .reason = {}, .detail = "numbers beyond the type of 16 bits"};
  return run_narrow(laboratory, instance_of(backend), with_expected);
}

void report(const std::string& backend, const Outcomes& outcomes, std::chrono::steady_clock::time_point begin) {
  const auto count = [&](Outcome::Kind kind) {
    return std::count_if(outcomes.begin(), outcomes.end(), [&](const auto& one) { return one.second.kind == kind; });
  };
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  fmt::print("  {}: {} passed, {} refused, {} failed in {} ms\n", backend, count(Outcome::Kind::kPass),
             count(Outcome::Kind::kRefused), count(Outcome::Kind::kFailed), took.count());
}

/// Runs `chosen` of the cases on one backend and judges them.
void run_on(const std::string& backend, const std::string& family, const std::vector<Case>& cases,
            std::vector<bool> chosen) {
  // Loads nothing yet: modules come into the child's process only.
  Laboratory laboratory(modules_folder());
  if (!laboratory.has(backend)) return;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<const Case*> running;
  std::vector<std::string> skipped;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!wanted_case().empty()) chosen[i] = matches(wanted_case(), cases[i].name);
    if (chosen[i] && is_for(backend, cases[i]))
      running.push_back(&cases[i]);
    else
      skipped.push_back(cases[i].name);
  }
  const std::vector<Outcome> results = run_isolated(
      running.size(), [&](std::size_t i) { return run_one(laboratory, backend, *running[i]); }, kPatience);
  Outcomes outcomes;
  for (std::size_t i = 0; i < running.size(); ++i) outcomes[running[i]->name] = results[i];
  report(backend, outcomes, begin);
  if (!wanted_case().empty())
    for (const Case* one : running)
      fmt::print("{}\n    {} {}\n", to_text(one->graph), one->name, to_text(outcomes[one->name]));
  else
    judge(backend, family, outcomes, skipped);
}

/// Where the processor saturates sums of two products of bytes, so does the reference: it cannot judge such a case.
bool is_judged_here(const Case& one) { return one.name != "matmul/integer" || test::has_exact_byte_products(); }

class OwnFamily : public testing::TestWithParam<std::string> {};

TEST_P(OwnFamily, PassesOrIsRefusedAsExpected) {
  if (!Laboratory(modules_folder()).has("onnxruntime")) GTEST_SKIP() << "no reference";
  const auto cases = read_own_cases(cases_folder(), GetParam());
  ASSERT_TRUE(cases) << to_string(cases.error());
  std::vector<bool> chosen;
  for (const Case& one : *cases) chosen.push_back(is_judged_here(one));
  for (const std::string& backend : wanted_backends()) run_on(backend, GetParam(), *cases, chosen);
}

INSTANTIATE_TEST_SUITE_P(Conformance, OwnFamily, testing::ValuesIn(own_families(cases_folder())),
                         [](const auto& param) { return param.param; });

/// What backends offer in class fast, within its bound of what the reference computes.
class NarrowFamily : public testing::TestWithParam<std::string> {};

TEST_P(NarrowFamily, VariantsInSixteenBitsAreWithinTheBoundOfClassFast) {
  if (!Laboratory(modules_folder()).has("onnxruntime")) GTEST_SKIP() << "no reference";
  if (!narrow_element({.accuracy = Accuracy::kFast})) GTEST_SKIP() << "no elements of 16 bits here";
  const auto cases = read_own_cases(cases_folder(), GetParam());
  ASSERT_TRUE(cases) << to_string(cases.error());
  for (const std::string& backend : wanted_backends()) {
    Laboratory laboratory(modules_folder());
    if (!laboratory.has(backend) || (is_slow(backend) && !runs_all())) continue;
    // It rounds the values between the operators of a chain too; a tune refuses what errs too much there.
    if (backend == "openvino" && GetParam() == "conv_chain") continue;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<Outcome> results = run_isolated(
        cases->size(), [&](std::size_t i) { return run_one_narrow(laboratory, backend, (*cases)[i]); }, kPatience);
    Outcomes outcomes;
    for (std::size_t i = 0; i < results.size(); ++i) {
      outcomes[(*cases)[i].name] = results[i];
      EXPECT_NE(results[i].kind, Outcome::Kind::kFailed)
          << backend << ", " << (*cases)[i].name << ": " << results[i].detail;
    }
    report(backend, outcomes, begin);
  }
}

INSTANTIATE_TEST_SUITE_P(Conformance, NarrowFamily, testing::ValuesIn(own_families(cases_folder())),
                         [](const auto& param) { return param.param; });

class OfficialFamily : public testing::TestWithParam<std::string> {};

TEST_P(OfficialFamily, PassesOrIsRefusedAsExpected) {
  const OfficialCases official = read_official_cases(test::onnx_cases_path(), GetParam());
  if (official.read.empty()) GTEST_SKIP() << "no official tests here";
  judge("import", GetParam(), official.read, {});
  const std::vector<bool> all(official.cases.size(), true);
  const std::vector<bool> some = runs_all() ? all : representatives(official.cases);
  for (const std::string& backend : wanted_backends())
    run_on(backend, GetParam(), official.cases, is_slow(backend) ? some : all);
}

INSTANTIATE_TEST_SUITE_P(Conformance, OfficialFamily, testing::ValuesIn(official_families()),
                         [](const auto& param) { return param.param; });

TEST(ExpectationFiles, NameOnlyFamiliesThatExist) {
  std::vector<std::string> families = own_families(cases_folder());
  families.insert(families.end(), official_families().begin(), official_families().end());
  std::vector<std::string> files = all_backends();
  files.emplace_back("import");
  for (const std::string& file : files) {
    const auto lines = parse_expectations(read_text(expected_path(file)));
    ASSERT_TRUE(lines) << file << ": " << to_string(lines.error());
    for (const Expectation& line : *lines)
      EXPECT_NE(std::find(families.begin(), families.end(), family_of(line.pattern)), families.end())
          << file << ": " << line.pattern;
  }
}

}  // namespace
}  // namespace collage::conformance
