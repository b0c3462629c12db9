// What programs are compiled and linked with: the header in C, the table, what the library shows and needs.
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/api/c/c_fixture.h"
#include "tests/api/c/c_program.h"

namespace collage {
namespace {

using test::CApi;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LibCollage : public CApi {
 protected:
  [[nodiscard]] std::string answer_of(const std::string& command) const {
    const std::string file = folder_.file("answer");
    EXPECT_EQ(std::system((command + " > " + file).c_str()), 0) << command;
    return text_of(file);
  }

  const std::string library_ = test::build_path("/lib/libcollage.so");
};

TEST_F(LibCollage, ShowsTheListedSymbolsAndNoOthers) {
  std::set<std::string> shown;
  std::istringstream lines(answer_of("nm -D --defined-only " + library_));
  for (std::string address, kind, name; lines >> address >> kind >> name;) shown.insert(name);
  std::set<std::string> listed;
  std::ifstream list(test::source_path("/src/api/c/exports.txt"));
  for (std::string name; list >> name;) listed.insert(name);
  EXPECT_FALSE(listed.empty());
  EXPECT_EQ(shown, listed);
}

TEST_F(LibCollage, NeedsNoEngineAndNoMeansOfTuning) {
  const std::string libraries = answer_of("ldd " + library_);
  EXPECT_THAT(libraries, testing::HasSubstr("libcollage_api_run"));
  for (const char* other : {"onnxruntime", "openvino", "Halide", "protobuf", "sqlite", "collage_onnx", "collage_store",
                            "collage_measure", "collage_search", "collage_tune", "collage_passes"})
    EXPECT_THAT(libraries, testing::Not(testing::HasSubstr(other)));
}

TEST_F(LibCollage, HasANameThatChangesWithItsInterface) {
  EXPECT_THAT(answer_of("readelf -d " + library_), testing::HasSubstr("soname: [libcollage.so.0]"));
}

TEST_F(CApi, HasATableForItsOwnVersionOnly) {
  const collage_api* const table = collage_get_api(COLLAGE_API_VERSION);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->size, sizeof(collage_api));
  EXPECT_EQ(table->version, COLLAGE_API_VERSION);
  EXPECT_THAT(table->version_string(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_EQ(collage_get_api(0), nullptr);
  EXPECT_EQ(collage_get_api(COLLAGE_API_VERSION + 1), nullptr);
}

TEST_F(CApi, HasAFunctionInEveryPlaceOfItsTable) {
  using Function = void (*)();
  const auto* const first = reinterpret_cast<const Function*>(&api_.version_string);
  const auto* const end = reinterpret_cast<const Function*>(&api_ + 1);
  for (const Function* place = first; place != end; ++place) EXPECT_NE(*place, nullptr) << place - first;
}

TEST_F(CApi, LooksTheSameInC) {
  std::array<std::size_t, C_PROGRAM_SIZES> sizes{};
  c_program_sizes(sizes.data());
  EXPECT_THAT(sizes,
              testing::ElementsAre(sizeof(collage_api), sizeof(collage_plan_options), sizeof(collage_session_options),
                                   sizeof(collage_tensor_info), sizeof(collage_tensor), sizeof(collage_shape),
                                   sizeof(collage_verdict), sizeof(collage_run_options)));
}

TEST_F(CApi, RunsAPlanForAProgramInC) {
  std::vector<float> in(test::kIncrements);
  std::vector<float> out(test::kIncrements);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  ASSERT_EQ(c_program_run(increment_file().c_str(), in.data(), out.data(), in.size()), COLLAGE_GOOD);
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i] + 1) << i;
  EXPECT_EQ(c_program_run(folder_.file("none").c_str(), in.data(), out.data(), in.size()), COLLAGE_IO);
}

}  // namespace
}  // namespace collage
