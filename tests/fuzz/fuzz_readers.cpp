// The fuzz target of every reader: COLLAGE_READER names it. With COLLAGE_FUZZ_SEEDS=FOLDER its samples are written
// there. A crash, a hang, too much memory, and an error that calls itself a bug are findings. Source:
// https://llvm.org/docs/LibFuzzer.html
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/readers/reader.h"
#include "tests/support/scratch_folder.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace collage::test {
namespace {

/// The reader of this process, and a folder for its files.
struct Target {
  Reader reader;
  std::vector<std::string> samples;
  ScratchFolder folder;
};

const Reader& named_reader() {
  const char* const name = std::getenv("COLLAGE_READER");
  const auto found = std::ranges::find(readers(), std::string(name == nullptr ? "" : name), &Reader::name);
  if (found != readers().end()) return *found;
  std::fprintf(stderr, "COLLAGE_READER is none of");
  for (const Reader& reader : readers()) std::fprintf(stderr, " %s", reader.name.c_str());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

Target& target() {
  static Target made{.reader = named_reader(), .samples = named_reader().samples(), .folder = {}};
  return made;
}

std::string text_of(const std::uint8_t* data, std::size_t size) { return {reinterpret_cast<const char*>(data), size}; }

void write_seeds() {
  const char* const folder = std::getenv("COLLAGE_FUZZ_SEEDS");
  if (folder == nullptr) return;
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < target().samples.size(); ++i)
    write_bytes(std::filesystem::path(folder) / std::to_string(i), target().samples[i]);
}

}  // namespace
}  // namespace collage::test

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  collage::test::write_seeds();
  if (!collage::test::target().samples.empty()) return 0;
  std::fprintf(stderr, "no samples: what %s reads is not built here\n", collage::test::target().reader.name.c_str());
  std::exit(77);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto& target = collage::test::target();
  const collage::test::Answer answer = target.reader.read(collage::test::text_of(data, size), target.folder.path());
  if (answer.exit != collage::ExitCode::kBug) return 0;
  std::fprintf(stderr, "%s\n", answer.text.c_str());
  std::abort();
}

/// Half of the time the way of the form, checksums fitted; else libFuzzer's.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned int seed) {
  auto& target = collage::test::target();
  collage::Dice dice(seed);
  if (dice.one_in(2)) return LLVMFuzzerMutate(data, size, most);
  std::string mutant;
  try {
    mutant = target.reader.mutate(collage::test::text_of(data, size), dice.pick(target.samples), dice);
  } catch (const std::exception&) {
    // Not of the form any more.
  }
  if (mutant.empty() || mutant.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, mutant.data(), mutant.size());
  return mutant.size();
}
