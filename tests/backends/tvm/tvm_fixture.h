// Running every variant that the backend offers for graphs from text against plain loops. Kernels are tuned by few
// trials or none: what they compute is looked at here, not how fast.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backend/extensions/tuning_extension.h"
#include "backend/strategy.h"
#include "tests/support/written_graph.h"

namespace collage::test {

/// Compiles everything in one process, without tuning.
inline constexpr const char* kUntuned = "tvm:process=kept,trials=0";
/// The same with a few trials, so that schedules and packed constants are there.
inline constexpr const char* kTuned = "tvm:process=kept,trials=4";

/// What compiling the first variant gives.
std::expected<Artifact, Refusal> compiled(Backend& backend, const Graph& graph, int threads = 1);
/// Likewise; a refusal stops the test program.
Artifact artifact_of(const std::string& instance, const Graph& graph, int threads = 1);

/// Runs every variant and compares with plain loops. Gives the names of the variants without their settings.
std::vector<std::string> expect_right(const std::string& instance, const std::string& text);
/// "reason: detail" why the whole graph is refused; "" when it is not.
std::string refusal_of(const std::string& text);

/// Environment variables that are as before when it ends.
class Setting {
 public:
  Setting(std::string name, const std::string& value);
  ~Setting();
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// Records of schedules in a folder of their own, not in the user's.
class TvmTest : public testing::Test {
 public:
  ~TvmTest() override { std::filesystem::remove_all(folder_); }

 protected:
  [[nodiscard]] std::filesystem::path records() const { return folder_ / "collage" / "tvm"; }

 private:
  std::filesystem::path folder_ = testing::TempDir() + "/tvm-" + std::to_string(::getpid());
  Setting cache_{"XDG_CACHE_HOME", folder_.string()};
};

}  // namespace collage::test
