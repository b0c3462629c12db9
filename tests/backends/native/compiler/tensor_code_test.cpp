// The loops that strategies write, as text: golden files show what a change does to them.
// COLLAGE_UPDATE_GOLDEN=1 writes the files anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "compiler/selection/strategy.h"
#include "tests/backends/native/compiler/code_text.h"
#include "tests/support/paths.h"

namespace collage::native {
namespace {

constexpr const char* kRelu =
    "graph(%a: f32[2,8,5], %b: f32[8,1]) -> (%y) { %s: f32[2,8,5] = Add(%a, %b) %y: f32[2,8,5] = Relu(%s) }";
constexpr const char* kPointwise =
    "graph(%x: f32[1,16,4,4], %w: f32[16,16,1,1]) -> (%y) { %c: f32[1,16,4,4] = Conv(%x, %w) {kernel_shape=[1,1]} "
    "%y: f32[1,16,4,4] = Relu(%c) }";

Graph graph_of(const std::string& text) {
  Graph graph = *parse_graph(text);
  graph.opsets[""] = 26;
  for (const ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (!value.name.starts_with('w')) continue;
    const Extents extents = value.type.extents();
    value.constant = make_tensor(ElementType::kFloat32, extents,
                                 std::vector<float>(static_cast<std::size_t>(element_count(extents)), 1.F));
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

constexpr const char* kOpenProduct =
    "graph(%a: f32[M,24], %w: f32[24,32]) -> (%y) { %m: f32[M,32] = MatMul(%a, %w) %y: f32[M,32] = Relu(%m) }";
constexpr const char* kOpenConvolution =
    "graph(%x: f32[B,8,S,S], %w: f32[16,8,3,3]) -> (%y) { %c: f32[B,16,T,T] = Conv(%x, %w) {kernel_shape=[3,3], "
    "pads=[1,1,1,1], strides=[2,2]} %y: f32[B,16,T,T] = Relu(%c) }";

/// The code with open dimensions, written at a point.
std::string open_text_of(const std::string& text, const std::string& variant, const Extents& point, bool serves_all,
                         const Format& format = plain()) {
  const Graph graph = graph_of(text);
  const Region region = whole_region(graph, uses_of(graph));
  const auto open = open_region_of(graph, region, any_extents(graph, region));
  COLLAGE_CHECK(open.has_value(), open ? "" : open.error().detail);
  const Graph at = graph_at(graph, *open, point);
  const InstructionSet& set = *instruction_set_of("avx2");
  auto site = dissect(at, region, {}, set);
  COLLAGE_CHECK(site.has_value(), site ? "" : site.error().detail);
  site->is_open = true;
  const auto code = tensor_code_of(*site, {.name = variant, .input_formats = {format}, .output_formats = {format}},
                                   "kernel", {.region = &*open, .serves_all = serves_all});
  COLLAGE_CHECK(code.has_value(), code ? "" : code.error().detail);
  return to_text(*code, set);
}

/// The code of the best variant in avx2.
std::string text_of(const std::string& text, int threads = 1) {
  const Graph graph = graph_of(text);
  const Region region = whole_region(graph, uses_of(graph));
  const CompileOptions options{.threads = threads};
  const InstructionSet& set = *instruction_set_of("avx2");
  const auto site = dissect(graph, region, options, set);
  COLLAGE_CHECK(site.has_value(), site ? "" : site.error().detail);
  const auto variants = variants_of(*site);
  COLLAGE_CHECK(variants.has_value(), variants ? "" : variants.error().detail);
  const auto code = tensor_code_of(*site, variants->front(), "kernel");
  COLLAGE_CHECK(code.has_value(), code ? "" : code.error().detail);
  return variants->front().name + '\n' + to_text(*code, set);
}

/// Halide numbers the names it makes through the whole process ("sum$3", "t56"); here they are numbered through the
/// text, the first of a name without a number.
std::string with_own_numbers(const std::string& text) {
  static const std::regex word(R"(([A-Za-z_][A-Za-z_0-9]*)(\$[0-9]+)?)");
  static const std::regex temporary("t[0-9]+");
  std::map<std::string, std::map<std::string, std::size_t>> known;
  std::string out;
  auto from = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), word), end; match != end; ++match) {
    const bool is_temporary = std::regex_match((*match)[1].str(), temporary);
    const std::string stem = is_temporary ? "t" : (*match)[1].str();
    auto& numbers = known[stem];
    const std::size_t number = numbers.try_emplace((*match)[0], numbers.size()).first->second;
    out.append(from, (*match)[0].first).append(stem);
    if (is_temporary || number > 0) out.append(is_temporary ? "" : "$").append(std::to_string(number));
    from = (*match)[0].second;
  }
  return out.append(from, text.cend());
}

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = test::source_path("/tests/backends/native/compiler/golden/") + name;
  if (std::getenv("COLLAGE_UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(golden.str(), text) << path << ": COLLAGE_UPDATE_GOLDEN=1 takes the new text";
}

TEST(TensorCode, OfASumWithReluIsOnePassOverMemory) {
  expect_golden("relu_of_sum.txt", with_own_numbers(text_of(kRelu)));
}

TEST(TensorCode, OfAPointwiseConvolutionKeepsItsTileInRegisters) {
  expect_golden("pointwise_convolution.txt", with_own_numbers(text_of(kPointwise)));
}

TEST(TensorCode, OfAProductOfOpenRowsSaysWhatItNeeds) {
  expect_golden("open_product.txt", with_own_numbers(open_text_of(
                                        kOpenProduct, "packed.plain/rows=1,tile_c=2,tile_x=4,unroll=2", {64}, false)));
}

// No extent of the point at which code is written may stand in it.
TEST(TensorCode, OfOpenDimensionsIsTheSameWhereverItIsWritten) {
  for (const bool serves_all : {false, true}) {
    const auto product = [&](std::int64_t rows) {
      return with_own_numbers(
          open_text_of(kOpenProduct, "packed.plain/rows=0,tile_c=2,tile_x=4,unroll=2", {rows}, serves_all));
    };
    EXPECT_EQ(product(64), product(117));
    const auto convolution = [&](const Extents& point) {
      return with_own_numbers(open_text_of(kOpenConvolution, "direct.nhwc/rows=0,tile_c=1,tile_x=5,unroll=4", point,
                                           serves_all, channels_last()));
    };
    EXPECT_EQ(convolution({64, 64}), convolution({70, 131}));
  }
}

TEST(TensorCode, IsTheSameTextForTheSameCode) {
  EXPECT_EQ(with_own_numbers(text_of(kPointwise)), with_own_numbers(text_of(kPointwise)));
  EXPECT_NE(with_own_numbers(text_of(kPointwise)), with_own_numbers(text_of(kRelu)));
}

TEST(TensorCode, HasAParallelLoopWithThreadsOnly) {
  EXPECT_EQ(text_of(kPointwise).find("parallel"), std::string::npos);
  EXPECT_NE(text_of(kPointwise, 2), text_of(kPointwise));
}

}  // namespace
}  // namespace collage::native
