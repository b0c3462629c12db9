// Transposed convolutions whose windows do not overlap: every input pixel produces its own block of output pixels. The
// operator is then a 1x1 convolution to (pixels of a block x channels), followed by a copy that moves the rows of the
// blocks to their places. This is at least ten times faster than the library's own transposed convolution with a bias.
#include <algorithm>

#include "lowering/lower_parts.h"

namespace collage::onednn {
namespace {

/// Of the products between the two operations: small enough to stay in the second cache.
constexpr std::int64_t kStripBytes = 256 * 1024;

/// What both operations know about the blocks.
struct Blocks {
  std::int64_t height, width;  ///< pixels
  std::int64_t channels;       ///< of the result
  [[nodiscard]] std::int64_t row() const { return width * channels; }
  [[nodiscard]] std::int64_t all() const { return height * row(); }
};

/// [in, out, height, width] as [height, width, out, in], seen as the weights of a 1x1 convolution.
int weights_of(Composer& composer, const ConvolutionFacts& facts, const Blocks& blocks) {
  const std::int64_t pixels = blocks.height * blocks.width;
  return composer.gathered(facts.weights, {blocks.height, blocks.width, blocks.channels, facts.in_channels()},
                           {blocks.width, 1, pixels, blocks.channels * pixels},
                           {blocks.all(), facts.in_channels(), 1, 1});
}

Op product(Composer& composer, const Analysis& analysis, const Choice& choice, const Blocks& blocks) {
  const ConvolutionFacts& facts = convolution_of(analysis);
  Op op{.kind = OpKind::kConvolution,
        .strides = {1, 1},
        .dilations = {0, 0},
        .begin = {0, 0},
        .end = {0, 0},
        .family = choice.family};
  op.inputs = {-1, weights_of(composer, facts, blocks)};
  if (facts.bias.valid())
    op.inputs.push_back(
        composer.gathered(facts.bias, {blocks.height * blocks.width, blocks.channels}, {0, 1}, {blocks.all()}));
  for (const Step& step : analysis.chain.steps) op.post.push_back(post_of(step, -1));
  return op;
}

}  // namespace

bool has_separate_blocks(const Analysis& analysis) {
  if (!analysis.is<DeconvolutionHead>()) return false;
  const ConvolutionFacts& facts = convolution_of(analysis);
  const auto none = [](const Extents& extents) { return std::ranges::count(extents, 0) == std::ssize(extents); };
  return facts.in.size() == 4 && facts.groups == 1 && facts.window.kernel == facts.window.strides &&
         none(facts.window.dilations) && none(facts.window.begin) && none(facts.window.end) &&
         std::ranges::none_of(analysis.chain.steps, [](const Step& step) { return step.operand.valid(); });
}

Lowering lower_separate_blocks(Composer& composer, const Analysis& analysis, const Choice& choice) {
  const ConvolutionFacts& facts = convolution_of(analysis);
  const Blocks blocks{
      .height = facts.window.kernel[0], .width = facts.window.kernel[1], .channels = facts.out_channels()};
  const std::int64_t rows = facts.in[0] * facts.in[2];
  const std::int64_t columns = facts.in[3];
  // Rows of all images follow one another.
  const Extents in = {1, facts.in_channels(), rows, columns};
  const int source = composer.input(facts.source, facts.in, Layout::kChannelsLast);
  const std::int64_t products = columns * blocks.all();
  const std::int64_t strip = std::clamp<std::int64_t>(kStripBytes / (products * 4), 1, rows);
  const int between = composer.temporary({1, blocks.all(), strip, columns}, Layout::kChannelsLast);
  const Op op = product(composer, analysis, choice, blocks);
  const Format format = port_format(facts.out, Layout::kChannelsLast);
  for (std::int64_t row = 0; row < rows; row += strip) {
    const std::int64_t count = std::min(strip, rows - row);
    Op part = op;
    part.inputs[0] = composer.part(source, {1, in[1], count, columns}, {}, row * columns * in[1]);
    part.output = composer.part(between, {1, blocks.all(), count, columns}, {}, 0);
    composer.add(std::move(part));
    const Extents seen = {count, columns, blocks.height, blocks.row()};
    const int from = composer.part(between, seen, {products, blocks.all(), blocks.row(), 1}, 0);
    const int to =
        composer.output_view(format, seen, {products, blocks.row(), columns * blocks.row(), 1}, row * products);
    composer.add({.kind = OpKind::kReorder, .inputs = {from}, .output = to});
  }
  return {};
}

}  // namespace collage::onednn
