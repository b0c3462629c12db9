#include "primitives/attributes.h"

#include <array>
#include <stdexcept>

#include "primitives/algorithms.h"
#include "primitives/primitives.h"

namespace collage::onednn {
namespace {

using dnnl::memory;

const TensorInfo& tensor_at(const Program& program, int tensor) {
  return program.tensors[static_cast<std::size_t>(tensor)];
}

#if DNNL_VERSION_MAJOR >= 3
void append_eltwise(dnnl::post_ops& posts, dnnl::algorithm algorithm, float alpha, float beta) {
  posts.append_eltwise(algorithm, alpha, beta);
}

void append_depthwise(dnnl::post_ops& posts, const PostOp& post) {
  constexpr auto kType = memory::data_type::f32;
  posts.append_dw(kType, kType, kType, post.kernel, post.stride, post.padding);
}

/// Which axes of the weights their scales run over: one number for each output. The library does not count them.
int axes_of_scales(const Op& op, const TensorInfo& weights, const TensorInfo& scales) {
  const std::int64_t count = element_count(scales.extents);
  if (count == 1) return 0;
  const std::size_t rank = weights.extents.size();
  const bool has_groups = op.kind == OpKind::kConvolution && rank == op.strides.size() + 3;
  const std::int64_t outputs = op.kind == OpKind::kMatMul ? weights.extents.back()
                               : has_groups               ? weights.extents[0] * weights.extents[1]
                                                          : weights.extents[0];
  if (count != outputs) throw std::runtime_error("scales of other than each output");
  if (op.kind == OpKind::kMatMul) return 1 << (rank - 1);
  return has_groups ? 3 : 1;
}

void set_scaling(const Program& program, const Op& op, dnnl::primitive_attr& attributes) {
  const std::array scales = {op.scaling.source, op.scaling.weights, op.scaling.result};
  const std::array zeros = {op.scaling.source_zero, op.scaling.weights_zero, op.scaling.result_zero};
  for (std::size_t i = 0; i < kScaledSlots.size(); ++i) {
    const bool is_weights = kScaledSlots[i] == DNNL_ARG_WEIGHTS;
    if (scales[i] >= 0)
      attributes.set_scales_mask(
          kScaledSlots[i],
          is_weights ? axes_of_scales(op, tensor_at(program, op.inputs[1]), tensor_at(program, scales[i])) : 0);
    if (zeros[i] >= 0) attributes.set_zero_points_mask(kScaledSlots[i], 0);
  }
}
#else
void append_eltwise(dnnl::post_ops& posts, dnnl::algorithm algorithm, float alpha, float beta) {
  posts.append_eltwise(1.F, algorithm, alpha, beta);
}

void append_depthwise(dnnl::post_ops& posts, const PostOp& post) {
  constexpr auto kType = memory::data_type::f32;
  posts.append_dw(kType, kType, kType, post.kernel, post.stride, post.padding, 0, {});
}

/// Bytes are not computed with here (library.h).
void set_scaling(const Program&, const Op& op, dnnl::primitive_attr&) {
  if (op.scaling != Scaling()) throw std::runtime_error("scales of integers");
}
#endif

}  // namespace

dnnl::primitive_attr attributes_of(const Program& program, const Op& op) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  set_scaling(program, op, attributes);
  if (op.post.empty()) return attributes;
  dnnl::post_ops posts;
  for (const PostOp& post : op.post) switch (post.kind) {
      case PostOp::Kind::kEltwise:
        append_eltwise(posts, eltwise_algorithm(post.algorithm), post.alpha, post.beta);
        break;
      case PostOp::Kind::kBinary:
        posts.append_binary(binary_algorithm(post.algorithm), describe(tensor_at(program, post.tensor)));
        break;
      case PostOp::Kind::kSum:
        posts.append_sum(1.F);
        break;
      case PostOp::Kind::kPrelu:
        posts.append_prelu(tensor_at(program, post.tensor).extents[1] == 1 ? 0 : 2);
        break;
      case PostOp::Kind::kDepthwise:
        append_depthwise(posts, post);
        break;
    }
  attributes.set_post_ops(posts);
  return attributes;
}

}  // namespace collage::onednn
