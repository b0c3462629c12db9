// Every row of the compiler's table of strategies, under each condition that selects it, computes what it should.
// A row without a case fails: the table below is where to add one.
#include <dlfcn.h>

#include <map>
#include <set>

#include "compiler_interface.h"
#include "native_fixture.h"

namespace collage::test {
namespace {

/// A region whose variants must include the implementation.
struct Case {
  std::string row;  ///< "family/implementation"
  std::string text;
};

// clang-format off
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"elementwise/flat", "graph(%a: f32[2,8,5,3], %b: f32[8,1,1]) -> (%y) { %s: f32[2,8,5,3] = Add(%a, %b) %y: f32[2,8,5,3] = Relu(%s) }"},
      {"elementwise/flat", "graph(%a: i32[7], %b: i32[7]) -> (%y, %z) { %y: i32[7] = Mul(%a, %b) %z: bool[7] = Less(%y, %a) }"},
      {"convolution/winograd4", "graph(%x: f32[1,32,13,11], %w: f32[48,32,3,3], %wb: f32[48]) -> (%y) { %y: f32[1,48,13,11] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/winograd4", "graph(%x: f32[2,16,10,10], %w: f32[16,16,3,3]) -> (%y) { %y: f32[2,16,8,8] = Conv(%x, %w) {kernel_shape=[3,3]} }"},
      {"convolution/winograd2", "graph(%x: f32[2,32,5,6], %w: f32[32,32,3,3]) -> (%y) { %c: f32[2,32,5,6] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[2,32,5,6] = Relu(%c) }"},
      {"convolution/depthwise", "graph(%x: f32[1,20,9,9], %w: f32[20,1,3,3], %wb: f32[20]) -> (%y) { %y: f32[1,20,5,5] = Conv(%x, %w, %wb) {group=20, kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"convolution/direct", "graph(%x: f32[1,5,9,8], %w: f32[7,5,3,2]) -> (%y) { %y: f32[1,7,9,7] = Conv(%x, %w) {kernel_shape=[3,2], pads=[1,0,1,0]} }"},
      {"convolution/direct", "graph(%x: f32[1,8,6,6], %w: f32[64,4,1,1]) -> (%y) { %y: f32[1,64,6,6] = Conv(%x, %w) {group=2, kernel_shape=[1,1]} }"},
      {"convolution/direct", "graph(%x: f32[1,16,3,1,1], %w: f32[33,16,1,1,1]) -> (%y) { %y: f32[1,33,3,1,1] = Conv(%x, %w) {kernel_shape=[1,1,1], strides=[1,2,2]} }"},
      {"product/packed", "graph(%a: f32[2,7,24], %w: f32[24,17]) -> (%y) { %y: f32[2,7,17] = MatMul(%a, %w) }"},
      {"product/packed", "graph(%a: f32[24,7], %w: f32[17,24], %wb: f32[17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %w, %wb) {alpha=0.5, beta=2.0, transA=1, transB=1} }"},
      {"batch_product/batched", "graph(%a: f32[2,3,7,24], %b: f32[2,3,24,17]) -> (%y) { %y: f32[2,3,7,17] = MatMul(%a, %b) }"},
      {"movement/gathered", "graph(%a: f32[2,6,5]) -> (%y) { %t: f32[5,2,6] = Transpose(%a) {perm=[2,0,1]} %y: f32[5,2,6] = Relu(%t) }"},
      {"movement/gathered", "graph(%a: f32[2,3,4,4], %b: f32[2,5,4,4]) -> (%y) { %y: f32[2,8,4,4] = Concat(%a, %b) {axis=1} }"},
      {"pooling/windows", "graph(%x: f32[1,20,9,9]) -> (%y) { %y: f32[1,20,5,5] = MaxPool(%x) {kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"pooling/windows", "graph(%x: f32[1,20,9,9]) -> (%y) { %y: f32[1,20,9,9] = AveragePool(%x) {kernel_shape=[5,5], pads=[2,2,2,2]} }"},
      {"rows/rows", "graph(%x: f32[3,7,19]) -> (%y) { %y: f32[3,7,19] = Softmax(%x) {axis=-1} }"},
      {"rows/rows", "graph(%x: f32[3,7,19], %w: f32[19], %wb: f32[19]) -> (%y) { %y: f32[3,7,19] = LayerNormalization(%x, %w, %wb) {axis=-1} }"},
      {"rows/rows", "graph(%x: f32[5,1,6,3]) -> (%y) { constant %axes = i64[1]{3} %y: f32[5,1,6] = ReduceMax(%x, %axes) {keepdims=0} }"},
      {"rows/strips", "graph(%x: f32[2,20,6,5]) -> (%y) { %y: f32[2,20,1,1] = GlobalAveragePool(%x) }"},
      {"rows/strips", "graph(%x: f32[2,20,6,5]) -> (%y) { %y: f32[2,20,6,5] = Softmax(%x) {axis=1} }"},
  };
  return all;
}
// clang-format on

/// The compiler, opened beside the module as the module does.
const native::CompilerTable& table() {
  static const native::CompilerTable* const opened = [] {
    void* handle = ::dlopen(COLLAGE_BUILD_DIR "/lib/collage/libcollage_native_compiler.so", RTLD_NOW | RTLD_LOCAL);
    COLLAGE_CHECK(handle != nullptr, ::dlerror());
    return reinterpret_cast<native::CompilerEntry>(::dlsym(handle, native::kCompilerSymbol))();
  }();
  return *opened;
}

std::string row_of(const native::StrategyLine& line) { return line.family + '/' + line.implementation; }

TEST(Strategies, HaveACaseForEachRow) {
  std::set<std::string> known;
  for (const Case& one : cases()) known.insert(one.row);
  for (const native::StrategyLine& line : table().strategies())
    EXPECT_TRUE(known.contains(row_of(line))) << row_of(line) << ", when " << line.condition << ": add a case";
}

TEST(Strategies, HaveRowsWithNamesOfTheirOwn) {
  std::map<std::string, int> count;
  for (const native::StrategyLine& line : table().strategies()) {
    EXPECT_FALSE(line.condition.empty()) << row_of(line);
    EXPECT_EQ(line.implementation.find_first_of("./"), std::string::npos) << "variants are named by it";
    EXPECT_EQ(++count[row_of(line)], 1) << row_of(line);
  }
  EXPECT_THAT(std::string(table().version), testing::HasSubstr("Halide"));
}

class Strategy : public testing::TestWithParam<std::size_t> {};

TEST_P(Strategy, IsOfferedAndRightInEveryVariant) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const Case& one = cases()[GetParam()];
  const std::string implementation = one.row.substr(one.row.find('/') + 1) + '.';
  for (const std::string instance : {"native", "native:isa=avx2"}) {
    const std::vector<std::string> names = expect_right(one.text, {}, instance);
    EXPECT_THAT(names, testing::Contains(testing::StartsWith(implementation))) << one.text;
  }
  expect_right(one.text, {.threads = 2});
}

INSTANTIATE_TEST_SUITE_P(Cases, Strategy, testing::Range(std::size_t{0}, cases().size()),
                         [](const testing::TestParamInfo<std::size_t>& which) {
                           std::string name = cases()[which.param].row + std::to_string(which.param);
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace collage::test
