/// Where a test finds what it reads and runs. Functions of one source, so that the other sources of the tests are the
/// same wherever the checkout lies, and ccache knows them.
#pragma once

#include <string>

namespace collage::test {

[[nodiscard]] std::string source_path(const std::string& below = "");
[[nodiscard]] std::string build_path(const std::string& below = "");
/// The folder of ONNX's official operator tests; may be absent.
[[nodiscard]] std::string onnx_cases_path(const std::string& below = "");
/// The folder of files that no import may accept (tools/hostile/catalogue.py); may be absent.
[[nodiscard]] std::string hostile_cases_path(const std::string& below = "");

}  // namespace collage::test
