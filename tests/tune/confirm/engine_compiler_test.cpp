#include "tune/confirm/engine_compiler.h"

#include <filesystem>

#include "numbers/graph_file.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

class EngineCompilers : public ::testing::Test {
 protected:
  EngineCompilers() { EXPECT_TRUE(write_graph_file(scratch.file("model.onnx"), test::small_graph())); }

  [[nodiscard]] CompileModelJob job(const std::string& engine) const {
    return {.graph = scratch.file("model.onnx"), .model = "", .engine = engine, .folder = scratch.file("")};
  }

  test::Scratch scratch;
  EngineCompiler compiler;
};

TEST_F(EngineCompilers, GiveAnArtifactOnce) {
  compiler.start(test::worker_command(), job("onnxruntime"));
  EXPECT_TRUE(compiler.has_started("onnxruntime"));
  EXPECT_TRUE(compiler.is_ready_by(Clock::now() + std::chrono::minutes(1), "onnxruntime"));
  EXPECT_EQ(compiler.running(), 0U);
  const auto hash = compiler.take("onnxruntime");
  ASSERT_TRUE(hash && *hash) << to_string(hash->error());
  EXPECT_FALSE((*hash)->empty());
  EXPECT_FALSE(compiler.take("onnxruntime")) << "taken";
  EXPECT_FALSE(compiler.has_started("onnxruntime"));
}

TEST_F(EngineCompilers, TellWhyOneFailed) {
  compiler.start(test::worker_command(), job("no-such-engine"));
  const auto hash = compiler.take("no-such-engine");
  ASSERT_TRUE(hash);
  EXPECT_FALSE(*hash);
}

TEST_F(EngineCompilers, AreReadyForWhatWasNotStarted) {
  EXPECT_TRUE(compiler.is_ready_by(Clock::now(), "onnxruntime"));
  EXPECT_FALSE(compiler.take("onnxruntime"));
}

/// A worker that never answers.
TEST_F(EngineCompilers, StopThoseThatNobodyTook) {
  const Clock::time_point begin = Clock::now();
  {
    EngineCompiler stopped;
    stopped.start({"/bin/sleep", "600"}, job("onnxruntime"));
    EXPECT_EQ(stopped.running(), 1U);
    const EngineCompiler moved = std::move(stopped);
    EXPECT_EQ(moved.running(), 1U);
  }
  EXPECT_LT(Clock::now() - begin, std::chrono::minutes(5));
}

}  // namespace
}  // namespace collage
