// What passes from the process that read a model to the one that asked: it arrives as it was, and what a hostile writer
// makes of it is refused or a graph that holds what graphs promise.
#include "sandbox/import_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/dice.h"
#include "tests/support/random_graph.h"
#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

class ImportFile : public ::testing::Test {
 protected:
  ~ImportFile() override { ::close(file_); }

  /// An import of a random graph.
  static Imported imported(std::uint64_t seed) {
    Imported made;
    made.graph = RandomGraphs(seed, {}).graph();
    made.bound_model = std::string("bytes of a model\0\xff", 18);
    made.model_hash = "0123";
    made.opset = 17;
    made.metadata = {{"key", "value"}, {"", "\n"}};
    made.notes = {"a note"};
    return made;
  }
  void write(const Imported& made) const {
    ASSERT_EQ(::ftruncate(file_, 0), 0);
    const auto written = write_import(file_, made);
    ASSERT_TRUE(written) << to_string(written.error());
  }
  [[nodiscard]] Result<Imported> read() const {
    return read_import(file_, {.named = folder_.path().string()}, "model");
  }

  [[nodiscard]] std::string contents() const {
    std::string bytes(static_cast<std::size_t>(::lseek(file_, 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  void put(const std::string& bytes) const {
    ASSERT_EQ(::ftruncate(file_, 0), 0);
    ASSERT_EQ(::pwrite(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  test::ScratchFolder folder_;
  int file_ = ::memfd_create("test", MFD_CLOEXEC);
};

TEST_F(ImportFile, ArrivesAsItWas) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const Imported made = imported(seed);
    write(made);
    const auto back = read();
    ASSERT_TRUE(back) << seed << ": " << to_string(back.error());
    EXPECT_EQ(back->graph, made.graph) << seed;
    EXPECT_EQ(back->bound_model, made.bound_model);
    EXPECT_EQ(back->model_hash, made.model_hash);
    EXPECT_EQ(back->opset, made.opset);
    EXPECT_EQ(back->metadata, made.metadata);
    EXPECT_EQ(back->notes, made.notes);
  }
}

TEST_F(ImportFile, WeightsBesideTheModelAreNamedNotCopied) {
  const std::string weights = folder_.file("weights");
  {
    std::string bytes(40'000, 'w');
    std::ofstream(weights, std::ios::binary) << bytes;
  }
  Imported made;
  made.weight_files["weights"] = Buffer::map_file(weights).value();
  add_constant(made.graph, "c",
               {.type = ElementType::kFloat32,
                .extents = {5000},
                .data = made.weight_files["weights"].slice(8, 20'000),
                .strings = {}});
  made.graph.outputs.push_back(ValueId{0});
  write(made);
  EXPECT_LT(contents().size(), 10'000U);
  const auto back = read();
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->graph, made.graph);
  EXPECT_EQ(back->weight_files.size(), 1U);
  std::ofstream(weights, std::ios::binary) << std::string(40'000, 'x');
  EXPECT_EQ(read().error().code, "import/changed");
  std::ofstream(weights, std::ios::binary) << "short";
  EXPECT_EQ(read().error().code, "import/changed");
  std::filesystem::remove(weights);
  EXPECT_EQ(read().error().code, "import/not-found");
}

TEST_F(ImportFile, ThatAHostileWriterMadeIsRefusedOrAGraph) {
  Dice dice(1);
  std::size_t refused = 0;
  constexpr int kMutants = 20'000;
  std::string honest;
  for (int mutant = 0; mutant < kMutants; ++mutant) {
    if (mutant % 500 == 0) {
      write(imported(static_cast<std::uint64_t>(mutant)));
      honest = contents();
    }
    std::string bytes = honest;
    for (std::size_t changes = 1 + dice.below(3); changes > 0; --changes) {
      // The part behind the tensors is what is read with care; a quarter hits the start, which says where it is.
      const std::size_t at = dice.below(4) == 0 ? dice.below(16) : dice.below(bytes.size());
      bytes[at] = static_cast<char>(dice.below(256));
    }
    if (dice.below(20) == 0) bytes.resize(dice.below(bytes.size()));
    put(bytes);
    const auto back = read();
    if (back) {
      ASSERT_TRUE(verify(back->graph)) << mutant;
    }
    refused += back ? 0 : 1;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, static_cast<std::size_t>(kMutants));
}

}  // namespace
}  // namespace collage
