#include "backends/onednn3/graph/attention_kernel.h"

#include <oneapi/dnnl/dnnl_graph.hpp>

#include "backends/common/openmp/keep_threads.h"
#include "layout.h"
#include "library.h"
#include "primitives/realise.h"

namespace collage::onednn {
namespace {

using dnnl::graph::logical_tensor;
using dnnl::graph::op;

/// Numbers of the tensors of the graph.
enum Id : std::size_t { kQ, kK, kSums, kScale, kScaled, kMask, kMasked, kShares, kV, kMixed, kTurned, kResult };

logical_tensor tensor_of(Id id, const Extents& extents, const Extents& strides) {
  return {id, logical_tensor::data_type::f32, extents, strides};
}
logical_tensor dense(Id id, const Extents& extents) { return tensor_of(id, extents, row_major_strides(extents)); }
logical_tensor seen_tensor(Id id, const Seen& seen) { return tensor_of(id, seen.extents, seen.strides); }

/// The one partition that the library makes of the graph; a refusal where it makes several.
std::expected<dnnl::graph::partition, Refusal> partition_of(const Attention& attention) {
  const Extents &q = attention.q.extents, &k = attention.k.extents, &v = attention.v.extents;
  const Extents sums = {q[0], q[1], q[2], k[3]};
  const Extents mixed = {q[0], q[1], q[2], v[3]};
  const logical_tensor last = dense(kResult, attention.result());
  op first(0, op::kind::MatMul, {seen_tensor(kQ, attention.q), seen_tensor(kK, attention.k)}, {dense(kSums, sums)}, "");
  op scale(1, op::kind::Multiply, {dense(kSums, sums), dense(kScale, {1})}, {dense(kScaled, sums)}, "");
  op add(2, op::kind::Add, {dense(kScaled, sums), seen_tensor(kMask, attention.mask)}, {dense(kMasked, sums)}, "");
  op softmax(3, op::kind::SoftMax, {dense(kMasked, sums)}, {dense(kShares, sums)}, "");
  softmax.set_attr<std::int64_t>(op::attr::axis, -1);
  op second(4, op::kind::MatMul, {dense(kShares, sums), seen_tensor(kV, attention.v)}, {dense(kMixed, mixed)}, "");
  op turn(5, op::kind::StaticTranspose, {dense(kMixed, mixed)}, {dense(kTurned, attention.result())}, "");
  turn.set_attr<std::vector<std::int64_t>>(op::attr::order, {0, 2, 1, 3});
  op copy(6, op::kind::Reorder, {dense(kTurned, attention.result())}, {last}, "");
  dnnl::graph::graph graph(dnnl::engine::kind::cpu);
  for (const op* one : {&first, &scale, &add, &softmax, &second, &turn, &copy}) graph.add_op(*one);
  graph.finalize();
  const std::vector<dnnl::graph::partition> partitions = graph.get_partitions();
  if (partitions.size() != 1 || !partitions[0].is_supported())
    return std::unexpected(Refusal{RefusalReason::kMissing, "the library makes several partitions of it"});
  return partitions[0];
}

/// What all calls of a kernel share.
struct Loaded {
  Attention attention;
  dnnl::engine engine;
  Buffer mask;  ///< of a constant one
  std::vector<logical_tensor> inputs;
  logical_tensor output;
  dnnl::graph::compiled_partition compiled;
};

class AttentionCall final : public Call {
 public:
  AttentionCall(std::shared_ptr<const Loaded> loaded, const Buffers& buffers)
      : loaded_(std::move(loaded)), stream_(loaded_->engine) {
    for (const logical_tensor& input : loaded_->inputs)
      inputs_.emplace_back(input, loaded_->engine, address(static_cast<Id>(input.get_id()), buffers));
    outputs_.emplace_back(loaded_->output, loaded_->engine, buffers.outputs[0]);
  }

  Result<void> run() override {
    const KeepOpenMpThreads keep;
    use_threads(loaded_->attention.threads);
    const auto done = guard([&] {
      loaded_->compiled.execute(stream_, inputs_, outputs_);
      stream_.wait();
    });
    if (!done) return fail(ExitCode::kUnsupported, "backend/library-failed", kBackendKind, done.error());
    return {};
  }

 private:
  void* address(Id id, const Buffers& buffers) {
    const Attention& attention = loaded_->attention;
    const auto of = [&](const Seen& seen) {
      return const_cast<void*>(seen.is_constant ? loaded_->mask.data() : buffers.inputs[seen.index]);
    };
    switch (id) {
      case kQ:
        return of(attention.q);
      case kK:
        return of(attention.k);
      case kV:
        return of(attention.v);
      case kMask:
        return of(attention.mask);
      default:
        return &scale_;
    }
  }

  std::shared_ptr<const Loaded> loaded_;
  float scale_ = loaded_->attention.scale;
  dnnl::stream stream_;
  std::vector<dnnl::graph::tensor> inputs_, outputs_;
};

class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}

  Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    auto call = guard([&]() -> std::unique_ptr<Call> { return std::make_unique<AttentionCall>(loaded_, buffers); });
    if (!call) return fail(ExitCode::kUnsupported, "backend/library-failed", kBackendKind, call.error());
    return std::move(*call);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

/// Only of formats that are common to all backends is it known that they have room for all elements.
bool has_elements(const Port& port, const Extents& extents) {
  return port.type.is_static() && port.type.element == ElementType::kFloat32 && is_common(port.place.format) &&
         !port.place.format.narrow() && element_count(port.type.extents()) == element_count(extents);
}

/// Every factor is a port of as many elements, or the constant.
bool fits(const Attention& attention, const LoadRequest& request) {
  for (const Seen* seen : {&attention.q, &attention.k, &attention.v, &attention.mask}) {
    if (seen->is_constant) {
      const bool is_mask = seen == &attention.mask && request.constants.size() == 1;
      if (!is_mask || request.constants[0].type != ElementType::kFloat32 ||
          request.constants[0].size() != element_count(seen->extents) ||
          request.constants[0].data.size() < byte_count(ElementType::kFloat32, seen->extents))
        return false;
    } else if (seen->index >= request.inputs.size() || !has_elements(request.inputs[seen->index], seen->extents)) {
      return false;
    }
  }
  return request.outputs.size() == 1 && has_elements(request.outputs[0], attention.result());
}

std::shared_ptr<Loaded> compiled(const Attention& attention, const dnnl::engine& engine) {
  const auto partition = partition_of(attention);
  if (!partition) throw std::runtime_error(partition.error().detail);
  auto loaded = std::make_shared<Loaded>();
  loaded->attention = attention;
  loaded->engine = engine;
  loaded->inputs = partition->get_input_ports();
  loaded->output = partition->get_output_ports().at(0);
  loaded->compiled = partition->compile(loaded->inputs, {loaded->output}, engine);
  return loaded;
}

}  // namespace

std::expected<void, Refusal> try_attention(const Attention& attention, const dnnl::engine& engine) {
  use_threads(attention.threads);
  if (const auto partition = partition_of(attention); !partition) return std::unexpected(partition.error());
  (void)compiled(attention, engine);
  return {};
}

Result<std::unique_ptr<Kernel>> load_attention(const Attention& attention, const LoadRequest& request,
                                               const dnnl::engine& engine) {
  if (!fits(attention, request))
    return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, "ports of other extents",
                "the ports it was made for");
  const KeepOpenMpThreads keep;
  use_threads(attention.threads);
  auto loaded = guard([&] { return compiled(attention, engine); });
  if (!loaded) return fail(ExitCode::kUnsupported, "backend/library-failed", kBackendKind, loaded.error());
  if (attention.mask.is_constant) (*loaded)->mask = request.constants[0].data;
  return std::make_unique<AttentionKernel>(std::move(*loaded));
}

}  // namespace collage::onednn
