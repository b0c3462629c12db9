// ONNX models, as every command imports them with --trust: in this process. Real models: tests/onnx/mutants_test.cpp.
#include "onnx/import.h"
#include "tests/onnx/model_text.h"
#include "tests/onnx/mutator.h"
#include "tests/readers/reader.h"
#include "tests/support/mutate/mutate_bytes.h"

namespace collage::test {
namespace {

using testing::opset_model;

std::string convolutions() {
  return opset_model(17, R"(g (float[N,2,6,6] x) => (float[N,3] y)
      <float[3,2,3,3] w = {1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9,1,2,3,4,5,6,7,8,9},
       float[3] s = {1,2,3}, float[3] b = {0,1,0}, float[3] m = {0,0,1}, float[3] v = {1,1,2}, int64[2] shape = {-1,3}> {
        c = Conv <kernel_shape = [3,3], pads = [1,1,1,1], strides = [2,2], auto_pad = "NOTSET"> (x, w)
        n = BatchNormalization <epsilon = 0.001> (c, s, b, m, v)
        r = Clip (n)
        p = GlobalAveragePool (r)
        y = Reshape (p, shape)
      })");
}

std::string bodies() {
  return opset_model(17, R"(g (int64 trips, bool flag, float[2,3] x) => (float[2,3] y, float[K,2,3] all)
      <int64 axis = {0}> {
        y, all = Loop <body = body (int64 i, bool c, float[2,3] s) => (bool d, float[2,3] t, float[2,3] kept) {
          d = Identity (c)
          t = If <then_branch = a () => (float[2,3] u) { u = Add (s, x) }, else_branch = b () => (float[2,3] u) { u = Relu (s) }> (flag)
          kept = Identity (t)
        }> (trips, flag, x)
      })");
}

std::string functions() {
  return testing::bytes_of(testing::model_of(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
      g (float[2,3] x) => (float[2,3] y) { a = local.twice (x) y = local.twice (a) }
      <domain: "local", opset_import: ["" : 17, "local" : 1]> twice (p) => (q) { q = Add (p, p) })"));
}

std::string shapes_and_bytes() {
  return opset_model(17, R"(g (uint8[1,2,4,4] x, string[2] words) => (uint8[1,2,2,8] y, string[2] same)
      <float s = {0.05}, uint8 z = {3}, float[2] f = {1, 2}, int64[4] extents = {1,2,2,8}> {
        a = DequantizeLinear (x, s, z)
        b = Softmax <axis = 1> (a)
        c = QuantizeLinear (b, s, z)
        y = Reshape (c, extents)
        same = Identity (words)
      })");
}

std::vector<std::string> model_samples() { return {convolutions(), bodies(), functions(), shapes_and_bytes()}; }

std::string mutated_model(const std::string& sample, const std::string& other, Dice& dice) {
  ::onnx::ModelProto model;
  if (dice.one_in(4) || !model.ParseFromString(sample)) return mutated_bytes(sample, other, dice);
  testing::mutate(model, dice.next());
  return model.SerializeAsString();
}

Answer imported(const std::string& bytes, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "model.onnx";
  write_bytes(path, bytes);
  const ImportOptions options{.allow_unbound = true,
                              .knows_vendor_operator = [](auto domain, auto) { return domain == "com.microsoft"; }};
  Answer answer = answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const Imported imported, import_model(path.string(), options));
    return to_text(imported.graph);
  });
  std::filesystem::remove(path);
  return answer;
}

}  // namespace

void add_model_readers(std::vector<Reader>& all) {
  all.push_back({.name = "model", .samples = model_samples, .mutate = mutated_model, .read = imported});
}

}  // namespace collage::test
