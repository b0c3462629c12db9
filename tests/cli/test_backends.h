// The program with the test backend among its backends.
#pragma once

#include <stdlib.h>

#include "tests/cli/cli_fixture.h"
#include "tests/support/paths.h"

namespace collage::testing {

class TestBackendsTest : public CliTest {
 protected:
  TestBackendsTest() { ::setenv("COLLAGE_BACKEND_PATH", test::build_path("/tests/modules").c_str(), 1); }
  ~TestBackendsTest() override { ::unsetenv("COLLAGE_BACKEND_PATH"); }
};

}  // namespace collage::testing
