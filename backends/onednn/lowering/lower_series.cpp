// Convolutions in series, computed together a few rows at a time, so that what lies between them stays in the second
// cache instead of going to memory and back. Rows that two strips need are computed twice.
#include <algorithm>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// What lies between the convolutions of one strip.
constexpr std::int64_t kMostBetween = 768 * 1024;
/// Values between that are smaller than this stay in a cache anyway.
constexpr std::int64_t kLeastBytes = 2 * 1024 * 1024;

using Makers = std::vector<Analysis>;

std::int64_t row_elements(const Extents& extents) { return extents[1] * extents[3]; }

/// The rows that a convolution reads and writes in a strip, with the padding above and below.
struct Rows {
  std::int64_t in_begin = 0, in_end = 0, out_begin = 0, out_end = 0, above = 0, below = 0;
};

/// The rows of every convolution for rows [begin, end) of the last one.
std::vector<Rows> rows_of(const Makers& makers, std::int64_t begin, std::int64_t end) {
  std::vector<Rows> all(makers.size());
  for (std::size_t i = makers.size(); i-- > 0;) {
    const ConvolutionFacts& facts = convolution_of(makers[i]);
    const Window& window = facts.window;
    const std::int64_t reach = (window.kernel[0] - 1) * (window.dilations[0] + 1) + 1;
    const std::int64_t first = begin * window.strides[0] - window.begin[0];
    const std::int64_t last = (end - 1) * window.strides[0] - window.begin[0] + reach;
    Rows& rows = all[i];
    rows.out_begin = begin;
    rows.out_end = end;
    rows.in_begin = begin = std::max<std::int64_t>(first, 0);
    rows.in_end = end = std::min(last, facts.in[2]);
    rows.above = begin - first;
    rows.below = last - end;
  }
  return all;
}

/// Of the values between.
std::int64_t element_bytes_of(const Choice& choice) { return choice.narrow ? 2 : 4; }

/// The bytes between the convolutions when the last one writes `count` rows away from the borders.
std::int64_t bytes_between(const Makers& makers, std::int64_t count, std::int64_t element_bytes) {
  std::int64_t elements = 0;
  for (std::size_t i = makers.size(); i-- > 1;) {
    const ConvolutionFacts& facts = convolution_of(makers[i]);
    const Window& window = facts.window;
    const std::int64_t reach = (window.kernel[0] - 1) * (window.dilations[0] + 1) + 1;
    count = std::min((count - 1) * window.strides[0] + reach, facts.in[2]);
    elements += count * row_elements(facts.in);
  }
  return elements * element_bytes;
}

std::int64_t rows_in_strip(const Makers& makers, std::int64_t element_bytes) {
  std::int64_t count = 1;
  while (bytes_between(makers, 2 * count, element_bytes) <= kMostBetween) count *= 2;
  while (bytes_between(makers, count + 1, element_bytes) <= kMostBetween) ++count;
  return count;
}

/// A part of rows of an activation in channels_last.
int rows_part(Composer& composer, int tensor, const Extents& extents, std::int64_t begin, std::int64_t end,
              std::int64_t origin) {
  return composer.part(tensor, {1, extents[1], end - begin, extents[3]}, {}, (begin - origin) * row_elements(extents));
}

std::string series_family(const ConvolutionFacts& facts, const Choice& choice) {
  if (facts.is_depthwise()) return "jit_dw";
  return choice.family + (choice.family == "brgconv" && is_pointwise(facts) ? "_1x1" : "");
}

/// Whether the operand of a step runs over rows, so that a strip needs a part of it; a refusal when it cannot be cut.
std::expected<bool, Refusal> runs_over_rows(const Composer& composer, const Step& step, const Extents& out) {
  if (!step.operand.valid()) return false;
  const Extents extents = aligned(composer.extents(step.operand), out.size());
  if (extents[2] == 1) return false;
  if (extents == out && !composer.is_constant(step.operand)) return true;
  return refuse_lowering(RefusalReason::kShape, "an operand that cannot be cut into rows");
}

/// Replaces what a post-op reads by its rows.
Lowering cut_operands(Composer& composer, const Analysis& maker, Op& op, const Rows& rows) {
  const Extents& out = convolution_of(maker).out;
  const std::vector<Step>& steps = maker.chain.steps;
  const std::size_t skipped = steps.size() - op.post.size();
  for (std::size_t i = 0; i < op.post.size(); ++i) {
    const auto cuts = runs_over_rows(composer, steps[i + skipped], out);
    if (!cuts) return std::unexpected(cuts.error());
    if (*cuts) op.post[i].tensor = rows_part(composer, op.post[i].tensor, out, rows.out_begin, rows.out_end, 0);
  }
  return {};
}

}  // namespace

bool gains_from_strips(const Analysis& analysis) {
  if (analysis.makers.size() < 2) return false;
  for (const Analysis& maker : analysis.makers)
    if (convolution_of(maker).in.size() != 4 || convolution_of(maker).in[0] != 1) return false;
  return bytes_between(analysis.makers, convolution_of(analysis.makers.back()).out[2], sizeof(float)) >= kLeastBytes &&
         bytes_between(analysis.makers, 1, sizeof(float)) <= kMostBetween;
}

Lowering lower_series(Composer& composer, const Analysis& analysis, const Choice& choice) {
  constexpr Layout kLast = Layout::kChannelsLast;
  const Makers& makers = analysis.makers;
  const Extents& out = convolution_of(makers.back()).out;
  const int source = composer.input(convolution_of(makers[0]).source, convolution_of(makers[0]).in, kLast);
  const int result = composer.output(out, kLast);
  std::vector<Op> whole;
  std::vector<int> between;
  for (std::size_t i = 0; i < makers.size(); ++i) {
    const ConvolutionFacts& facts = convolution_of(makers[i]);
    auto op = convolution_op(composer, makers[i], series_family(facts, choice), kLast, -1, -1);
    if (!op) return std::unexpected(op.error());
    whole.push_back(std::move(*op));
    if (i + 1 < makers.size()) between.push_back(composer.temporary({1, facts.out[1], 1, facts.out[3]}, kLast));
  }
  const std::int64_t strip = rows_in_strip(makers, element_bytes_of(choice));
  for (std::int64_t row = 0; row < out[2]; row += strip) {
    const std::vector<Rows> all = rows_of(makers, row, std::min(row + strip, out[2]));
    for (std::size_t i = 0; i < makers.size(); ++i) {
      const ConvolutionFacts& facts = convolution_of(makers[i]);
      const Rows& rows = all[i];
      Op op = whole[i];
      op.begin[0] = rows.above;
      op.end[0] = rows.below;
      op.inputs[0] = rows_part(composer, i == 0 ? source : between[i - 1], facts.in, rows.in_begin, rows.in_end,
                               i == 0 ? 0 : rows.in_begin);
      op.output = rows_part(composer, i + 1 == makers.size() ? result : between[i], facts.out, rows.out_begin,
                            rows.out_end, i + 1 == makers.size() ? 0 : rows.out_begin);
      if (auto ok = cut_operands(composer, makers[i], op, rows); !ok) return ok;
      composer.add(std::move(op));
    }
  }
  return {};
}

}  // namespace collage::onednn
