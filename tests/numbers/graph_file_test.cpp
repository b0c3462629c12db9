#include "numbers/graph_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "ir/tensor.h"
#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

Tensor rising(std::size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return make_tensor(ElementType::kFloat32, {static_cast<std::int64_t>(count)}, values);
}

/// y = x + constants, one after the other.
Graph sum_of(const std::vector<Tensor>& constants) {
  Graph graph;
  graph.name = "sum";
  graph.opsets = {{"", 26}};
  const ValueType type = constants.front().value_type();
  ValueId last = add_value(graph, "x", type);
  graph.inputs = {last};
  for (const Tensor& constant : constants) {
    Node node;
    node.op_type = "Add";
    node.inputs = {last, add_constant(graph, "", constant)};
    last = add_value(graph, "", type);
    node.outputs = {last};
    add_node(graph, std::move(node));
  }
  graph.outputs = {last};
  return graph;
}

std::vector<Buffer> constants_of(const Graph& graph) {
  std::vector<Buffer> bytes;
  for (const Value& value : graph.values)
    if (value.constant) bytes.push_back(value.constant->data);
  return bytes;
}

TEST(GraphFile, KeepsConstantsLargeAndSmall) {
  const test::ScratchFolder folder;
  const Graph graph = sum_of({rising(1000, 1), rising(1000, 2)});
  ASSERT_TRUE(write_graph_file(folder.file("g.onnx"), graph));
  const auto read = read_graph_file(folder.file("g.onnx"));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(constants_of(*read), constants_of(graph));
  const Graph small = sum_of({rising(3, 1)});
  ASSERT_TRUE(write_graph_file(folder.file("small.onnx"), small));
  EXPECT_EQ(std::filesystem::file_size(folder.file("small.onnx.weights")), 0U);
  EXPECT_EQ(constants_of(read_graph_file(folder.file("small.onnx")).value()), constants_of(small));
}

TEST(GraphFile, AConstantOfAnEarlierFileIsNotWrittenAgain) {
  const test::ScratchFolder folder;
  const Tensor shared = rising(1000, 1);
  const Graph first = sum_of({shared, rising(1000, 2)});
  const auto places = write_graph_file(folder.file("first.onnx"), first);
  ASSERT_TRUE(places);
  const Graph second = sum_of({rising(1000, 3), shared, shared});
  ASSERT_TRUE(write_graph_file(folder.file("second.onnx"), second, *places));
  EXPECT_EQ(std::filesystem::file_size(folder.file("second.onnx.weights")), 4032U) << "its own constant alone";
  const auto read = read_graph_file(folder.file("second.onnx"));
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(constants_of(*read), constants_of(second));
}

TEST(GraphFile, APartOfAnEarlierConstantIsAConstantOfItsOwn) {
  const test::ScratchFolder folder;
  const Tensor whole = rising(1000, 1);
  const auto places = write_graph_file(folder.file("first.onnx"), sum_of({whole}));
  ASSERT_TRUE(places);
  Tensor half = whole;
  half.extents = {500};
  half.data = whole.data.slice(0, 2000);
  const Graph second = sum_of({half});
  ASSERT_TRUE(write_graph_file(folder.file("second.onnx"), second, *places));
  EXPECT_EQ(constants_of(read_graph_file(folder.file("second.onnx")).value()), constants_of(second));
}

}  // namespace
}  // namespace collage
