// The ways to run each kind of head: layouts, and those implementations of the library that are offered separately.
#include <algorithm>
#include <span>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

std::string_view short_name(Layout layout) {
  switch (layout) {
    case Layout::kPlain:
      return "plain";
    case Layout::kChannelsLast:
      return "nhwc";
    case Layout::kBlocked:
      return "blocked";
  }
  return "";
}

/// Floats in a register of AVX-512.
constexpr std::int64_t kWideBlock = 16;

/// Numbers that a product sums up, and results of each row, below which splitting takes longer than it saves.
constexpr std::int64_t kLeastDepth = 64;
constexpr std::int64_t kLeastWidth = 16;

/// Padding to whole blocks must not cost more than the tensor itself.
bool fills_blocks(std::int64_t channels) { return 2 * channels >= native_block(); }

std::string_view prefix_of(Method method) {
  switch (method) {
    case Method::kInnerProduct:
      return "ip_";
    case Method::kMergedGroups:
      return "merged_";
    case Method::kSeparateBlocks:
      return "blocks_";
    case Method::kStrips:
      return "strips_";
    case Method::kOwn:
    case Method::kParts:
      break;
  }
  return "";
}

/// Kernels that oneDNN 2.6 has for AVX-512 alone: elsewhere each would be refused when it is compiled.
bool needs_avx512(std::string_view family) { return family.starts_with("br") || family.starts_with("wino"); }

/// Collects choices of one region.
struct Chooser {
  std::vector<Choice> choices = {};

  void add(std::string_view family, Layout in, Layout out, Method method = Method::kOwn) {
    if (needs_avx512(family) && native_block() < kWideBlock) return;
    std::string name(prefix_of(method));
    name += method == Method::kParts ? "parts" : family.empty() ? "direct" : family;
    name += "." + std::string(short_name(in));
    if (in != out) name += "-" + std::string(short_name(out));
    choices.push_back({.name = std::move(name),
                       .in = in,
                       .out = out,
                       .family = std::string(family),
                       .method = method,
                       .adds_in_place = false});
  }
  void add(std::string_view family, Layout layout) { add(family, layout, layout); }
};

void add_depthwise(Chooser& chooser, const ConvolutionFacts& facts) {
  chooser.add("brdgmm_dw", Layout::kChannelsLast);
  chooser.add("jit_dw", Layout::kChannelsLast);
  if (fills_blocks(facts.in_channels())) chooser.add("jit_dw", Layout::kBlocked);
}

void add_dense(Chooser& chooser, const ConvolutionFacts& facts, Accuracy accuracy) {
  const bool pointwise = is_pointwise(facts);
  const bool small_input = facts.in_channels() < 4 && facts.groups == 1;
  const std::int64_t block = native_block();
  chooser.add(pointwise ? "brgconv_1x1" : "brgconv", Layout::kChannelsLast);
  if (pointwise) chooser.add("jit_1x1", Layout::kChannelsLast);
  chooser.add("jit", Layout::kChannelsLast);
  if (small_input) chooser.add("jit", Layout::kPlain, Layout::kBlocked);
  const bool whole_groups = facts.groups == 1 ? fills_blocks(facts.in_channels()) && fills_blocks(facts.out_channels())
                                              : (facts.in_channels() / facts.groups) % block == 0 &&
                                                    (facts.out_channels() / facts.groups) % block == 0;
  if (groups_in_block(facts) > 1 && accuracy != Accuracy::kStrict)
    chooser.add("jit", Layout::kBlocked, Layout::kBlocked, Method::kMergedGroups);
  if (!whole_groups) return;
  chooser.add(pointwise ? "jit_1x1" : "jit", Layout::kBlocked);
  if (!suits_winograd(facts) || accuracy == Accuracy::kStrict) return;
  chooser.add("wino_2x3", Layout::kBlocked);
  chooser.add("wino_4x3", Layout::kBlocked);
}

/// The library's first kernel for bytes, and the one before it in its history, which is sometimes faster.
void add_bytes(Chooser& chooser, const Analysis& analysis) {
  if (analysis.is<MatMulFacts>()) {
    chooser.add("", Layout::kPlain);
    chooser.add("gemm", Layout::kPlain);
    // Inner products have no zero points.
    const ByteFacts& bytes = *analysis.bytes;
    const bool has_zeros = bytes.source.zero != 0 || (bytes.result && bytes.result->zero != 0);
    if (!has_zeros) chooser.add("brgemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
    return;
  }
  chooser.add("", Layout::kChannelsLast);
  if (native_block() < kWideBlock) return;
  chooser.add(is_pointwise(convolution_of(analysis)) ? "jit_int8_1x1" : "jit_int8", Layout::kChannelsLast);
}

void add_convolution(Chooser& chooser, const Analysis& analysis, Accuracy accuracy) {
  const ConvolutionFacts& facts = convolution_of(analysis);
  if (second_of(analysis) != nullptr) {
    if (!is_pointwise(facts) || facts.groups != 1 || facts.in.size() != 4) return;
    // oneDNN 2.6.3 computes the fused pair wrongly in channels_last.
    if (fills_blocks(facts.in_channels()) && fills_blocks(facts.out_channels()))
      chooser.add("jit_1x1", Layout::kBlocked);
    return;
  }
  if (facts.is_depthwise())
    add_depthwise(chooser, facts);
  else
    add_dense(chooser, facts, accuracy);
  chooser.add("gemm", Layout::kPlain);
  if (!is_pointwise(facts) || facts.groups != 1 || !is_one_pixel(facts.in) || !is_one_pixel(facts.out)) return;
  chooser.add("brgemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
  chooser.add("gemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
}

void add_deconvolution(Chooser& chooser, const Analysis& analysis) {
  const ConvolutionFacts& facts = convolution_of(analysis);
  if (has_separate_blocks(analysis))
    for (const char* family : {"brgconv_1x1", "jit_1x1", "jit"})
      chooser.add(family, Layout::kChannelsLast, Layout::kChannelsLast, Method::kSeparateBlocks);
  chooser.add("", Layout::kChannelsLast);
  if (fills_blocks(facts.in_channels()) && fills_blocks(facts.out_channels())) chooser.add("", Layout::kBlocked);
  chooser.add("", Layout::kPlain);
}

/// Convolutions that write their parts of a join.
void add_join(Chooser& chooser, const Graph& graph, const Analysis& join, Accuracy accuracy) {
  if (!fills_blocks_in_parts(graph, join)) return;
  chooser.add("jit", Layout::kBlocked);
  const bool takes_winograd =
      std::ranges::any_of(join.makers, [](const Analysis& maker) { return suits_winograd(convolution_of(maker)); });
  if (!takes_winograd || accuracy == Accuracy::kStrict) return;
  chooser.add("wino_2x3", Layout::kBlocked);
  chooser.add("wino_4x3", Layout::kBlocked);
}

/// Every layout that gives the result other bytes than the ones before.
void add_layouts(Chooser& chooser, const Extents& extents, Method method = Method::kOwn) {
  const auto add = [&](Layout layout) { chooser.add("", layout, layout, method); };
  add(Layout::kPlain);
  if (extents.size() < 3 || extents.size() > 5 || is_one_pixel(extents)) return;
  if (extents[1] > 1) add(Layout::kChannelsLast);
  if (fills_blocks(extents[1])) add(Layout::kBlocked);
}

/// Residuals are also added in place: no second tensor to write.
void add_in_place_choices(std::vector<Choice>& choices, const Graph& graph, const Analysis& analysis) {
  const Extents result = graph.value(analysis.chain.result).type.extents();
  const bool has_residual = std::ranges::any_of(analysis.chain.steps, [&](const Step& step) {
    return step.algorithm == "add" && step.operand.valid() && !graph.value(step.operand).constant &&
           graph.value(step.operand).type.extents() == result && step.operand != analysis.source;
  });
  if (!has_residual) return;
  const std::size_t count = choices.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (choices[i].method != Method::kOwn && choices[i].method != Method::kMergedGroups) continue;
    Choice choice = choices[i];
    choice.name += "+sum";
    choice.adds_in_place = true;
    choices.push_back(std::move(choice));
  }
}

/// What the library's convolutions of f32 by matrix product do with their result: a bias, a single Relu, with any
/// slope, and a sum in place are part of the product; anything else is computed by reference code, which takes 10 ns
/// (Clip) to 80 ns (Add) for each element (oneDNN 2.6.3 with AVX-512). A step of its own takes less than 1 ns.
bool ends_slowly(const Graph& graph, const Analysis& analysis, const Choice& choice) {
  if (choice.family != "gemm" || choice.method != Method::kOwn) return false;
  const ConvolutionFacts& facts = convolution_of(analysis);
  std::span<const Step> steps = analysis.chain.steps;
  if (!facts.bias.valid() && !steps.empty() && is_bias(graph, steps[0], facts.out)) steps = steps.subspan(1);
  return steps.size() > 1 || (steps.size() == 1 && !choice.adds_in_place && steps[0].algorithm != "relu");
}

/// Products gain from narrow inputs even when their result must stay as it is.
bool takes_narrow_inputs(const Analysis& analysis, const Choice& choice) {
  const bool is_product = analysis.is<ConvolutionHead>() || analysis.is<SeriesHead>() ||
                          analysis.is<DeconvolutionHead>() || analysis.is<MatMulFacts>();
  return is_product && !choice.adds_in_place;
}

/// The library's Winograd kernels, and those that fuse two convolutions, compute in f32 alone.
bool is_full_only(const Analysis& analysis, const Choice& choice) {
  const bool fuses_two = analysis.is<ConvolutionHead>() && second_of(analysis) != nullptr;
  return choice.family.starts_with("wino") || (fuses_two && choice.method == Method::kOwn);
}

/// oneDNN 2.6.3: this kernel reads channels in pairs in 16 bits and computes wrongly where one is left.
bool leaves_a_channel(const Analysis& analysis, const Choice& choice) {
  if (choice.family != "jit_1x1" || choice.in != Layout::kChannelsLast) return false;
  return convolution_of(analysis).in_channels() % 2 != 0;
}

/// The same with ports of 16-bit elements.
void add_narrow_choices(std::vector<Choice>& choices, const Analysis& analysis, ElementType element) {
  const std::size_t count = choices.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (is_full_only(analysis, choices[i]) || leaves_a_channel(analysis, choices[i])) continue;
    Choice narrow = choices[i];
    narrow.name = stored_as({narrow.name}, element).name;
    narrow.narrow = NarrowPorts::kAll;
    choices.push_back(narrow);
    if (!takes_narrow_inputs(analysis, narrow)) continue;
    narrow.name += "_in";
    narrow.narrow = NarrowPorts::kInputs;
    choices.push_back(std::move(narrow));
  }
}

/// Whether the library multiplies tiles of bf16 where this choice multiplies f32.
bool gains_from_split(const Analysis& analysis, const Choice& choice) {
  if (analysis.is<MatMulFacts>()) return choice.family == "brgemm";
  if (!analysis.is<ConvolutionHead>() || second_of(analysis) != nullptr) return false;
  const ConvolutionFacts& facts = convolution_of(analysis);
  if (facts.groups != 1 || facts.in_channels() * element_count(facts.window.kernel) < kLeastDepth ||
      facts.out_channels() < kLeastWidth)
    return false;
  return choice.method == Method::kInnerProduct ? choice.family == "brgemm"
                                                : choice.method == Method::kOwn && choice.family.starts_with("brgconv");
}

/// The first `count` choices with products of split floats.
void add_split_choices(std::vector<Choice>& choices, std::size_t count, const Analysis& analysis) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!gains_from_split(analysis, choices[i])) continue;
    Choice split = choices[i];
    split.name += "+" + std::string(kSplitFloats);
    split.splits = true;
    choices.push_back(std::move(split));
  }
}

/// The choices for each kind of head.
struct HeadChooser {
  Chooser& chooser;
  const Graph& graph;
  const Analysis& analysis;
  Accuracy accuracy;

  void operator()(const ConvolutionHead&) const {
    add_convolution(chooser, analysis, accuracy);
    (*this)(SeriesHead{});
  }
  void operator()(const SeriesHead&) const {
    if (!gains_from_strips(analysis)) return;
    for (const char* family : {"brgconv", "jit"})
      chooser.add(family, Layout::kChannelsLast, Layout::kChannelsLast, Method::kStrips);
  }
  void operator()(const DeconvolutionHead&) const { add_deconvolution(chooser, analysis); }
  void operator()(const MatMulFacts&) const {
    chooser.add("brgemm", Layout::kPlain);
    chooser.add("gemm", Layout::kPlain);
    chooser.add("brgemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
    chooser.add("gemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
  }
  void operator()(const LayerNormHead&) const { chooser.add("", Layout::kPlain); }
  void operator()(const ReductionHead&) const { chooser.add("", Layout::kPlain); }
  void operator()(const ConcatHead&) const {
    if (!analysis.makers.empty()) return add_join(chooser, graph, analysis, accuracy);
    add_layouts(chooser, extents_of(analysis.head_result));
    add_layouts(chooser, extents_of(analysis.head_result), Method::kParts);
  }
  void operator()(const BatchNormHead&) const { add_layouts(chooser, extents_of(analysis.head_result)); }
  void operator()(const ElementwiseHead&) const { add_layouts(chooser, extents_of(analysis.head_result)); }
  void operator()(const ResamplingHead& head) const {
    if (head.algorithm != "products") return add_layouts(chooser, extents_of(analysis.source));
    chooser.add("brgemm", Layout::kChannelsLast);
    chooser.add("gemm", Layout::kChannelsLast);
  }
  void operator()(const PoolingFacts&) const { add_layouts(chooser, extents_of(analysis.source)); }
  void operator()(const SoftmaxHead&) const { add_layouts(chooser, extents_of(analysis.source)); }
  void operator()(const LrnHead&) const { add_layouts(chooser, extents_of(analysis.source)); }

  [[nodiscard]] Extents extents_of(ValueId id) const { return graph.value(id).type.extents(); }
};

}  // namespace

std::vector<Choice> choices_of(const Graph& graph, const Analysis& analysis, Accuracy accuracy,
                               const FewBits& few_bits) {
  Chooser chooser;
  if (analysis.bytes) {
    add_bytes(chooser, analysis);
    return std::move(chooser.choices);
  }
  std::visit(HeadChooser{chooser, graph, analysis, accuracy}, analysis.head);
  const bool is_convolution = analysis.is<ConvolutionHead>() && analysis.makers.empty();
  if (is_convolution) add_in_place_choices(chooser.choices, graph, analysis);
  const std::size_t full = chooser.choices.size();
  if (few_bits.narrow) add_narrow_choices(chooser.choices, analysis, *few_bits.narrow);
  if (few_bits.splits) add_split_choices(chooser.choices, full, analysis);
  if (is_convolution)
    std::erase_if(chooser.choices,
                  [&](const Choice& choice) { return !choice.narrow && ends_slowly(graph, analysis, choice); });
  return std::move(chooser.choices);
}

}  // namespace collage::onednn
