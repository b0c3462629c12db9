// What programs are linked with: the table, what the library shows and is called.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/api/c_tune/tune_fixture.h"

namespace collage::test {
namespace {

class LibCollageTuner : public CTune {
 protected:
  [[nodiscard]] std::string answer_of(const std::string& command) const {
    EXPECT_EQ(std::system((command + " " + library_ + " > " + file("answer")).c_str()), 0) << command;
    std::ifstream answer(file("answer"));
    return {std::istreambuf_iterator<char>(answer), {}};
  }

  const std::string library_ = build_path("/lib/libcollage_tuner.so");
};

TEST_F(LibCollageTuner, ShowsTheListedSymbolsAndNoOthers) {
  std::set<std::string> shown;
  std::istringstream lines(answer_of("nm -D --defined-only"));
  for (std::string address, kind, name; lines >> address >> kind >> name;) shown.insert(name);
  std::ifstream list(source_path("/src/api/c_tune/exports.txt"));
  const std::set<std::string> listed(std::istream_iterator<std::string>(list), {});
  EXPECT_FALSE(listed.empty());
  EXPECT_EQ(shown, listed);
}

TEST_F(LibCollageTuner, HasANameThatChangesWithItsInterface) {
  EXPECT_THAT(answer_of("readelf -d"), ::testing::HasSubstr("soname: [libcollage_tuner.so.0]"));
}

TEST_F(LibCollageTuner, HasAFunctionInEveryPlaceOfItsTable) {
  using Function = void (*)();
  const auto* const first = reinterpret_cast<const Function*>(&tuner().tune);
  const auto* const end = reinterpret_cast<const Function*>(&tuner() + 1);
  for (const Function* place = first; place != end; ++place) EXPECT_NE(*place, nullptr) << place - first;
}

}  // namespace
}  // namespace collage::test
