// The ways to run each kind of head: layouts, and the library's implementations worth telling apart.
#include <algorithm>

#include "lower.h"

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

/// Padding to whole blocks must not cost more than the tensor itself.
bool fills_blocks(std::int64_t channels) { return 2 * channels >= native_block(); }

bool all_are(const Extents& extents, std::int64_t number) {
  return std::ranges::all_of(extents, [number](std::int64_t extent) { return extent == number; });
}

/// Collects choices of one region.
struct Chooser {
  std::vector<Choice> choices = {};

  void add(std::string_view family, Layout in, Layout out, Method method = Method::kOwn) {
    std::string name(method == Method::kInnerProduct ? "ip_" : "");
    name += family.empty() ? "direct" : family;
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

bool has_window_of(const ConvolutionFacts& facts, std::int64_t extent) { return all_are(facts.window.kernel, extent); }

/// Winograd: 3x3, stride 1, dense, two spatial axes.
bool suits_winograd(const ConvolutionFacts& facts) {
  return facts.in.size() == 4 && facts.groups == 1 && has_window_of(facts, 3) && all_are(facts.window.strides, 1) &&
         all_are(facts.window.dilations, 0);
}

bool is_pointwise(const ConvolutionFacts& facts) {
  return has_window_of(facts, 1) && all_are(facts.window.begin, 0) && all_are(facts.window.end, 0);
}

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
  if (!whole_groups) return;
  chooser.add(pointwise ? "jit_1x1" : "jit", Layout::kBlocked);
  if (!suits_winograd(facts) || accuracy == Accuracy::kStrict) return;
  chooser.add("wino_2x3", Layout::kBlocked);
  chooser.add("wino_4x3", Layout::kBlocked);
}

void add_convolution(Chooser& chooser, const Analysis& analysis, Accuracy accuracy) {
  const ConvolutionFacts& facts = analysis.convolution;
  if (analysis.second) {
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

void add_deconvolution(Chooser& chooser, const ConvolutionFacts& facts) {
  chooser.add("", Layout::kChannelsLast);
  if (fills_blocks(facts.in_channels()) && fills_blocks(facts.out_channels())) chooser.add("", Layout::kBlocked);
  chooser.add("", Layout::kPlain);
}

/// Every layout that gives the result other bytes than the ones before.
void add_layouts(Chooser& chooser, const Extents& extents) {
  chooser.add("", Layout::kPlain);
  if (extents.size() < 3 || extents.size() > 5 || is_one_pixel(extents)) return;
  if (extents[1] > 1) chooser.add("", Layout::kChannelsLast);
  if (fills_blocks(extents[1])) chooser.add("", Layout::kBlocked);
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
    if (choices[i].method != Method::kOwn) continue;
    Choice choice = choices[i];
    choice.name += "+sum";
    choice.adds_in_place = true;
    choices.push_back(std::move(choice));
  }
}

}  // namespace

std::vector<Choice> choices_of(const Graph& graph, const Analysis& analysis, Accuracy accuracy) {
  Chooser chooser;
  switch (analysis.head) {
    case Head::kConvolution:
      add_convolution(chooser, analysis, accuracy);
      break;
    case Head::kDeconvolution:
      add_deconvolution(chooser, analysis.convolution);
      break;
    case Head::kMatMul:
      chooser.add("brgemm", Layout::kPlain);
      chooser.add("gemm", Layout::kPlain);
      chooser.add("brgemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
      chooser.add("gemm", Layout::kPlain, Layout::kPlain, Method::kInnerProduct);
      break;
    case Head::kLayerNorm:
    case Head::kReduction:
      chooser.add("", Layout::kPlain);
      break;
    case Head::kConcat:
    case Head::kBatchNorm:
    case Head::kElementwise:
      add_layouts(chooser, graph.value(analysis.head_result).type.extents());
      break;
    case Head::kPooling:
    case Head::kResampling:
    case Head::kSoftmax:
    case Head::kLrn:
      add_layouts(chooser, graph.value(analysis.source).type.extents());
      break;
  }
  if (analysis.head == Head::kConvolution) add_in_place_choices(chooser.choices, graph, analysis);
  return std::move(chooser.choices);
}

}  // namespace collage::onednn
