// The backend in a process that runs no Python, as the command `collage` and programs in C are.
#include <gmock/gmock.h>

#include "backend/registry.h"
#include "tests/support/paths.h"

namespace collage {
namespace {

using ::testing::HasSubstr;

std::string why_unusable(const std::string& instance) {
  Registry registry({test::build_path("/lib/collage")});
  const auto backend = registry.inspect(instance);
  EXPECT_TRUE(backend) << to_string(backend.error());
  return backend ? (*backend)->info().unusable : "";
}

TEST(PythonBackend, SaysThatItNeedsPythonWhereNoneRuns) {
  EXPECT_THAT(why_unusable("python:module=my_backend"), HasSubstr("needs Python, which this process does not run"));
}

TEST(PythonBackend, IsRefusedByNameWhenAPlanAsksForIt) {
  Registry registry({test::build_path("/lib/collage")});
  const auto backend = registry.get("python:module=my_backend");
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, "backend/unusable");
  EXPECT_EQ(backend.error().where, "python:module=my_backend");
}

TEST(PythonBackend, SaysWhatItsNameMustHave) {
  EXPECT_THAT(why_unusable("python"), HasSubstr("python:module=NAME"));
  EXPECT_THAT(why_unusable("python:file=x"), HasSubstr("unknown option 'file'; allowed module"));
}

}  // namespace
}  // namespace collage
