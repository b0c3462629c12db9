// Complete transformers: embeddings, blocks and head.
#include "workload/networks.h"

namespace collage::networks {
namespace {

ValueId gelu(NetBuilder& net, ValueId x, const std::string& approximation) {
  return net.unary("Gelu", x, {{"approximate", approximation}});
}

/// Rows of a table picked by integer ids [batch, tokens] -> [batch, tokens, width].
ValueId embed(NetBuilder& net, ValueId ids, std::int64_t rows, std::int64_t width) {
  Shape shape = net.shape(ids);
  shape.push_back({width, ""});
  return net.emit("Gather", {net.weights({rows, width}, 0.5), ids}, kFloat, std::move(shape));
}

/// The rows of a table of positions that ids [batch, tokens] need: all of them, or the first when tokens are open.
ValueId positions(NetBuilder& net, ValueId ids, std::int64_t most, std::int64_t width) {
  const ValueId table = net.weights({1, most, width}, 0.5);
  const Dim tokens = net.shape(ids)[1];
  if (tokens.is_static()) return table;
  const ValueId count = net.emit("Shape", {ids}, ElementType::kInt64, {Dim{1, ""}},
                                 {{"end", std::int64_t{2}}, {"start", std::int64_t{1}}});
  return net.emit("Slice", {table, net.integers({0}), count, net.integers({1})}, kFloat,
                  {Dim{1, ""}, tokens, Dim{width, ""}});
}

struct BlockSpec {
  std::int64_t heads;
  float epsilon;
  std::string approximation;
};

/// x + Attention(LN(x)), then x + FFN(LN(x)): GPT-2 and ViT.
ValueId pre_norm_block(NetBuilder& net, ValueId x, const BlockSpec& spec, ValueId mask = {}) {
  const std::int64_t width = net.extent(x, 2);
  x = net.add(x, attention(net, net.layer_norm(x, spec.epsilon), {.heads = spec.heads}, mask));
  const ValueId inner = gelu(net, net.linear(net.layer_norm(x, spec.epsilon), 4 * width), spec.approximation);
  return net.add(x, net.linear(inner, width));
}

/// LN(x + Attention(x)), then LN(x + FFN(x)): BERT.
ValueId post_norm_block(NetBuilder& net, ValueId x, const BlockSpec& spec, ValueId mask) {
  const std::int64_t width = net.extent(x, 2);
  x = net.layer_norm(net.add(x, attention(net, x, {.heads = spec.heads}, mask)), spec.epsilon);
  const ValueId inner = gelu(net, net.linear(x, 4 * width), spec.approximation);
  return net.layer_norm(net.add(x, net.linear(inner, width)), spec.epsilon);
}

/// 0 where a token may look, a large negative number where it may not: [1, 1, tokens, tokens].
ValueId causal_mask(NetBuilder& net, std::int64_t tokens) {
  std::vector<float> mask(static_cast<std::size_t>(tokens * tokens), 0.0F);
  for (std::int64_t row = 0; row < tokens; ++row)
    for (std::int64_t column = row + 1; column < tokens; ++column)
      mask[static_cast<std::size_t>(row * tokens + column)] = -1e9F;
  return net.floats({1, 1, tokens, tokens}, mask);
}

}  // namespace

Graph bert_base(const WorkloadOptions& options) {
  const std::int64_t most = options.seq > 0 ? options.seq : 128;
  const std::int64_t tokens = options.dynamic_seq ? NetBuilder::kOpenTokens : most;
  constexpr std::int64_t kWidth = 768;
  NetBuilder net("bert_base", options);
  const ValueId ids = net.input("input_ids", ElementType::kInt64, {tokens});
  const ValueId padding = net.input("attention_mask", ElementType::kInt64, {tokens});
  const ValueId kinds = net.input("token_type_ids", ElementType::kInt64, {tokens});
  ValueId x = net.add(embed(net, ids, 30522, kWidth), embed(net, kinds, 2, kWidth));
  x = net.layer_norm(net.add(x, positions(net, ids, most, kWidth)), 1e-12F);
  const ValueId shaped = net.reshape(padding, {1, 1, tokens});
  const ValueId keep =
      net.emit("Cast", {shaped}, kFloat, net.shape(shaped), {{"to", static_cast<std::int64_t>(ElementType::kFloat32)}});
  const ValueId mask = net.binary("Mul", net.binary("Sub", keep, net.floats({1, 1, 1, 1}, {1})), net.scalar(10000));
  for (std::int64_t layer = 0; layer < (options.layers > 0 ? options.layers : 12); ++layer)
    x = post_norm_block(net, x, {.heads = 12, .epsilon = 1e-12F, .approximation = "none"}, mask);
  net.output(x, "last_hidden_state");
  return net.take();
}

Graph gpt2(const WorkloadOptions& options) {
  const std::int64_t tokens = options.seq > 0 ? options.seq : 64;
  constexpr std::int64_t kWidth = 768;
  NetBuilder net("gpt2", options);
  ValueId x = embed(net, net.input("input_ids", ElementType::kInt64, {tokens}), 50257, kWidth);
  x = net.add(x, net.weights({1, tokens, kWidth}, 0.1));
  const ValueId mask = causal_mask(net, tokens);
  for (std::int64_t layer = 0; layer < (options.layers > 0 ? options.layers : 12); ++layer)
    x = pre_norm_block(net, x, {.heads = 12, .epsilon = 1e-5F, .approximation = "tanh"}, mask);
  net.output(net.linear(net.layer_norm(x, 1e-5F), 50257, false), "logits");
  return net.take();
}

Graph vit_small(const WorkloadOptions& options) {
  constexpr std::int64_t kWidth = 384;
  NetBuilder net("vit_small", options);
  ValueId x = net.input("input0", kFloat, {3, 224, 224});
  x = net.conv(x, {.channels = kWidth, .kernel = 16, .stride = 16, .bias = true});
  x = net.transpose(net.reshape(x, {kWidth, 14 * 14}), {0, 2, 1});
  const ValueId first = net.add(net.emit("ReduceMean", {x, net.integers({1})}, kFloat,
                                         {net.batch(), Dim{1, ""}, Dim{kWidth, ""}}, {{"keepdims", std::int64_t{1}}}),
                                net.weights({1, 1, kWidth}, 0.5));
  x = net.add(net.concat({first, x}, 1), net.weights({1, 14 * 14 + 1, kWidth}, 0.2));
  for (std::int64_t layer = 0; layer < (options.layers > 0 ? options.layers : 12); ++layer)
    x = pre_norm_block(net, x, {.heads = 6, .epsilon = 1e-6F, .approximation = "none"});
  x = net.layer_norm(x, 1e-6F);
  x = net.emit("Gather", {x, net.integers({0})}, kFloat, {net.batch(), Dim{1, ""}, Dim{kWidth, ""}},
               {{"axis", std::int64_t{1}}});
  net.output(net.gemm(net.reshape(x, {kWidth}), 1000), "output0");
  return net.take();
}

}  // namespace collage::networks
