// Mutants of valid models: an import of any of them ends within its time and its memory, and never ends the process.
// COLLAGE_MODELS names a folder of models beside ONNX's operator tests, COLLAGE_TEST_SEED another seed; a mutant that
// fails is written to COLLAGE_MUTANTS, if that is set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/onnx/model_text.h"
#include "tests/onnx/mutator.h"
#include "tests/support/child_tasks.h"
#include "tests/support/long_run.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

namespace fs = std::filesystem;

std::string bytes_in(const fs::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return bytes.str();
}

/// Models of at most `most` bytes, in order of their paths.
std::vector<fs::path> models_below(const std::string& folder, std::uintmax_t most) {
  std::vector<fs::path> models;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    if (entry.path().extension() == ".onnx" && entry.file_size(ignored) <= most) models.push_back(entry.path());
  std::ranges::sort(models);
  return models;
}

std::vector<fs::path> shared_models(std::uintmax_t most) {
  const char* folder = std::getenv("COLLAGE_MODELS");
  return folder != nullptr ? models_below(folder, most) : std::vector<fs::path>{};
}

std::string answer_to(const std::string& bytes, const std::string& folder) {
  const ImportOptions options{.allow_unbound = true,
                              .knows_vendor_operator = [](auto domain, auto) { return domain == "com.microsoft"; }};
  const auto imported = import_model(bytes, folder, options);
  if (imported) return "ok";
  return imported.error().code + " " + to_string(imported.error());
}

/// What came out of many imports; prints itself.
struct Counts {
  std::size_t died = 0;
  std::size_t hung = 0;
  std::size_t out_of_memory = 0;
  std::map<std::string, std::size_t> codes;
  double slowest = 0;
};

using MutantSource = std::function<std::string(std::size_t)>;  // index -> bytes

void keep(const std::string& name, const std::string& bytes) {
  const char* folder = std::getenv("COLLAGE_MUTANTS");
  if (folder != nullptr) std::ofstream(fs::path(folder) / (name + ".onnx"), std::ios::binary) << bytes;
}

Counts count(const std::string& what, const std::vector<ChildAnswer>& answers, const MutantSource& mutant,
             const std::function<std::string(std::size_t)>& origin) {
  Counts counts;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ChildAnswer& answer = answers[i];
    const std::string code = answer.text.substr(0, answer.text.find(' '));
    const bool is_memory = code == "import/out-of-memory";
    counts.slowest = std::max(counts.slowest, answer.seconds);
    counts.died += answer.end == ChildAnswer::End::kDied ? 1 : 0;
    counts.hung += answer.end == ChildAnswer::End::kHung ? 1 : 0;
    counts.out_of_memory += is_memory ? 1 : 0;
    if (answer.end == ChildAnswer::End::kAnswered) {
      ++counts.codes[code];
      // A bug that was caught is still one.
      if (!is_memory && code != "ok" && !code.starts_with("import/")) ADD_FAILURE() << origin(i) << answer.text;
      if (!is_memory) continue;
    }
    const std::string name = what + "-" + std::to_string(i);
    keep(name, mutant(i));
    ADD_FAILURE() << name << " of " << origin(i) << ": " << answer.text << " after " << answer.seconds << " s";
  }
  std::cout << what << ": " << answers.size() << " imports, " << counts.died << " deaths, " << counts.hung << " hangs, "
            << counts.out_of_memory << " out of memory, slowest " << counts.slowest << " s;";
  for (const auto& [code, number] : counts.codes) std::cout << " " << code << " " << number;
  std::cout << std::endl;  // a campaign may be ended before its end
  return counts;
}

TEST(Mutants, NeverEndOrHangAnImport) {
  std::vector<fs::path> models = models_below(test::onnx_cases_path(), std::uintmax_t{1} << 18);
  const std::vector<fs::path> shared = shared_models(test::by_length<std::uintmax_t>(1'000'000, 100'000'000));
  if (models.empty() && shared.empty()) GTEST_SKIP() << "no models to change";
  const char* asked = std::getenv("COLLAGE_TEST_SEED");
  const std::uint64_t seed = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1;
  const auto mutants = test::by_length<std::size_t>(2'000, 100'000);
  // Half of them of real models, where there are any.
  const auto path_of = [&](std::size_t i) {
    const bool is_shared = !shared.empty() && (models.empty() || i % 2 == 0);
    const auto& from = is_shared ? shared : models;
    return from[(i / 2 * 7919 + seed) % from.size()];
  };
  const auto mutant = [&](std::size_t i) {
    ::onnx::ModelProto model;
    model.ParseFromString(bytes_in(path_of(i)));
    mutate(model, seed * 1'000'003 + i);
    return model.SerializeAsString();
  };
  const auto answers = answers_of_children(
      mutants, {}, [&](std::size_t i) { return answer_to(mutant(i), path_of(i).parent_path().string()); });
  count("mutants", answers, mutant, [&](std::size_t i) { return path_of(i).string(); });
}

/// Truncations and flipped bits of one model.
void break_everywhere(const fs::path& path, std::size_t step) {
  const std::string whole = bytes_in(path);
  const std::size_t all = whole.size() * 9;
  const auto broken = [&](std::size_t i) {
    i *= step;
    if (i < whole.size()) return whole.substr(0, i);
    std::string flipped = whole;
    const std::size_t bit = i - whole.size();
    flipped[bit / 8] = static_cast<char>(static_cast<unsigned char>(flipped[bit / 8]) ^ (1U << (bit % 8)));
    return flipped;
  };
  const auto answers = answers_of_children(
      all / step, {}, [&](std::size_t i) { return answer_to(broken(i), path.parent_path().string()); });
  count(path.parent_path().filename().string(), answers, broken, [&](std::size_t) { return path.string(); });
}

TEST(BrokenBytes, NeverEndOrHangAnImport) {
  std::vector<fs::path> models;
  for (const fs::path& path : shared_models(std::uintmax_t{32} << 10)) models.push_back(path);
  for (const char* name : {"/test_gru_bidirectional_with_initial_bias/model.onnx", "/test_loop13_seq/model.onnx",
                           "/test_if_seq/model.onnx", "/test_basic_conv_with_padding/model.onnx"})
    if (fs::exists(test::onnx_cases_path(name))) models.emplace_back(test::onnx_cases_path(name));
  if (models.empty()) GTEST_SKIP() << "no models to break";
  for (const fs::path& path : models) {
    const std::size_t all = fs::file_size(path) * 9;
    // In a long campaign everything.
    break_everywhere(path, test::by_length<std::size_t>(std::max<std::size_t>(1, all / 500), 1));
  }
}

}  // namespace
}  // namespace collage::testing
