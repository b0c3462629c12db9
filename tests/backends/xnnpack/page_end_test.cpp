// The library may read a few bytes past the end of what it reads. Inputs and outputs that end where a page ends, behind
// which nothing may be read, show that no kernel does so there.
#include <cstring>

#include "tests/support/guarded_pages.h"
#include "xnnpack_fixture.h"

namespace collage::test {
namespace {

std::size_t bytes_of(const Graph& graph, ValueId id) {
  return byte_count(ElementType::kFloat32, graph.value(id).type.extents());
}

/// Runs every variant with all ports at the end of a page, and compares with the same ports elsewhere. The bytes of
/// ports are taken as they are, whatever the format.
void expect_same_at_page_end(const std::string& text) {
  const Graph graph = graph_of(text);
  const Region region = region_of(graph);
  const std::vector<Variant> variants = variants_of(graph);
  EXPECT_FALSE(variants.empty()) << text << ": " << refusal_of(text);
  for (const Variant& variant : variants) {
    const Artifact artifact = artifact_of(compiling("xnnpack"), graph, variant.name);
    const auto kernel = loading("xnnpack").load(request_of(graph, variant, artifact));
    ASSERT_TRUE(kernel) << to_string(kernel.error());
    std::vector<std::vector<float>> apart;
    std::vector<std::unique_ptr<GuardedPages>> at_end;
    Buffers far, near;
    for (const ValueId id : region.inputs) {
      apart.push_back(numbers_of(graph, id));
      at_end.push_back(std::make_unique<GuardedPages>(bytes_of(graph, id)));
      std::memcpy(at_end.back()->data(), apart.back().data(), bytes_of(graph, id));
      apart.back().resize(apart.back().size() + 4);
      far.inputs.push_back(apart.back().data());
      near.inputs.push_back(at_end.back()->data());
    }
    std::vector<float> wanted(bytes_of(graph, region.outputs[0]) / sizeof(float));
    const GuardedPages got(wanted.size() * sizeof(float));
    far.outputs = {wanted.data()};
    near.outputs = {got.data()};
    for (const Buffers& buffers : {far, near}) {
      auto call = (*kernel)->bind(buffers);
      ASSERT_TRUE(call) << to_string(call.error());
      EXPECT_TRUE((*call)->run()) << text;
    }
    EXPECT_EQ(std::memcmp(wanted.data(), got.data(), wanted.size() * sizeof(float)), 0) << text << variant.name;
  }
}

TEST(XnnpackPageEnd, IsNotPassedByConvolutions) {
  for (const std::string channels : {"1", "3", "7", "16", "17", "24", "33"}) {
    const std::string x = "graph(%x: f32[1," + channels + ",9,7], ";
    expect_same_at_page_end(x + "%w: f32[24," + channels + ",3,3]) -> (%y) { %y: f32[1,24,9,7] = Conv(%x, %w) " +
                            "{pads=[1,1,1,1]} }");
    expect_same_at_page_end(x + "%w: f32[40," + channels + ",3,3]) -> (%y) { %y: f32[1,40,9,7] = Conv(%x, %w) " +
                            "{pads=[1,1,1,1]} }");
    expect_same_at_page_end(x + "%w: f32[5," + channels + ",1,1]) -> (%y) { %y: f32[1,5,9,7] = Conv(%x, %w) }");
    expect_same_at_page_end(x + "%w: f32[" + channels + ",1,3,3]) -> (%y) { %y: f32[1," + channels +
                            ",9,7] = Conv(%x, %w) {group=" + channels + ", pads=[1,1,1,1]} }");
    expect_same_at_page_end(x + "%w: f32[" + channels +
                            ",5,2,2]) -> (%y) { %y: f32[1,5,18,14] = " + "ConvTranspose(%x, %w) {strides=[2,2]} }");
  }
}

TEST(XnnpackPageEnd, IsNotPassedByProducts) {
  for (const std::string inner : {"1", "3", "16", "31", "64"})
    for (const std::string columns : {"1", "5", "16", "33"}) {
      const std::string a = "graph(%a: f32[3,7," + inner + "], ";
      const std::string tail = columns + "]) -> (%y) { %y: f32[3,7," + columns + "] = MatMul(%a, ";
      expect_same_at_page_end(a + "%w: f32[" + inner + "," + tail + "%w) }");
      expect_same_at_page_end(a + "%b: f32[3," + inner + "," + tail + "%b) }");
    }
}

TEST(XnnpackPageEnd, IsNotPassedByPoolsAndOthers) {
  for (const std::string channels : {"1", "3", "6", "16", "17", "35"}) {
    const std::string x = "graph(%x: f32[1," + channels + ",8,6], %z: f32[1," + channels + ",8,6]) -> (%y) { ";
    const std::string one = "graph(%x: f32[1," + channels + ",8,6]) -> (%y) { ";
    const std::string half = "%y: f32[1," + channels + ",4,3] = ";
    const std::string same = "%y: f32[1," + channels + ",8,6] = ";
    expect_same_at_page_end(one + half + "MaxPool(%x) {kernel_shape=[2,2], strides=[2,2]} }");
    expect_same_at_page_end(one + half + "AveragePool(%x) {kernel_shape=[2,2], strides=[2,2]} }");
    expect_same_at_page_end(one + same + "AveragePool(%x) {kernel_shape=[3,3], pads=[1,1,1,1]} }");
    expect_same_at_page_end(one + "%y: f32[1," + channels + ",1,1] = GlobalAveragePool(%x) }");
    expect_same_at_page_end(one + "%y: f32[1," + channels + ",8,1] = ReduceMean(%x) {axes=[3]} }");
    expect_same_at_page_end(one + "constant %s = f32[4]{1.0, 1.0, 2.0, 2.0} %y: f32[1," + channels +
                            ",16,12] = Resize(%x, _, %s) {mode=\"linear\"} }");
    expect_same_at_page_end(one + "%y: f32[1,6,8," + channels + "] = Transpose(%x) {perm=[0,3,2,1]} }");
    expect_same_at_page_end(one + same + "Softmax(%x) {axis=-1} }");
    for (const std::string op : {"Relu", "Sigmoid", "Tanh", "Exp", "Sqrt", "Abs", "HardSwish", "Elu", "LeakyRelu"})
      expect_same_at_page_end(one + same + op + "(%x) }");
    for (const std::string op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"})
      expect_same_at_page_end(x + same + op + "(%x, %z) }");
    expect_same_at_page_end(x + "%y: f32[1," + std::to_string(2 * std::stoi(channels)) +
                            ",8,6] = Concat(%x, %z) {axis=1} }");
    expect_same_at_page_end(one + "constant %p = i64[8]{0, 0, 1, 1, 0, 0, 1, 1} %y: f32[1," + channels +
                            ",10,8] = Pad(%x, %p) }");
  }
}

}  // namespace
}  // namespace collage::test
