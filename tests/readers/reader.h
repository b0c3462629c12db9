// What this product reads that others may have made, as the commands and interfaces read it. Tests of mutants and fuzz
// targets work on the same list (tests/fuzz).
// In:  bytes. Out: what a user is told.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tests/support/dice.h"

namespace collage::test {

/// What reading gave: numbers or texts, in any form that can be compared; or the error.
struct Answer {
  bool is_accepted = false;
  ExitCode exit = ExitCode::kGood;
  std::string text;
  bool operator==(const Answer&) const = default;
};

[[nodiscard]] inline Answer accepted(std::string text) { return {.is_accepted = true, .text = std::move(text)}; }
[[nodiscard]] inline Answer refused(const Error& error) { return {.exit = error.exit, .text = to_string(error)}; }
/// The answer of `work`, which returns a Result of a text.
template <class Work>
[[nodiscard]] Answer answer_of(Work&& work) {
  Result<std::string> result = work();
  return result ? accepted(*std::move(result)) : refused(result.error());
}

/// One form, and who reads it. Functions are called in a process of their own, which ends with the campaign.
struct Reader {
  std::string name;
  /// Valid ones; none where a part is not installed. The same in each process.
  std::function<std::vector<std::string>()> samples;
  /// Changes a sample in the way of its form, checksums fitted; `other` is one of the samples.
  std::function<std::string(const std::string& sample, const std::string& other, Dice& dice)> mutate;
  /// Reads bytes by way of files in `folder`, which is empty before and after.
  std::function<Answer(const std::string& bytes, const std::filesystem::path& folder)> read;
  /// What every refusal names: the file, as a user gave it. Empty where the reader has no file.
  std::string names;
  /// Damage is never accepted with another result: the form has checksums over all that matters.
  bool is_checked = false;
  /// Of 20,000 mutants in a long campaign, for readers that start processes: one in so many.
  std::size_t slowness = 1;
};

[[nodiscard]] const std::vector<Reader>& readers();

// The parts of the list.
void add_model_readers(std::vector<Reader>& all);
void add_plan_readers(std::vector<Reader>& all);
void add_artifact_readers(std::vector<Reader>& all);
void add_store_readers(std::vector<Reader>& all);
void add_tensor_readers(std::vector<Reader>& all);
void add_text_readers(std::vector<Reader>& all);
void add_serve_readers(std::vector<Reader>& all);
void add_worker_readers(std::vector<Reader>& all);

/// Writes bytes where a reader finds them.
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

}  // namespace collage::test
