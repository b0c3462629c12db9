// Mutants of real models that import accepts: the imported graph computes what ONNX Runtime computes for the file as it
// is. The door is that of a tune, which compares the two before it does anything else.
// COLLAGE_MODELS names the folder of models, COLLAGE_TEST_SEED another seed; a mutant that fails is written to
// COLLAGE_MUTANTS, if that is set.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "base/json_numbers.h"
#include "tests/onnx/mutator.h"
#include "tests/support/long_run.h"
#include "tests/support/whole_file.h"
#include "tests/tune/tune_fixture.h"
#include "tune/stages.h"

namespace collage {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 20;
constexpr std::int64_t kMostMemory = std::int64_t{4} << 30;

void write_file_of(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A model of the folder, with the shapes it is tried at.
struct Original {
  std::string name;
  ::onnx::ModelProto model;
  ShapeBindings shapes;
};

std::vector<Original> originals() {
  std::vector<Original> found;
  const char* const folder = std::getenv("COLLAGE_MODELS");
  if (folder == nullptr) return found;
  const auto manifest = nlohmann::json::parse(test::read_all(std::string(folder) + "/MANIFEST.json"));
  for (const auto& entry : manifest.at("models")) {
    const std::string path = std::string(folder) + "/" + entry.at("file").get<std::string>();
    if (std::filesystem::file_size(path) > kMostBytes) continue;
    Original one{.name = entry.at("name"), .model = {}, .shapes = {}};
    if (!one.model.ParseFromString(test::read_all(path))) continue;
    for (const auto& input : entry.at("smoke").at("inputs")) {
      std::string shape;
      for (const auto& extent : input.at("shape")) shape += (shape.empty() ? "" : "x") + extent.dump();
      one.shapes.entries[input.at("name")] = shape;
    }
    found.push_back(std::move(one));
  }
  return found;
}

void print(std::size_t mutants, std::uint64_t seed, const std::map<std::string, std::size_t>& counts) {
  std::cout << mutants << " mutants, seed " << seed << ":";
  for (const auto& [answer, number] : counts) std::cout << " " << answer << " " << number << ",";
  std::cout << std::endl;
}

class MutantNumbers : public ::testing::Test {
 protected:
  /// "right", "only here" where ONNX Runtime rejects the file, or the code of an error.
  std::string answer_to(const Original& original, std::uint64_t seed) {
    ::onnx::ModelProto mutant = original.model;
    testing::mutate(mutant, seed);
    bytes_ = mutant.SerializeAsString();
    write_file_of(scratch_.file("mutant.onnx"), bytes_);
    PrepareOptions options;
    options.model = scratch_.file("mutant.onnx");
    options.shapes = original.shapes;
    options.backends = {"host", "onnxruntime"};
    const auto prepared = prepare(options, folder_, registry_, worker_);
    if (!prepared) {
      problem_ = to_string(prepared.error());
      return prepared.error().exit == ExitCode::kBug ? "bug " + prepared.error().code : prepared.error().code;
    }
    const bool is_rejected = std::ranges::any_of(
        prepared->notes, [](const std::string& note) { return note.find("rejects this file") != std::string::npos; });
    return is_rejected ? "only here" : "right";
  }
  void keep(const std::string& name) const {
    if (const char* folder = std::getenv("COLLAGE_MUTANTS"))
      write_file_of(std::filesystem::path(folder) / (name + ".onnx"), bytes_);
  }

  test::Scratch scratch_;
  WorkFolder folder_ = WorkFolder::create().value();
  Registry registry_{test::module_folders()};
  WorkerProcess worker_{test::worker_command(), {.memory_bytes = kMostMemory}};
  std::string bytes_;
  std::string problem_;
};

TEST_F(MutantNumbers, OfAcceptedMutantsAreThoseOfOnnxRuntime) {
  if (!registry_.get("onnxruntime")) GTEST_SKIP() << "without ONNX Runtime";
  const std::vector<Original> models = originals();
  if (models.empty()) GTEST_SKIP() << "no models to change";
  const char* const asked = std::getenv("COLLAGE_TEST_SEED");
  const std::uint64_t seed = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 1;
  std::map<std::string, std::size_t> counts;
  const auto mutants = test::by_length<std::size_t>(40, 10'000);
  for (std::size_t i = 0; i < mutants; ++i) {
    const Original& original = models[(i * 7919 + seed) % models.size()];
    const std::string answer = answer_to(original, seed * 1'000'003 + i);
    ++counts[answer];
    if (i % 1'000 == 999) print(i + 1, seed, counts);  // a campaign may be ended before its end
    if (!answer.starts_with("bug")) continue;
    keep("numbers-" + std::to_string(i));
    ADD_FAILURE() << "mutant " << i << " of " << original.name << ": " << problem_;
  }
  print(mutants, seed, counts);
}

}  // namespace
}  // namespace collage
