#include "subgraph.h"

#include <algorithm>
#include <array>

#include "library.h"
#include "nodes.h"

namespace collage::xnnpack {
namespace {

/// The library's own joining of operations is left out: it writes the limits of a clamp over other parameters of the
/// operation before, so that limits which do not begin at 0 change its padding. lowering/ joins what can be joined.
/// The flag stands in the library's inner header src/xnnpack/subgraph.h.
constexpr std::uint32_t kNoFusion = 0x80000000;

xnn_datatype datatype_of(const TensorInfo& tensor) {
  const bool by_channel = tensor.channel_axis >= 0;
  switch (tensor.type) {
    case ElementType::kInt8:
      return by_channel ? xnn_datatype_qcint8 : xnn_datatype_qint8;
    case ElementType::kUint8:
      require(!by_channel, "scales of channels of u8");
      return xnn_datatype_quint8;
    case ElementType::kInt32:
      return by_channel ? xnn_datatype_qcint32 : xnn_datatype_qint32;
    default:
      return xnn_datatype_fp32;
  }
}

/// The library keeps a pointer to several scales.
std::uint32_t define_integers(xnn_subgraph_t subgraph, const TensorInfo& tensor, const void* data, std::uint32_t port,
                              std::uint32_t flags) {
  const std::vector<std::size_t> sizes = sizes_of(tensor.extents);
  std::uint32_t id = XNN_INVALID_VALUE_ID;
  if (tensor.channel_axis < 0) {
    require(tensor.scales.size() == 1, "no scale, or several");
    check_status(xnn_define_quantized_tensor_value(subgraph, datatype_of(tensor), tensor.zero, tensor.scales[0],
                                                   sizes.size(), sizes.data(), data, port, flags, &id),
                 "a tensor of integers");
    return id;
  }
  const auto axis = static_cast<std::size_t>(tensor.channel_axis);
  require(axis < sizes.size() && tensor.scales.size() == sizes[axis] && tensor.zero == 0, "scales of other channels");
  check_status(xnn_define_channelwise_quantized_tensor_value(subgraph, datatype_of(tensor), tensor.scales.data(),
                                                             sizes.size(), axis, sizes.data(), data, port, flags, &id),
               "a tensor of integers");
  return id;
}

std::uint32_t define_tensor(xnn_subgraph_t subgraph, const TensorInfo& tensor, const Ports& ports,
                            const Buffer& bytes) {
  const std::vector<std::size_t> sizes = sizes_of(tensor.extents);
  const bool is_port = tensor.role == Role::kInput || tensor.role == Role::kOutput;
  std::uint32_t flags = 0;
  if (tensor.role == Role::kInput) flags = XNN_VALUE_FLAG_EXTERNAL_INPUT;
  if (tensor.role == Role::kOutput) flags = XNN_VALUE_FLAG_EXTERNAL_OUTPUT;
  const bool is_known = tensor.role == Role::kConstant || tensor.role == Role::kLiteral;
  require(!is_known || !bytes.bytes().empty(), "a constant without bytes");
  std::uint32_t id = XNN_INVALID_VALUE_ID;
  const void* data = is_known ? bytes.data() : nullptr;
  const std::uint32_t port = is_port ? ports.id_of(tensor) : XNN_INVALID_VALUE_ID;
  if (tensor.type != ElementType::kFloat32) return define_integers(subgraph, tensor, data, port, flags);
  check_status(xnn_define_tensor_value(subgraph, xnn_datatype_fp32, sizes.size(), sizes.data(), data, port, flags, &id),
               "a tensor");
  return id;
}

void check_output(xnn_runtime_t runtime, std::uint32_t id, const Extents& extents) {
  std::array<std::size_t, XNN_MAX_TENSOR_DIMS> sizes{};
  std::size_t rank = 0;
  check_status(xnn_get_external_value_shape(runtime, id, &rank, sizes.data()), "the extents of an output");
  require(std::equal(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(rank), extents.begin(), extents.end(),
                     [](std::size_t a, std::int64_t b) { return static_cast<std::int64_t>(a) == b; }),
          "the library computes an output of other extents");
}

}  // namespace

Subgraph make_subgraph(const Program& program, const Ports& ports, const std::vector<Buffer>& bytes) {
  xnn_subgraph_t made = nullptr;
  check_status(xnn_create_subgraph(ports.inputs + ports.outputs, 0, &made), "a subgraph");
  Subgraph subgraph(made);
  std::vector<bool> is_used(program.tensors.size(), false);
  for (const Op& op : program.ops) {
    is_used[static_cast<std::size_t>(op.output)] = true;
    for (const int input : op.inputs) is_used[static_cast<std::size_t>(input)] = true;
  }
  std::vector<std::uint32_t> ids(program.tensors.size(), XNN_INVALID_VALUE_ID);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (is_used[i]) ids[i] = define_tensor(made, program.tensors[i], ports, bytes[i]);
  define_nodes(program, made, std::move(ids));
  return subgraph;
}

WeightsCache make_weights_cache() {
  xnn_weights_cache_t cache = nullptr;
  check_status(xnn_create_weights_cache(&cache), "a weights cache");
  return WeightsCache(cache);
}

Runtime make_runtime(const Program& program, const Ports& ports, const std::vector<Buffer>& bytes,
                     xnn_weights_cache_t cache, pthreadpool_t pool) {
  const Subgraph subgraph = make_subgraph(program, ports, bytes);
  xnn_runtime_t made = nullptr;
  check_status(xnn_create_runtime_v4(subgraph.get(), cache, nullptr, pool, kNoFusion, &made), "a runtime");
  Runtime runtime(made);
  if (cache != nullptr && !xnn_weights_cache_is_finalized(cache))
    check_status(xnn_finalize_weights_cache(cache, xnn_weights_cache_finalization_kind_soft), "packed weights");
  check_status(xnn_reshape_runtime(made), "extents");
  for (const TensorInfo& tensor : program.tensors)
    if (tensor.role == Role::kOutput) check_output(made, ports.id_of(tensor), tensor.extents);
  return runtime;
}

}  // namespace collage::xnnpack
