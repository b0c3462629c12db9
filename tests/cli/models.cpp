#include "tests/cli/models.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

/// An initialiser in ONNX text, with values between -1 and 1 that look random and are the same everywhere.
std::string weights(const std::string& name, const std::vector<int>& extents) {
  int count = 1;
  for (const int extent : extents) count *= extent;
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back((i * 37 % 101 - 50) / 50.0);
  return fmt::format("float[{}] {} = {{{:.2f}}}", fmt::join(extents, ","), name, fmt::join(values, ", "));
}

}  // namespace

std::string small_network() {
  return opset_model(17, "small (float[1,3,8,8] image) => (float[1,5] scores) <" + weights("w", {16, 3, 3, 3}) + ", " +
                             weights("b", {16}) + ", " + weights("v", {16, 5}) + ", " + weights("c", {5}) + R"(> {
      convolved = Conv <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (image, w, b)
      positive = Relu (convolved)
      pooled = GlobalAveragePool (positive)
      row = Flatten (pooled)
      classes = Gemm (row, v, c)
      scores = Softmax (classes)
    })");
}

std::string doubling_with_open_dimension() {
  return opset_model(17, "doubling (float[N,4] x) => (float[N,4] y) { y = Add (x, x) }");
}

std::string doubling_with_unnamed_dimension() {
  return opset_model(17, "doubling (float[?,4] x) => (float[?,4] y) { y = Add (x, x) }");
}

std::string sum_with_open_dimension() {
  return opset_model(17, "sum (float[N,4] a, float[N,4] b) => (float[N,4] y) { y = Add (a, b) }");
}

std::string matmul_with_open_rows() {
  return opset_model(17, "rows (float[rows,32] x) => (float[rows,24] y) <" + weights("w", {32, 24}) +
                             "> { product = MatMul (x, w) y = Relu (product) }");
}

std::string two_products() {
  return opset_model(17, "products (float[1,600] x) => (float[1,600] y) <" + weights("a", {600, 600}) + ", " +
                             weights("b", {600, 600}) +
                             "> { first = MatMul (x, a) positive = Relu (first) y = MatMul (positive, b) }");
}

std::string doubling() { return opset_model(17, "doubling (float[2,3] x) => (float[2,3] y) { y = Add (x, x) }"); }

std::string chain(int nodes) {
  std::string body;
  std::string last = "x";
  for (int i = 0; i < nodes; ++i) {
    const std::string next = i + 1 == nodes ? "y" : fmt::format("v{}", i);
    body += i % 2 == 0 ? fmt::format("{} = Add ({}, w)\n", next, last) : fmt::format("{} = Relu ({})\n", next, last);
    last = next;
  }
  return opset_model(17, "chain (float[6,16] x) => (float[6,16] y) <" + weights("w", {6, 16}) + "> {" + body + "}");
}

std::string with_operator(const std::string& op, const std::string& domain) {
  const std::string other = domain.empty() ? "" : ", \"" + domain + "\" : 1";
  return bytes_of(model_of("<ir_version: 8, opset_import: [\"\" : 17" + other +
                           "]> strange (float[2,3] x) => (float[2,3] y) { y = " + (domain.empty() ? "" : domain + ".") +
                           op + " (x) }"));
}

Tensor ramp(const Extents& extents) {
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i % 21) - 10) / 10;
  return make_tensor(ElementType::kFloat32, extents, values);
}

}  // namespace collage::testing
