// ONNX's official operator tests as a source of valid models of every operator: what imports must survive a round trip.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "onnx/export.h"
#include "tests/onnx/model_text.h"
#include "tests/support/long_run.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

TEST(OfficialCases, ImportOrAreRefusedForAReasonAndSurviveARoundTrip) {
  std::vector<std::filesystem::path> cases;
  if (std::filesystem::is_directory(test::onnx_cases_path()))
    for (const auto& entry : std::filesystem::directory_iterator(test::onnx_cases_path()))
      if (entry.is_directory()) cases.push_back(entry.path() / "model.onnx");
  if (cases.empty()) GTEST_SKIP() << "no operator tests in " << test::onnx_cases_path();
  std::ranges::sort(cases);
  const auto every = test::by_length<std::size_t>(4, 1);
  std::map<std::string, int> refused;
  std::size_t imported_count = 0;
  for (std::size_t i = 0; i < cases.size(); i += every) {
    const auto imported = import_model(cases[i].string(), {.shapes = {}, .allow_unbound = true});
    if (!imported) {
      EXPECT_EQ(imported.error().exit, ExitCode::kUnsupported) << to_string(imported.error());
      ++refused[imported.error().code];
      continue;
    }
    ++imported_count;
    const auto back = read_graph(export_graph(imported->graph), "");
    ASSERT_TRUE(back) << cases[i] << to_string(back.error());
    EXPECT_EQ(*back, imported->graph) << cases[i];
  }
  EXPECT_GE(imported_count * 100, (cases.size() / every) * 94) << "fewer imported than before";
  for (const auto& [code, count] : refused)
    EXPECT_TRUE(code == "import/newer-operator" || code == "import/opset-too-old" ||
                code == "import/unsupported-attribute" || code == "import/unsupported-legacy")
        << code;
}

}  // namespace
}  // namespace collage::testing
