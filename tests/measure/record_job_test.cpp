#include "measure/pricer.h"
#include "tests/measure/measure_fixture.h"
#include "tests/support/record_names.h"

namespace collage {
namespace {

class RecordJobs : public ::testing::Test {
 protected:
  /// Writes the graph and inputs, runs the job in a worker.
  Result<Record> run(const Graph& graph, const std::vector<Tensor>& inputs, const std::string& backend = "test") {
    EXPECT_TRUE(write_graph_file(job.graph_file, graph));
    auto writer = RecordWriter::create(job.inputs_file);
    for (std::size_t i = 0; i < inputs.size(); ++i)
      EXPECT_TRUE(writer->add(graph.value(graph.inputs[i]).name, inputs[i]));
    EXPECT_TRUE(writer->finish());
    job.backend = backend;
    COLLAGE_TRY_VOID(test::record_in(worker, job));
    return Record::open(job.record_file);
  }

  test::ScratchFolder folder;
  WorkerProcess worker{test::worker_command()};
  RecordJob job{.graph_file = folder.file("graph.onnx"),
                .inputs_file = folder.file("inputs"),
                .record_file = folder.file("record"),
                .backend = "test",
                .all_values = true,
                .model_file = std::nullopt};
};

TEST_F(RecordJobs, EveryValueIsWrittenDown) {
  const Graph graph = test::chain_graph();
  const Tensor x = test::numbers({2, 300}, 1);
  const auto record = run(graph, {x});
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(test::record_names(job.record_file), (std::vector<std::string>{"r0", "r1", "s", "x", "y"}));
  EXPECT_EQ(*record->tensor("x"), x);
  const auto in = x.data.as<float>();
  const auto w = graph.values[1].constant->data.as<float>();
  const Tensor sum = *record->tensor("s");
  for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(sum.data.as<float>()[i], std::max(in[i], 0.0F) + w[i]);
}

TEST_F(RecordJobs, OutputsAloneWhenAskedFor) {
  job.all_values = false;
  const auto record = run(test::chain_graph(), {test::numbers({2, 300}, 1)});
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(test::record_names(job.record_file), (std::vector<std::string>{"x", "y"}));
}

TEST_F(RecordJobs, ConstantAndPassedThroughOutputsAreThere) {
  Graph graph = test::chain_graph();
  graph.outputs.push_back(graph.inputs[0]);
  graph.outputs.push_back(ValueId{1});
  job.all_values = false;
  const auto record = run(graph, {test::numbers({2, 300}, 1)});
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(*record->tensor("w"), *graph.values[1].constant);
  EXPECT_EQ(*record->tensor("x"), test::numbers({2, 300}, 1));
}

TEST_F(RecordJobs, OutputsOfUnknownShapeGetTheShapeOfTheRun) {
  Graph graph = test::empty_graph();
  graph.inputs = {add_value(graph, "x", test::f32_type({5}))};
  ValueType open = ValueType::tensor(ElementType::kInt64, {1, 1});
  open.shape->at(1) = {};
  const ValueId out = add_value(graph, "where", open);
  add_node(graph, {.name = "n",
                   .domain = "",
                   .op_type = "NonZero",
                   .inputs = graph.inputs,
                   .outputs = {out},
                   .captures = {},
                   .attributes = {}});
  graph.outputs = {out};
  const auto record = run(graph, {make_tensor<float>(ElementType::kFloat32, {5}, {0, 1, 0, 2, 3})});
  ASSERT_TRUE(record) << to_string(record.error());
  EXPECT_EQ(*record->tensor("where"), make_tensor<std::int64_t>(ElementType::kInt64, {1, 3}, {1, 3, 4}));
}

TEST_F(RecordJobs, WrongInputsAreSaid) {
  EXPECT_EQ(run(test::chain_graph(), {test::numbers({2, 301}, 1)}).error().code, "record/wrong-input");
}

TEST_F(RecordJobs, BackendThatFailsIsSaid) {
  const std::vector<Tensor> inputs = {test::numbers({2, 300}, 1)};
  EXPECT_EQ(run(test::chain_graph(), inputs, "test:fault=compile-throw").error().code, "record/refused");
  EXPECT_EQ(run(test::chain_graph(), inputs, "test:fault=run-throw").error().code, "record/refused");
  const auto crashed = run(test::chain_graph(), inputs, "test:fault=run-crash");
  EXPECT_EQ(crashed.error().code, "record/refused");
  EXPECT_NE(crashed.error().saw.find("SIGSEGV"), std::string::npos) << crashed.error().saw;
  EXPECT_FALSE(run(test::chain_graph(), inputs, "absent"));
  EXPECT_TRUE(run(test::chain_graph(), inputs));
}

}  // namespace
}  // namespace collage
