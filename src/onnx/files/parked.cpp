#include "onnx/files/parked.h"

#include "base/number_text.h"
#include "onnx/tensor_proto.h"

namespace collage {
namespace {

constexpr std::string_view kToken = "collage-parked:";
constexpr std::size_t kSmallest = 4096;

/// Inference reads integers (shapes, indices, pads) whatever their number; bools are made 0 and 1 where they are read.
bool may_be_read(ElementType type) {
  return type == ElementType::kInt64 || type == ElementType::kInt32 || type == ElementType::kBool;
}

}  // namespace

bool ParkedWeights::takes(ElementType type, std::size_t bytes) { return bytes > kSmallest && !may_be_read(type); }

void ParkedWeights::park(Tensor tensor, pb::TensorProto& message) {
  pb::TensorProto token;
  write_tensor_header(tensor, message.name(), token);
  token.set_raw_data(std::string(kToken) + std::to_string(tensors_.size()));
  message.Swap(&token);
  tensors_.push_back(std::move(tensor));
}

Result<void> ParkedWeights::park(pb::GraphProto& graph) {
  Result<void> result;
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& message : *one.mutable_initializer()) {
      if (!result) return;
      const auto type = element_type_from(message.data_type());
      const Extents extents(message.dims().begin(), message.dims().end());
      const auto bytes = type ? checked_byte_count(*type, extents) : std::nullopt;
      if (!bytes || !takes(*type, *bytes) || find(message) != nullptr) continue;
      auto tensor = to_tensor(message, "tensor '" + message.name() + "'");
      if (!tensor) {
        result = std::unexpected(std::move(tensor).error());
        return;
      }
      park(std::move(*tensor), message);
    }
  });
  return result;
}

const Tensor* ParkedWeights::named_by(const pb::TensorProto& message) const {
  const std::string& data = message.raw_data();
  if (!data.starts_with(kToken)) return nullptr;
  const auto index = number_in<std::size_t>(std::string_view(data).substr(kToken.size()));
  return index && *index < tensors_.size() ? &tensors_[*index] : nullptr;
}

const Tensor* ParkedWeights::find(const pb::TensorProto& message) const {
  const Tensor* const tensor = named_by(message);
  if (tensor == nullptr) return nullptr;
  const Extents extents(message.dims().begin(), message.dims().end());
  return tensor->extents == extents && static_cast<int>(tensor->type) == message.data_type() ? tensor : nullptr;
}

void ParkedWeights::show_as_tokens(pb::GraphProto& graph) const {
  for_each_graph(graph, [this](pb::GraphProto& one) {
    for (auto& message : *one.mutable_initializer()) {
      if (find(message) == nullptr) continue;
      message.set_data_type(pb::TensorProto::UINT8);
      message.clear_dims();
      message.add_dims(static_cast<std::int64_t>(message.raw_data().size()));
    }
  });
}

void ParkedWeights::show_as_weights(pb::GraphProto& graph) const {
  for_each_graph(graph, [this](pb::GraphProto& one) {
    for (auto& message : *one.mutable_initializer()) {
      const Tensor* const tensor = named_by(message);
      if (tensor == nullptr) continue;
      message.set_data_type(static_cast<int>(tensor->type));
      message.mutable_dims()->Assign(tensor->extents.begin(), tensor->extents.end());
    }
  });
}

}  // namespace collage
