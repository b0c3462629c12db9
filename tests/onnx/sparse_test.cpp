// Sparse initialisers and constants: the same graph as with dense ones.
#include <gtest/gtest.h>

#include "onnx/import.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

/// [3, 4], zero but for three elements.
const std::vector<float> kDense = {0, 0, 5, 0, 0, 0, 0, 0, -2, 0, 0, 0.5F};
const std::vector<float> kValues = {5, -2, 0.5F};
const std::vector<std::int64_t> kLinear = {2, 8, 11};
const std::vector<std::int64_t> kByDimension = {0, 2, 2, 0, 2, 3};

void fill(::onnx::TensorProto& tensor, const std::string& name, int type, const std::vector<std::int64_t>& dims) {
  tensor.set_name(name);
  tensor.set_data_type(type);
  for (const std::int64_t dim : dims) tensor.add_dims(dim);
}

::onnx::SparseTensorProto sparse_of(const std::vector<std::int64_t>& indices) {
  ::onnx::SparseTensorProto sparse;
  fill(*sparse.mutable_values(), "w", ::onnx::TensorProto::FLOAT, {3});
  for (const float value : kValues) sparse.mutable_values()->add_float_data(value);
  std::vector<std::int64_t> dims = {3};
  if (indices.size() > 3) dims.push_back(static_cast<std::int64_t>(indices.size()) / 3);
  fill(*sparse.mutable_indices(), "", ::onnx::TensorProto::INT64, dims);
  for (const std::int64_t index : indices) sparse.mutable_indices()->add_int64_data(index);
  sparse.add_dims(3);
  sparse.add_dims(4);
  return sparse;
}

::onnx::ModelProto without_weight() {
  return model_of("<ir_version: 8, opset_import: [\"\": 17]> g (float[2,3] x) => (float[2,4] y) { y = MatMul (x, w) }");
}

std::string with_dense() {
  ::onnx::ModelProto model = without_weight();
  auto& weight = *model.mutable_graph()->add_initializer();
  fill(weight, "w", ::onnx::TensorProto::FLOAT, {3, 4});
  for (const float value : kDense) weight.add_float_data(value);
  return bytes_of(model);
}

std::string with_initialiser(const std::vector<std::int64_t>& indices) {
  ::onnx::ModelProto model = without_weight();
  *model.mutable_graph()->add_sparse_initializer() = sparse_of(indices);
  return bytes_of(model);
}

std::string with_constant(const std::vector<std::int64_t>& indices) {
  ::onnx::ModelProto model = without_weight();
  auto& graph = *model.mutable_graph();
  const ::onnx::NodeProto product = graph.node(0);
  graph.clear_node();
  auto& node = *graph.add_node();
  node.set_op_type("Constant");
  node.add_output("w");
  auto& value = *node.add_attribute();
  value.set_name("sparse_value");
  value.set_type(::onnx::AttributeProto::SPARSE_TENSOR);
  *value.mutable_sparse_tensor() = sparse_of(indices);
  *graph.add_node() = product;
  return bytes_of(model);
}

/// The graph as text, or the code of the error.
std::string imported(const std::string& bytes, const ImportOptions& options = {}) {
  const auto made = import_model(bytes, "", options);
  return made ? to_text(made->graph) : made.error().code;
}

TEST(SparseTensors, AreTheDenseOnes) {
  const std::string dense = imported(with_dense());
  ASSERT_NE(dense.find("MatMul"), std::string::npos) << dense;
  EXPECT_EQ(imported(with_initialiser(kLinear)), dense);
  EXPECT_EQ(imported(with_initialiser(kByDimension)), dense);
  EXPECT_EQ(imported(with_constant(kLinear)), dense);
  EXPECT_EQ(imported(with_constant(kByDimension)), dense);
}

TEST(SparseTensors, WithIndicesThatAreNoneAreRefused) {
  for (const std::vector<std::int64_t>& indices : std::vector<std::vector<std::int64_t>>{
           {2, 8, 12}, {-1, 2, 8}, {8, 2, 11}, {0, 2, 2, 0, 3, 0}, {0, 2, 2, 0, 2, 4}})
    for (const std::string& bytes : {with_initialiser(indices), with_constant(indices)}) {
      const std::string code = imported(bytes);
      EXPECT_TRUE(code == "import/bad-tensor" || code == "import/invalid-model") << code;
    }
}

TEST(SparseTensors, CountWithTheirDenseSize) {
  ImportOptions options;
  options.limits.parse_memory = 4096;
  ::onnx::ModelProto model = without_weight();
  for (int i = 0; i < 2; ++i) {
    ::onnx::SparseTensorProto sparse = sparse_of(kLinear);
    sparse.mutable_values()->set_name("w" + std::to_string(i));
    sparse.set_dims(0, 200);
    *model.mutable_graph()->add_sparse_initializer() = sparse;
  }
  model.mutable_graph()->mutable_node(0)->set_input(1, "w0");
  EXPECT_EQ(imported(bytes_of(model), options), "import/limit");
}

}  // namespace
}  // namespace collage::testing
