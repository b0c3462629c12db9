#include "primitives/primitives.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>
#include <type_traits>

#include "check_program.h"
#include "primitives/algorithms.h"
#include "primitives/attributes.h"
#include "primitives/versions.h"

namespace collage::onednn {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

constexpr auto kInference = prop_kind::forward_inference;

/// One build: what all kinds of operation need while their description is made.
struct Builder {
  const Program& program;
  const Op& op;
  const dnnl::engine& engine;
  BuiltOp built = {};
  std::set<std::string> offered = {};

  [[nodiscard]] const TensorInfo& tensor(int index) const { return program.tensors[static_cast<std::size_t>(index)]; }
  [[nodiscard]] memory::desc desc(int index) const { return describe(tensor(index)); }
  [[nodiscard]] memory::data_type type(int index) const {
    return data_type_of(tensor(index).type).value_or(memory::data_type::undef);
  }
  [[nodiscard]] memory::desc source() const { return desc(op.inputs[0]); }
  [[nodiscard]] memory::desc destination() const { return desc(op.output); }
  /// A constant may be packed as the implementation likes.
  [[nodiscard]] memory::desc free_desc(int index) const {
    const TensorInfo& info = tensor(index);
    if (info.role != Role::kConstant) return describe(info);
    return {info.extents, type(index), memory::format_tag::any};
  }
  [[nodiscard]] bool has_input(std::size_t i) const { return op.inputs.size() > i; }

  void argument(int slot, int index, const memory::desc& wanted) { built.arguments.push_back({slot, index, wanted}); }
  void argument(int slot, int index) { argument(slot, index, desc(index)); }
};

bool is_wanted(const Op& op, const std::string& implementation) {
  // The library names a deconvolution after whichever equal one came first in its process, whatever the layout.
  if (op.kind == OpKind::kDeconvolution && !op.implementation.empty())
    return (family_of(implementation) == "ref") == (family_of(op.implementation) == "ref");
  if (!op.implementation.empty()) return implementation == op.implementation;
  const std::string family = family_of(implementation);
  return op.family.empty() ? family != "ref" : family == op.family;
}

/// Takes the first implementation that is wanted of the operation that these arguments describe.
template <class Forward, class... What>
bool choose(Builder& builder, typename Forward::primitive_desc& chosen, const What&... what) {
  const dnnl::primitive_attr attributes = attributes_of(builder.program, builder.op);
  Candidates<Forward> candidates(builder.engine, attributes, what...);
  while (candidates.at) {
    const std::string implementation = candidates.at.impl_info_str();
    builder.offered.insert(implementation);
    if (is_wanted(builder.op, implementation)) {
      chosen = candidates.at;
      builder.built.implementation = implementation;
      return true;
    }
    if (!candidates.at.next_impl()) break;
  }
  return false;
}

template <class Description>
bool take_only(Builder& builder, const Description& description) {
  const std::string implementation = description.impl_info_str();
  builder.offered.insert(implementation);
  if (!is_wanted(builder.op, implementation)) return false;
  builder.built.description = description;
  builder.built.implementation = implementation;
  return true;
}

/// What the convolution itself writes: not the output when a depthwise one is fused after it.
memory::desc convolution_result(const Builder& builder) {
  const Op& op = builder.op;
  const bool fused =
      std::ranges::any_of(op.post, [](const PostOp& post) { return post.kind == PostOp::Kind::kDepthwise; });
  if (!fused) return builder.destination();
  TensorInfo between = builder.tensor(op.output);
  between.extents = builder.tensor(op.inputs[0]).extents;
  between.extents[1] = builder.tensor(op.inputs[1]).extents[0];
  return describe(between);
}

/// Convolution and its transpose share everything but the class.
template <class Forward>
bool build_convolution(Builder& builder, dnnl::algorithm algorithm) {
  const Op& op = builder.op;
  const memory::desc weights = builder.free_desc(op.inputs[1]);
  const memory::desc bias = builder.has_input(2) ? builder.free_desc(op.inputs[2]) : memory::desc();
  typename Forward::primitive_desc chosen;
  if (!choose<Forward>(builder, chosen, kInference, algorithm, builder.source(), weights, bias,
                       convolution_result(builder), op.strides, op.dilations, op.begin, op.end))
    return false;
  builder.argument(DNNL_ARG_WEIGHTS, op.inputs[1], chosen.weights_desc());
  if (builder.has_input(2)) builder.argument(DNNL_ARG_BIAS, op.inputs[2], chosen.bias_desc());
  for (const PostOp& post : op.post)
    if (post.kind == PostOp::Kind::kDepthwise) {
      const int weights_slot = DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_WEIGHTS;
      const int bias_slot = DNNL_ARG_ATTR_POST_OP_DW | DNNL_ARG_BIAS;
      builder.argument(weights_slot, post.tensor, chosen.query_md(dnnl::query::exec_arg_md, weights_slot));
      builder.argument(bias_slot, post.second, chosen.query_md(dnnl::query::exec_arg_md, bias_slot));
    }
  builder.built.description = chosen;
  return true;
}

bool build_convolution(Builder& builder) {
  const bool winograd = builder.op.family.starts_with("wino");
  return build_convolution<dnnl::convolution_forward>(
      builder, winograd ? dnnl::algorithm::convolution_winograd : dnnl::algorithm::convolution_direct);
}

bool build_inner_product(Builder& builder) {
  const Op& op = builder.op;
  const memory::desc bias = builder.has_input(2) ? builder.free_desc(op.inputs[2]) : memory::desc();
  dnnl::inner_product_forward::primitive_desc chosen;
  if (!choose<dnnl::inner_product_forward>(builder, chosen, kInference, builder.source(),
                                           builder.free_desc(op.inputs[1]), bias, builder.destination()))
    return false;
  builder.argument(DNNL_ARG_WEIGHTS, op.inputs[1], chosen.weights_desc());
  if (builder.has_input(2)) builder.argument(DNNL_ARG_BIAS, op.inputs[2], chosen.bias_desc());
  builder.built.description = chosen;
  return true;
}

bool build_matmul(Builder& builder) {
  const Op& op = builder.op;
  const memory::desc weights = builder.free_desc(op.inputs[1]);
  const memory::desc bias = builder.has_input(2) ? builder.desc(op.inputs[2]) : memory::desc();
  dnnl::matmul::primitive_desc chosen;
  if (!choose<dnnl::matmul>(builder, chosen, builder.source(), weights, bias, builder.destination())) return false;
  builder.argument(DNNL_ARG_WEIGHTS, op.inputs[1], chosen.weights_desc());
  if (builder.has_input(2)) builder.argument(DNNL_ARG_BIAS, op.inputs[2]);
  builder.built.description = chosen;
  return true;
}

/// Kinds with nothing to choose but the implementation and no arguments besides source and destination.
template <class Forward, class... What>
bool build_simple(Builder& builder, const What&... what) {
  typename Forward::primitive_desc chosen;
  if (!choose<Forward>(builder, chosen, what...)) return false;
  builder.built.description = chosen;
  return true;
}

/// As build_simple, of kinds whose result version 2 takes to be like the source. Version 3 wants its description,
/// between these arguments.
template <class Forward, class... Before, class... After>
bool build_alike(Builder& builder, const std::tuple<Before...>& before, const After&... after) {
  return std::apply(
      [&](const Before&... what) {
        if constexpr (kTakesResult)
          return build_simple<Forward>(builder, what..., builder.destination(), after...);
        else
          return build_simple<Forward>(builder, what..., after...);
      },
      before);
}

bool build_pooling(Builder& builder) {
  const Op& op = builder.op;
  const auto algorithm = op.algorithm == "max"                   ? dnnl::algorithm::pooling_max
                         : op.algorithm == "avg_include_padding" ? dnnl::algorithm::pooling_avg_include_padding
                                                                 : dnnl::algorithm::pooling_avg_exclude_padding;
#if DNNL_VERSION_MAJOR >= 3
  const memory::dims dense(op.kernel.size(), 0);
  return build_simple<dnnl::pooling_forward>(builder, kInference, algorithm, builder.source(), builder.destination(),
                                             op.strides, op.kernel, dense, op.begin, op.end);
#else
  return build_simple<dnnl::pooling_forward>(builder, kInference, algorithm, builder.source(), builder.destination(),
                                             op.strides, op.kernel, op.begin, op.end);
#endif
}

bool build_binary(Builder& builder) {
  const Op& op = builder.op;
  builder.argument(DNNL_ARG_SRC_1, op.inputs[1]);
  return build_simple<dnnl::binary>(builder, binary_algorithm(op.algorithm), builder.source(),
                                    builder.desc(op.inputs[1]), builder.destination());
}

bool build_prelu(Builder& builder) {
  const Op& op = builder.op;
  if (!build_alike<dnnl::prelu_forward>(builder,
                                        std::tuple(kInference, builder.source(), builder.free_desc(op.inputs[1]))))
    return false;
  builder.argument(DNNL_ARG_WEIGHTS, op.inputs[1], builder.built.description.query_md(dnnl::query::weights_md));
  return true;
}

bool build_softmax(Builder& builder) {
  const auto algorithm =
      builder.op.algorithm == "log" ? dnnl::algorithm::softmax_log : dnnl::algorithm::softmax_accurate;
  return build_simple<Softmax>(builder, kInference, algorithm, builder.source(), builder.destination(),
                               builder.op.axis);
}

bool build_layer_norm(Builder& builder) {
  const Op& op = builder.op;
  auto flags = dnnl::normalization_flags::use_scale;
  builder.argument(DNNL_ARG_SCALE, op.inputs[1]);
  if (builder.has_input(2)) {
    flags = static_cast<dnnl::normalization_flags>(static_cast<unsigned>(flags) |
                                                   static_cast<unsigned>(dnnl::normalization_flags::use_shift));
    builder.argument(DNNL_ARG_SHIFT, op.inputs[2]);
  }
  return build_alike<dnnl::layer_normalization_forward>(builder, std::tuple(kInference, builder.source()), op.epsilon,
                                                        flags);
}

bool build_batch_norm(Builder& builder) {
  const Op& op = builder.op;
  constexpr auto kFlags =
      static_cast<dnnl::normalization_flags>(dnnl_use_global_stats | dnnl_use_scale | dnnl_use_shift);
  constexpr std::array kSlots = {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE};
  for (std::size_t i = 0; i < kSlots.size(); ++i) builder.argument(kSlots[i], op.inputs[i + 1]);
  return build_alike<dnnl::batch_normalization_forward>(builder, std::tuple(kInference, builder.source()), op.epsilon,
                                                        kFlags);
}

bool build_concat(Builder& builder) {
  const Op& op = builder.op;
  std::vector<memory::desc> sources;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    sources.push_back(builder.desc(op.inputs[i]));
    builder.argument(DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), op.inputs[i]);
  }
  builder.argument(DNNL_ARG_DST, op.output);
  return take_only(builder, describe_concat(builder.engine, attributes_of(builder.program, builder.op),
                                            builder.destination(), op.axis, sources));
}

bool build_kind(Builder& builder) {
  const Op& op = builder.op;
  switch (op.kind) {
    case OpKind::kConvolution:
      return build_convolution(builder);
    case OpKind::kDeconvolution:
      return build_convolution<dnnl::deconvolution_forward>(builder, dnnl::algorithm::deconvolution_direct);
    case OpKind::kMatMul:
      return build_matmul(builder);
    case OpKind::kInnerProduct:
      return build_inner_product(builder);
    case OpKind::kPooling:
      return build_pooling(builder);
    case OpKind::kEltwise:
      return build_alike<dnnl::eltwise_forward>(
          builder, std::tuple(kInference, eltwise_algorithm(op.algorithm), builder.source()), op.alpha, op.beta);
    case OpKind::kBinary:
      return build_binary(builder);
    case OpKind::kPrelu:
      return build_prelu(builder);
    case OpKind::kResampling: {
      const auto algorithm =
          op.algorithm == "linear" ? dnnl::algorithm::resampling_linear : dnnl::algorithm::resampling_nearest;
      return build_simple<dnnl::resampling_forward>(builder, kInference, algorithm, builder.source(),
                                                    builder.destination());
    }
    case OpKind::kSoftmax:
      return build_softmax(builder);
    case OpKind::kLayerNorm:
      return build_layer_norm(builder);
    case OpKind::kBatchNorm:
      return build_batch_norm(builder);
    case OpKind::kReduction:
      return build_simple<dnnl::reduction>(builder, reduction_algorithm(op.algorithm), builder.source(),
                                           builder.destination(), op.alpha, op.epsilon);
    case OpKind::kLrn:
      return build_alike<dnnl::lrn_forward>(
          builder, std::tuple(kInference, dnnl::algorithm::lrn_across_channels, builder.source()), op.axis, op.alpha,
          op.beta, op.epsilon);
    case OpKind::kReorder:
      return take_only(
          builder, dnnl::reorder::primitive_desc(builder.engine, builder.source(), builder.engine,
                                                 builder.destination(), attributes_of(builder.program, builder.op)));
    case OpKind::kConcat:
      return build_concat(builder);
    case OpKind::kSplit:
      builder.built.implementation = kSplitImplementation;
      return true;
  }
  return false;
}

void add_scaling_arguments(Builder& builder) {
#if DNNL_VERSION_MAJOR >= 3
  const Scaling& scaling = builder.op.scaling;
  const std::array scales = {scaling.source, scaling.weights, scaling.result};
  const std::array zeros = {scaling.source_zero, scaling.weights_zero, scaling.result_zero};
  for (std::size_t i = 0; i < kScaledSlots.size(); ++i) {
    if (scales[i] >= 0) builder.argument(DNNL_ARG_ATTR_SCALES | kScaledSlots[i], scales[i]);
    if (zeros[i] >= 0) builder.argument(DNNL_ARG_ATTR_ZERO_POINTS | kScaledSlots[i], zeros[i]);
  }
#else
  (void)builder;
#endif
}

/// The arguments that all kinds but concat have.
void add_common_arguments(Builder& builder) {
  const Op& op = builder.op;
  if (op.kind == OpKind::kConcat) return;
  builder.argument(DNNL_ARG_SRC, op.inputs[0]);
  builder.argument(DNNL_ARG_DST, op.output);
  add_scaling_arguments(builder);
  for (std::size_t i = 0; i < op.post.size(); ++i) {
    const int base = DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i));
    if (op.post[i].kind == PostOp::Kind::kBinary) builder.argument(base | DNNL_ARG_SRC_1, op.post[i].tensor);
    if (op.post[i].kind == PostOp::Kind::kPrelu) builder.argument(base | DNNL_ARG_WEIGHTS, op.post[i].tensor);
  }
}

/// The library takes the type of the source for that of the result.
bool keeps_type(OpKind kind) {
  constexpr std::array kKinds = {OpKind::kEltwise, OpKind::kPrelu, OpKind::kLayerNorm, OpKind::kBatchNorm,
                                 OpKind::kLrn};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

std::string refusal_text(const Builder& builder) {
  if (builder.offered.empty()) return "the library takes no such operation";
  std::string text = "only:";
  for (const std::string& implementation : builder.offered) text += " " + implementation;
  return text;
}

}  // namespace

std::string family_of(std::string_view implementation) {
  const auto has = [implementation](std::string_view part) { return implementation.find(part) != part.npos; };
  if (has("wino_2x3")) return "wino_2x3";
  if (has("wino_4x3")) return "wino_4x3";
  if (implementation.starts_with("ref") || has(":ref") || has("+ref")) return "ref";
  if (has("brgemm") || has("brg:") || has("brg_matmul")) return "brgemm";
  if (has("gemm")) return "gemm";
  std::string name(implementation.substr(0, implementation.find(':')));
  if (const std::size_t element = name.find("_bf16"); element != name.npos) name.erase(element, 5);
  return name;
}

memory::desc describe(const TensorInfo& tensor) {
  const auto type = data_type_of(tensor.type).value_or(memory::data_type::undef);
  const bool is_strided = !tensor.strides.empty() && tensor.role != Role::kConstant;
  return is_strided ? memory::desc(tensor.extents, type, tensor.strides)
                    : describe(tensor.extents, type, tensor.layout);
}

memory::desc describe_stored(const TensorInfo& tensor) {
  const auto type = data_type_of(value_type(tensor)).value_or(memory::data_type::undef);
  const bool is_dense = tensor.strides.empty() || !tensor.stored.empty();
  const Extents extents = unsplit_extents(tensor);
  return {extents, type, is_dense ? row_major_strides(extents) : tensor.strides};
}

std::expected<BuiltOp, std::string> build(const Program& program, const Op& op, const dnnl::engine& engine) {
  Builder builder{.program = program, .op = op, .engine = engine};
  if (keeps_type(op.kind) && builder.type(op.inputs[0]) != builder.type(op.output))
    return std::unexpected("a source and a result of two element types");
  if (!build_kind(builder)) return std::unexpected(refusal_text(builder));
  add_common_arguments(builder);
  if (op.kind == OpKind::kSplit) return std::move(builder.built);
  builder.built.scratch_bytes = builder.built.description.query_md(dnnl::query::scratchpad_md).get_size();
  return std::move(builder.built);
}

bool has_room(const Program& program, const BuiltOp& built) {
  if (!built.description) return true;
  return std::ranges::all_of(built.arguments, [&](const Argument& argument) {
    const memory::desc touched = built.description.query_md(dnnl::query::exec_arg_md, argument.slot);
    if (touched == argument.desc) return true;
    const TensorInfo& tensor = program.tensors[static_cast<std::size_t>(argument.tensor)];
    const bool is_made = tensor.role == Role::kConstant || tensor.role == Role::kLiteral;
    return touched.get_size() <= (is_made ? argument.desc.get_size() : bytes_of(tensor));
  });
}

}  // namespace collage::onednn
