// Kernels with open dimensions: numbers at many sizes, which kernel a shape gets, and what is refused.
#include <algorithm>
#include <thread>

#include "backend/extensions/open_compiler.h"
#include "native_fixture.h"
#include "program.h"
#include "tests/support/long_run.h"

namespace collage::test {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

/// The text with extents in place of names: "$M" is a dimension.
std::string at(std::string text, const Sizes& sizes) {
  for (std::size_t place = text.find('$'); place != std::string::npos; place = text.find('$', place)) {
    const std::size_t end = text.find_first_of(",]+-/*", place);
    const std::string name = text.substr(place + 1, end - place - 1);
    text.replace(place, end - place, sizes.empty() ? name : std::to_string(sizes.at(name)));
  }
  return text;
}

/// An open region: its results have no extents, as after shape inference.
struct OpenCase {
  std::string text;  ///< with "$M" for dimensions, and the same for results
  ShapeDomain domain;
  bool is_nhwc = false;

  [[nodiscard]] Graph open() const { return graph_of(at(text, {})); }
  [[nodiscard]] Graph closed(const Sizes& sizes) const { return graph_of(at(text, sizes)); }
};

Variant formats_of(const Graph& graph, bool is_nhwc) {
  const Region region = region_of(graph);
  const auto format = [&](ValueId id) {
    return is_nhwc && graph.value(id).type.shape->size() >= 3 ? channels_last() : plain();
  };
  Variant variant;
  for (const ValueId id : region.inputs) variant.input_formats.push_back(format(id));
  for (const ValueId id : region.outputs) variant.output_formats.push_back(format(id));
  return variant;
}

OpenRequest open_request(const OpenCase& one, const Graph& graph) {
  return {.graph = &graph, .region = region_of(graph), .formats = formats_of(graph, one.is_nhwc), .domain = one.domain};
}

OpenCompiler& compiler() { return *extension_of<OpenCompiler>(compiling()); }

std::vector<std::string> names_of(const OpenCase& one, const Graph& graph, const CompileOptions& options = {}) {
  const auto offered = compiler().candidates(open_request(one, graph), options);
  COLLAGE_CHECK(offered.has_value(), offered ? "" : offered.error().detail);
  return *offered;
}

/// One for every shape and one with a guard.
std::vector<std::string> two_names(const OpenCase& one, const Graph& graph) {
  const std::vector<std::string> names = names_of(one, graph);
  return {names.front(), names.back()};
}

/// A set in this process. `graph` outlives it.
struct LoadedSet {
  std::vector<std::string> names;
  Artifact artifact;
  std::unique_ptr<Kernel> kernel;
  [[nodiscard]] const MultiKernel& kernels() const { return *kernel->as_open()->as_multi(); }
};

LoadedSet loaded(const OpenCase& one, const Graph& graph, std::vector<std::string> names = {},
                 const std::vector<KernelCase>& cases = {}, const CompileOptions& options = {}) {
  const OpenRequest request = open_request(one, graph);
  if (names.empty()) names = names_of(one, graph, options);
  const auto artifact = compiler().compile_set(request, names, cases, options);
  COLLAGE_CHECK(artifact.has_value(), artifact ? "" : artifact.error().detail);
  LoadedSet set{.names = std::move(names), .artifact = *artifact, .kernel = nullptr};
  auto kernel = loading().load(request_of(graph, request.formats, set.artifact, options.threads));
  COLLAGE_CHECK(kernel.has_value(), kernel ? "" : to_string(kernel.error()));
  set.kernel = *std::move(kernel);
  return set;
}

std::vector<Extents> extents_of(const Graph& closed) {
  std::vector<Extents> extents;
  for (const ValueId id : region_of(closed).inputs) extents.push_back(closed.value(id).type.extents());
  return extents;
}

/// One kernel of a set at one shape, for run_kernel().
class AtShape final : public Kernel {
 public:
  AtShape(const MultiKernel& kernels, std::size_t which, std::vector<Extents> extents)
      : kernels_(kernels), which_(which), extents_(std::move(extents)) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return kernels_.bind_one(which_, buffers, extents_);
  }

 private:
  const MultiKernel& kernels_;
  std::size_t which_;
  std::vector<Extents> extents_;
};

/// Every kernel that serves the sizes computes what the reference does. The number of kernels that did.
std::size_t expect_right_at(const OpenCase& one, const LoadedSet& set, const Sizes& sizes) {
  const Graph closed = one.closed(sizes);
  const std::vector<Tensor> expected = expected_of(closed);
  const std::vector<Extents> extents = extents_of(closed);
  std::size_t served = 0;
  for (std::size_t k = 0; k < set.kernels().size(); ++k) {
    if (!set.kernels().serves(k, extents)) continue;
    SCOPED_TRACE(set.names[k] + " of " + to_text(closed));
    const auto seen = run_kernel(AtShape(set.kernels(), k, extents), closed, formats_of(closed, one.is_nhwc),
                                 set.artifact.workspace_bytes);
    const bool transforms = set.names[k].starts_with("winograd");
    EXPECT_EQ(difference(seen, expected, transforms ? Accuracy::kStandard : Accuracy::kStrict), "");
    ++served;
  }
  return served;
}

void expect_right_everywhere(const OpenCase& one, const std::vector<Sizes>& points,
                             const CompileOptions& options = {}) {
  const Graph graph = one.open();
  // The first takes every shape.
  const LoadedSet set = loaded(one, graph, sample_of(names_of(one, graph, options), 4), {}, options);
  for (const Sizes& sizes : points) EXPECT_GT(expect_right_at(one, set, sizes), 0U);
  EXPECT_EQ(expect_right_at(one, set, points.back()), set.names.size()) << "the largest shape fits every kernel";
}

const ShapeDomain kRows{.dimensions = {{.name = "M", .low = 1, .high = 100}}};
const ShapeDomain kMaps{.dimensions = {{.name = "B", .low = 1, .high = 3}, {.name = "S", .low = 1, .high = 48}}};

const OpenCase kProduct{
    .text =
        "graph(%a: f32[$M,24], %w: f32[24,19], %wb: f32[19]) -> (%y) { %m: f32[$M,19] = MatMul(%a, %w) "
        "%s: f32[$M,19] = Add(%m, %wb) %y: f32[$M,19] = Relu(%s) }",
    .domain = kRows};
const OpenCase kConvolution{
    .text =
        "graph(%x: f32[$B,8,$S,$S], %w: f32[32,8,3,3], %wb: f32[32], %r: f32[$B,32,$S,$S]) -> (%y) { "
        "%c: f32[$B,32,$S,$S] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} "
        "%s: f32[$B,32,$S,$S] = Add(%c, %r) %y: f32[$B,32,$S,$S] = Relu(%s) }",
    .domain = kMaps,
    .is_nhwc = true};

const std::vector<Sizes> kRowPoints = {{{"M", 1}},  {{"M", 2}},  {{"M", 7}},  {{"M", 13}},
                                       {{"M", 14}}, {{"M", 29}}, {{"M", 64}}, {{"M", 100}}};
const std::vector<Sizes> kMapPoints = {{{"B", 1}, {"S", 1}},  {{"B", 2}, {"S", 3}},  {{"B", 1}, {"S", 13}},
                                       {{"B", 3}, {"S", 17}}, {{"B", 1}, {"S", 28}}, {{"B", 3}, {"S", 48}}};

TEST(OpenKernels, OfAProductAreRightAtEverySize) { expect_right_everywhere(kProduct, kRowPoints); }

TEST(OpenKernels, OfAProductAreRightWithTwoThreads) {
  expect_right_everywhere(kProduct, {{{"M", 1}}, {{"M", 31}}, {{"M", 100}}}, {.threads = 2});
}

TEST(OpenKernels, OfAConvolutionAreRightAtEverySize) { expect_right_everywhere(kConvolution, kMapPoints); }

TEST(OpenKernels, OfAConvolutionAreRightWithTwoThreads) {
  expect_right_everywhere(kConvolution, {{{"B", 1}, {"S", 5}}, {{"B", 3}, {"S", 48}}}, {.threads = 2});
}

TEST(OpenKernels, RowsOfSeveralOpenAxesAreOneLoop) {
  expect_right_everywhere({.text = "graph(%a: f32[$B,$S,24], %w: f32[24,16], %r: f32[$B,$S,16]) -> (%y) { "
                                   "%m: f32[$B,$S,16] = MatMul(%a, %w) %y: f32[$B,$S,16] = Add(%m, %r) }",
                           .domain = kMaps},
                          kMapPoints);
}

TEST(OpenKernels, OfAGemmByTransposedFactorsAreRight) {
  expect_right_everywhere({.text = "graph(%a: f32[24,$M], %w: f32[32,24], %wc: f32[32]) -> (%y) { "
                                   "%y: f32[$M,32] = Gemm(%a, %w, %wc) {alpha=0.5, beta=2.0, transA=1, transB=1} }",
                           .domain = kRows},
                          kRowPoints);
}

TEST(OpenKernels, OfAPointwiseConvolutionAreRight) {
  expect_right_everywhere({.text = "graph(%x: f32[$B,8,$S,$S], %w: f32[32,8,1,1]) -> (%y) { "
                                   "%c: f32[$B,32,$S,$S] = Conv(%x, %w) {kernel_shape=[1,1]} "
                                   "%y: f32[$B,32,$S,$S] = Relu(%c) }",
                           .domain = kMaps,
                           .is_nhwc = true},
                          kMapPoints);
}

TEST(OpenKernels, OfAWinogradConvolutionAreRight) {
  const OpenCase one{
      .text =
          "graph(%x: f32[$B,16,$S,$S], %w: f32[32,16,3,3], %wb: f32[32], %r: f32[$B,32,$S,$S]) -> (%y) { "
          "%c: f32[$B,32,$S,$S] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} "
          "%y: f32[$B,32,$S,$S] = Add(%c, %r) }",
      .domain = kMaps,
      .is_nhwc = true};
  const Graph graph = one.open();
  std::vector<std::string> names = names_of(one, graph);
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("winograd"); });
  ASSERT_EQ(names.size(), 8U);
  const LoadedSet set = loaded(one, graph, sample_of(names, 4));
  EXPECT_GT(set.artifact.workspace_bytes, 0U);
  for (const Sizes& sizes : kMapPoints) EXPECT_EQ(expect_right_at(one, set, sizes), set.names.size());
}

// Whether the last window reaches into the padding depends on the size: it does at odd ones here, not at even ones.
TEST(OpenKernels, PadTheEndOfSizesThatNeedIt) {
  std::vector<Sizes> points;
  for (const std::int64_t size : {4, 5, 6, 7, 16, 31, 32, 48})
    points.push_back({{"B", 2}, {"S", size}, {"T", (size + 1 - 3) / 2 + 1}});
  expect_right_everywhere({.text = "graph(%x: f32[$B,8,$S,$S], %w: f32[16,8,3,3]) -> (%y) { "
                                   "%y: f32[$B,16,$T,$T] = Conv(%x, %w) {kernel_shape=[3,3], pads=[0,0,1,1], "
                                   "strides=[2,2]} }",
                           .domain = {.dimensions = {{"B", 1, 3}, {"S", 4, 48}}},
                           .is_nhwc = true},
                          points);
}

TEST(OpenKernels, OfDilatedAndSamePaddedConvolutionsAreRight) {
  std::vector<Sizes> points;
  for (const std::int64_t size : {5, 6, 11, 30, 63}) points.push_back({{"S", size}, {"T", size - 4}});
  expect_right_everywhere({.text = "graph(%x: f32[1,8,$S], %w: f32[16,8,3]) -> (%y) { "
                                   "%y: f32[1,16,$T] = Conv(%x, %w) {kernel_shape=[3], dilations=[2]} }",
                           .domain = {.dimensions = {{"S", 5, 64}}},
                           .is_nhwc = true},
                          points);
  expect_right_everywhere({.text = "graph(%x: f32[1,8,$S,6], %w: f32[16,8,2,2]) -> (%y) { "
                                   "%y: f32[1,16,$S,6] = Conv(%x, %w) {auto_pad=\"SAME_UPPER\", kernel_shape=[2,2]} }",
                           .domain = {.dimensions = {{"S", 1, 64}}},
                           .is_nhwc = true},
                          {{{"S", 1}}, {{"S", 2}}, {{"S", 19}}, {{"S", 64}}});
}

TEST(OpenKernels, OfElementWiseWorkAreRight) {
  expect_right_everywhere({.text = "graph(%a: f32[$B,3,$S], %b: f32[$B,3,$S], %w: f32[3,1]) -> (%y, %z) { "
                                   "%s: f32[$B,3,$S] = Add(%a, %b) %y: f32[$B,3,$S] = Mul(%s, %w) "
                                   "%z: bool[$B,3,$S] = Less(%a, %s) }",
                           .domain = kMaps},
                          kMapPoints);
  expect_right_everywhere({.text = "graph(%a: f32[$M,7]) -> (%y) { %y: f32[$M,7] = Sigmoid(%a) }", .domain = kRows},
                          kRowPoints);
}

// ---- which kernel -------------------------------------------------------------------------------------------------
TEST(OpenKernels, TakeTheCaseOfAShapeAtItsBorders) {
  const Graph graph = kProduct.open();
  const std::vector<std::string> names = names_of(kProduct, graph);
  const std::string guarded = "packed.plain/rows=1,tile_c=1,tile_x=9,unroll=4";
  const LoadedSet set = loaded(kProduct, graph, {names[0], guarded, names[1]},
                               {{.low = {5}, .high = {40}, .kernel = 1}, {.low = {30}, .high = {50}, .kernel = 2}});
  const auto choice = [&](std::int64_t rows) { return *set.kernels().choice(std::vector<Extents>{{rows, 24}}); };
  EXPECT_EQ(choice(4), 0U);
  EXPECT_EQ(choice(5), 0U);
  EXPECT_EQ(choice(8), 0U) << "its guard does not hold";
  EXPECT_EQ(choice(9), 1U);
  EXPECT_EQ(choice(40), 1U);
  EXPECT_EQ(choice(41), 2U);
  EXPECT_EQ(choice(50), 2U);
  EXPECT_EQ(choice(51), 0U);
  EXPECT_EQ(choice(100), 0U);
}

TEST(OpenKernels, MakeTheirOwnOutputs) {
  const Graph graph = kProduct.open();
  const LoadedSet set = loaded(kProduct, graph, two_names(kProduct, graph));
  const Graph closed = kProduct.closed({{"M", 29}});
  const std::vector<Tensor> inputs = inputs_of(closed);
  std::vector<std::byte> workspace(set.artifact.workspace_bytes + 1);
  const Buffers buffers{.inputs = {inputs[0].data.data()}, .outputs = {nullptr}, .workspace = workspace.data()};
  const auto call = set.kernels().bind_at(buffers, extents_of(closed));
  ASSERT_TRUE(call) << to_string(call.error());
  ASSERT_TRUE((*call)->run());
  const auto made = (*call)->dynamic_output(0);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->extents, (Extents{29, 19}));
  const Tensor seen{.type = made->type,
                    .extents = made->extents,
                    .data = Buffer::copy_of({static_cast<const std::byte*>(made->data), 29 * 19 * 4}),
                    .strings = {}};
  EXPECT_EQ(difference({seen}, expected_of(closed), Accuracy::kStrict), "");
}

TEST(OpenKernels, RunTwoShapesFromTwoThreadsAtOnce) {
  const Graph graph = kConvolution.open();
  const LoadedSet set = loaded(kConvolution, graph, two_names(kConvolution, graph));
  const auto work = [&](const Graph& closed, const std::vector<Tensor>& expected, std::string& problem) {
    for (int i = 0; i < 5 && problem.empty(); ++i)
      problem = difference(run_kernel(AtShape(set.kernels(), 0, extents_of(closed)), closed, formats_of(closed, true),
                                      set.artifact.workspace_bytes),
                           expected, Accuracy::kStrict);
  };
  std::string first;
  std::string second;
  const Graph small = kConvolution.closed({{"B", 2}, {"S", 17}});
  const Graph large = kConvolution.closed({{"B", 1}, {"S", 30}});
  // Expected before: the reference is asked by one thread at a time.
  const std::vector<Tensor> of_small = expected_of(small);
  const std::vector<Tensor> of_large = expected_of(large);
  std::thread other([&] { work(small, of_small, first); });
  work(large, of_large, second);
  other.join();
  EXPECT_EQ(first, "");
  EXPECT_EQ(second, "");
}

TEST(OpenKernels, ShareOneObjectAndTheWeightsOfEqualTiles) {
  const Graph graph = kProduct.open();
  const LoadedSet set = loaded(kProduct, graph);
  const auto stored = native::program_of(set.artifact.bytes);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->codes.size(), 1U);
  EXPECT_EQ(stored->program.set->members.size(), set.names.size());
  EXPECT_LT(stored->program.constants.size(), set.names.size()) << "parts are shared";
}

TEST(OpenKernels, OfTheSameRegionAreTheSameBytes) {
  const Graph graph = kProduct.open();
  const std::vector<std::string> names = two_names(kProduct, graph);
  const Artifact first = loaded(kProduct, graph, names).artifact;
  EXPECT_EQ(two_names(kProduct, graph), names);
  EXPECT_EQ(loaded(kProduct, graph, names).artifact, first);
}

TEST(OpenKernels, OfLesserProcessorsAreInTheSameArtifact) {
  const Graph graph = kProduct.open();
  const LoadedSet set = loaded(kProduct, graph, two_names(kProduct, graph), {}, {.portable = true});
  const auto stored = native::program_of(set.artifact.bytes);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->program.codes.back().instruction_set, native::baseline_instruction_set().name);
  const Variant formats = formats_of(graph, false);
  const auto kernel = loading("native:isa=avx2").load(request_of(graph, formats, set.artifact));
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  const Graph closed = kProduct.closed({{"M", 33}});
  const auto seen = run_kernel(AtShape(*(*kernel)->as_open()->as_multi(), 0, extents_of(closed)), closed, formats,
                               set.artifact.workspace_bytes);
  EXPECT_EQ(difference(seen, expected_of(closed), Accuracy::kStrict), "");
}

TEST(OpenKernels, AreWhatCompileMakesOfAnOpenRegion) {
  const Graph graph = kProduct.open();
  const Variant variant = variants_of(compiling(), graph).front();
  const Artifact artifact = artifact_of(compiling(), graph, variant);
  const Variant formats = formats_of(graph, false);
  const auto kernel = loading().load(request_of(graph, formats, artifact));
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  for (const std::int64_t rows : {1, 77, 5000}) {
    const Graph closed = kProduct.closed({{"M", rows}});
    const auto seen = run_kernel(AtShape(*(*kernel)->as_open()->as_multi(), 0, extents_of(closed)), closed, formats,
                                 artifact.workspace_bytes);
    EXPECT_EQ(difference(seen, expected_of(closed), Accuracy::kStrict), "") << rows;
  }
}

// ---- refusals -----------------------------------------------------------------------------------------------------
std::string refusal_of(const std::string& text, const ShapeDomain& domain) {
  const OpenCase one{.text = text, .domain = domain};
  const Graph graph = one.open();
  const auto names = compiler().candidates(open_request(one, graph), {});
  return names ? "" : std::string(name_of(names.error().reason)) + ": " + names.error().detail;
}

TEST(OpenKernels, MoveToOtherInputsAndToNoRowsAtAll) {
  const Graph graph = kProduct.open();
  const Variant variant = variants_of(compiling(), graph).front();
  const Artifact artifact = artifact_of(compiling(), graph, variant);
  const auto kernel = loading().load(request_of(graph, formats_of(graph, false), artifact));
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  std::unique_ptr<Call> call;
  for (const std::int64_t rows : {7, 0, 300, 7}) {
    const Graph closed = kProduct.closed({{"M", rows > 0 ? rows : 1}});
    const std::vector<Tensor> inputs = inputs_of(closed);
    std::vector<Extents> extents = extents_of(closed);
    extents[0][0] = rows;
    std::vector<const void*> addresses;
    for (const Tensor& input : inputs) addresses.push_back(input.data.data());
    if (call == nullptr) {
      auto bound = (*kernel)->as_open()->bind_at({.inputs = addresses, .outputs = {nullptr}}, extents);
      ASSERT_TRUE(bound) << to_string(bound.error());
      call = std::move(*bound);
    } else {
      EXPECT_TRUE(call->move_inputs(addresses, extents).value());
    }
    ASSERT_TRUE(call->run());
    const DynamicOutput made = call->dynamic_output(0).value();
    EXPECT_EQ(made.extents.front(), rows);
    if (rows == 0) continue;
    const Tensor seen{
        .type = made.type,
        .extents = made.extents,
        .data = Buffer::copy_of({static_cast<const std::byte*>(made.data), byte_count(made.type, made.extents)}),
        .strings = {}};
    EXPECT_EQ(difference({seen}, expected_of(closed), Accuracy::kStrict), "") << rows;
  }
}

TEST(OpenKernels, AreRefusedForWhatCannotBeOpen) {
  EXPECT_EQ(refusal_of("graph(%a: f32[$M,8]) -> (%y) { %y: f32[8,$M] = Transpose(%a) {perm=[1,0]} }", kRows),
            "shape: Transpose with open dimensions");
  EXPECT_EQ(refusal_of("graph(%a: f32[$M,8]) -> (%y) { %y: f32[$M,8] = Softmax(%a) {axis=-1} }", kRows),
            "shape: no implementation of rows has open dimensions");
  EXPECT_EQ(refusal_of("graph(%a: f32[$M,8], %b: f32[$N,8]) -> (%y) { %y: f32[$M,8] = Add(%a, %b) }",
                       {.dimensions = {{"M", 1, 9}, {"N", 1, 9}}}),
            "shape: Add over dimensions that may differ");
  EXPECT_EQ(refusal_of("graph(%a: f32[$K,8]) -> (%y) { %y: f32[$K,8] = Relu(%a) }", kRows),
            "shape: an open dimension without a range: f32[K,8]");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,$M], %w: f32[8,8]) -> (%y) { %y: f32[2,8] = MatMul(%a, %w) }", kRows),
            "shape: MatMul with open dimensions to sum over");
  EXPECT_EQ(refusal_of("graph(%a: f32[2,8]) -> (%y) { %y: f32[2,8] = Relu(%a) }", kRows), "shape: no open dimension");
}

TEST(OpenKernels, RefuseInputsThatDoNotFit) {
  const Graph graph = kConvolution.open();
  const LoadedSet set = loaded(kConvolution, graph, two_names(kConvolution, graph));
  const auto code_of = [&](const std::vector<Extents>& extents) {
    const auto choice = set.kernels().choice(extents);
    return choice ? "" : choice.error().code;
  };
  EXPECT_EQ(code_of({{1, 8, 5, 5}, {1, 32, 5, 5}}), "");
  EXPECT_EQ(code_of({{1, 8, 5, 5}}), "input/wrong-shape");
  EXPECT_EQ(code_of({{1, 8, 5}, {1, 32, 5, 5}}), "input/wrong-shape");
  EXPECT_EQ(code_of({{1, 8, 5, 6}, {1, 32, 5, 5}}), "input/wrong-shape");
  EXPECT_EQ(code_of({{1, 8, 5, 5}, {2, 32, 5, 5}}), "input/wrong-shape");
  EXPECT_EQ(code_of({{1, 8, 49, 49}, {1, 32, 49, 49}}), "shape/outside");
  EXPECT_EQ(code_of({{1, 8, 0, 0}, {1, 32, 0, 0}}), "shape/outside");
}

TEST(OpenKernels, RefuseCasesAndKernelsThatAreNone) {
  const Graph graph = kProduct.open();
  const OpenRequest request = open_request(kProduct, graph);
  const std::vector<std::string> names = names_of(kProduct, graph);
  const auto compiled = [&](const std::vector<std::string>& kernels, const std::vector<KernelCase>& cases) {
    const auto made = compiler().compile_set(request, kernels, cases, {});
    return made ? "" : made.error().detail;
  };
  EXPECT_EQ(compiled({names[0]}, {{.low = {1}, .high = {4}, .kernel = 1}}), "a case that is none of this domain");
  EXPECT_EQ(compiled({names[0]}, {{.low = {1, 1}, .high = {4, 4}, .kernel = 0}}), "a case that is none of this domain");
  EXPECT_EQ(compiled({"packed.plain/tile_x=4"}, {}).substr(0, 8), "packed.p");
  EXPECT_EQ(compiled({names.back()}, {}), "no kernel that takes every shape") << names.back();
}

}  // namespace
}  // namespace collage::test
