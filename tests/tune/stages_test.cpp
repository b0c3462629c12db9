#include "tune/stages.h"

#include "numbers/graph_file.h"
#include "numbers/record.h"
#include "tests/support/record_names.h"
#include "tests/tune/tune_fixture.h"

namespace collage {
namespace {

class Stages : public ::testing::Test {
 protected:
  Stages() {
    auto made = WorkFolder::create();
    EXPECT_TRUE(made);
    folder.emplace(std::move(*made));
  }

  [[nodiscard]] Result<Prepared> run(const Graph& graph) {
    test::write_model(graph, scratch.file("model.onnx"));
    PrepareOptions options;
    options.model = scratch.file("model.onnx");
    options.backends = {"host", "onnxruntime"};
    options.progress = [this](const ProgressEvent& event) { phases.push_back(event.phase); };
    return prepare(options, *folder, registry, worker);
  }

  test::Scratch scratch;
  std::optional<WorkFolder> folder;
  Registry registry{test::module_folders()};
  WorkerProcess worker{test::worker_command()};
  std::vector<std::string> phases;
};

TEST_F(Stages, FilesHoldWhatWorkersNeed) {
  const auto prepared = run(test::small_graph());
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  EXPECT_EQ(phases, (std::vector<std::string>{"import", "record", "simplify"}));
  const auto graph = read_graph_file(prepared->graph_file);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(*graph, prepared->graph);
  const auto imported = read_graph_file(prepared->imported_file);
  ASSERT_TRUE(imported);
  EXPECT_EQ(*imported, prepared->imported.graph);
  EXPECT_EQ(Buffer::map_file(prepared->original_file)->text(), prepared->imported.bound_model);
  EXPECT_EQ(test::record_names(prepared->inputs), std::vector<std::string>{"x"});
  EXPECT_TRUE(Record::open(prepared->outputs)->contains("y"));
}

/// Engines may compile it while it is recorded.
TEST_F(Stages, ImportAloneHoldsWhatEnginesCompile) {
  test::write_model(test::small_graph(), scratch.file("model.onnx"));
  PrepareOptions options;
  options.model = scratch.file("model.onnx");
  options.backends = {"host", "onnxruntime"};
  const auto model = import_model(options, *folder, registry, worker);
  ASSERT_TRUE(model) << to_string(model.error());
  const auto imported = read_graph_file(model->imported_file);
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(*imported, model->imported.graph);
  EXPECT_EQ(Buffer::map_file(model->original_file)->text(), model->imported.bound_model);
}

TEST_F(Stages, RecordHoldsEveryValueAndTheRightNumbers) {
  const auto prepared = run(test::small_graph());
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  const auto record = Record::open(prepared->record);
  ASSERT_TRUE(record) << to_string(record.error());
  for (const Value& value : prepared->graph.values)
    if (!value.constant) {
      EXPECT_TRUE(record->contains(value.name)) << value.name;
    }
  const Tensor y = *record->tensor("y");
  const std::vector<float> expected = test::small_graph_output(*record->tensor("x"));
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(y.data.as<float>()[i], expected[i], 1e-5) << i;
}

TEST_F(Stages, TypesThatImportCannotInferAreThoseThatTheReferenceInfers) {
  auto graph = parse_graph(
      "graph(%x: f32[2,3,3]) -> (%y) { opset ai.onnx 26, com.microsoft 1"
      " %t: f32[*] = com.microsoft::Inverse(%x) %y: f32[*] = Relu(%t) }");
  ASSERT_TRUE(graph) << to_string(graph.error());
  const auto prepared = run(*graph);
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  for (const Node& node : prepared->graph.nodes)
    EXPECT_EQ(to_string(prepared->graph.value(node.outputs[0]).type), "f32[2,3,3]") << node.op_type;
}

TEST_F(Stages, ConstantPartsAreFoldedByTheReference) {
  Graph graph = test::small_graph();
  // Relu(w) depends on no input.
  const ValueId w{1};
  ASSERT_TRUE(graph.value(w).constant);
  const ValueId folded = add_value(graph, "folded", graph.value(w).type);
  Node node = graph.nodes[1];
  ASSERT_EQ(node.op_type, "Relu");
  node.name = "constant_relu";
  node.inputs = {w};
  node.outputs = {folded};
  graph.nodes.insert(graph.nodes.begin(), node);
  graph.nodes[1].inputs[1] = folded;
  const auto prepared = run(graph);
  ASSERT_TRUE(prepared) << to_string(prepared.error());
  EXPECT_EQ(prepared->imported.graph.nodes.size(), 5U);
  EXPECT_EQ(prepared->graph.nodes.size(), 4U);
}

TEST_F(Stages, ModelThatIsNotThereIsAnError) {
  PrepareOptions options;
  options.model = scratch.file("absent.onnx");
  EXPECT_EQ(prepare(options, *folder, registry, worker).error().exit, ExitCode::kIo);
  EXPECT_FALSE(worker.is_running());
}

}  // namespace
}  // namespace collage
