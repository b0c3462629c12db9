#include "tests/support/paths.h"

namespace collage::test {

std::string source_path(const std::string& below) { return COLLAGE_SOURCE_DIR + below; }
std::string build_path(const std::string& below) { return COLLAGE_BUILD_DIR + below; }
std::string onnx_cases_path(const std::string& below) { return COLLAGE_ONNX_CASES + below; }
std::string hostile_cases_path(const std::string& below) { return COLLAGE_HOSTILE_CASES + below; }

}  // namespace collage::test
