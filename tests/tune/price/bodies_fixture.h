// Tunes of models with control flow, and runs of the plans that they make.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "region/cover.h"
#include "tests/support/session_of.h"
#include "tests/tune/tune_fixture.h"
#include "tune/tune.h"

namespace collage::test {

inline Tensor bool_tensor(bool value) {
  return {.type = ElementType::kBool,
          .extents = {},
          .data = Buffer::copy_of(std::as_bytes(std::span(&value, 1))),
          .strings = {}};
}

inline Tensor count_of(std::int64_t value) {
  return make_tensor<std::int64_t>(ElementType::kInt64, {}, std::vector<std::int64_t>{value});
}

inline Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

class Bodies : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_EQ(scratch.temporaries(), std::vector<std::string>{});
    EXPECT_EQ(scratch.processes(), std::vector<pid_t>{});
  }

  /// All nodes called `pinned` are left to their bodies' steps, so that no engine takes them or the whole model; or all
  /// nodes, when it is empty, to the backend `to`.
  [[nodiscard]] TuneOptions options(const std::string& model, const std::string& pinned,
                                    const std::string& to = std::string(kControlBackend)) const {
    TuneOptions made;
    made.model = model;
    made.output = scratch.file("model.collage");
    made.backends = {"onnxruntime", "test"};
    made.store = scratch.file("costs");
    made.budget_s = kAmpleBudgetSeconds;
    made.worker_command = worker_command();
    if (!pinned.empty() || to != kControlBackend)
      made.rules = {{.kind = NodeRule::Kind::kPin, .glob = pinned.empty() ? "*" : pinned, .backend = to}};
    return made;
  }

  [[nodiscard]] std::string written(const Graph& graph) const {
    const std::string path = scratch.file("model.onnx");
    write_model(graph, path);
    return path;
  }

  Result<Session> tuned(const TuneOptions& options) {
    COLLAGE_TRY(report, tune(options, registry));
    return session_of(report->plan, registry);
  }

  static std::vector<Tensor> outputs_for(Session& session, const std::vector<Tensor>& inputs) {
    EXPECT_TRUE(session.set_inputs(inputs));
    const auto ran = session.run();
    EXPECT_TRUE(ran) << to_string(ran.error());
    return session.copy_outputs().value_or(std::vector<Tensor>{});
  }

  Scratch scratch;
  Registry registry{module_folders()};
  std::optional<TuneReport> report;
};

}  // namespace collage::test
