#include "tests/support/bound_kernel.h"

#include <algorithm>

namespace collage::test {

Result<BoundKernel> BoundKernel::create(const Kernel& kernel, const LoadRequest& loaded,
                                        const std::vector<Tensor>& inputs, FormatConverter& converter,
                                        std::optional<SharedPorts> shared) {
  COLLAGE_CHECK(inputs.size() == loaded.inputs.size(), "a tensor for each input");
  BoundKernel bound(converter);
  bound.input_ports_ = loaded.inputs;
  bound.output_ports_ = loaded.outputs;
  COLLAGE_TRY_VOID(bound.fill_inputs(inputs));
  COLLAGE_TRY_VOID(bound.make_outputs(shared));
  bound.workspace_ = GuardedBytes(loaded.artifact.workspace_bytes);
  bound.workspace_.poison(ElementType::kFloat32);
  Buffers buffers{.inputs = {}, .outputs = {}, .workspace = bound.workspace_.data()};
  for (std::size_t i = 0; i < bound.inputs_.size(); ++i)
    buffers.inputs.push_back(bound.held_[i] ? static_cast<const void*>(bound.held_[i].get()) : bound.inputs_[i].data());
  for (std::size_t i = 0; i < bound.outputs_.size(); ++i)
    buffers.outputs.push_back(bound.is_shared(i) ? bound.inputs_[shared->second].data() : bound.outputs_[i].data());
  COLLAGE_TRY(bound.call_, kernel.bind(buffers));
  return bound;
}

Result<std::vector<Tensor>> BoundKernel::run() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i].poison(output_ports_[i].type.element);
  COLLAGE_TRY_VOID(call_->run());
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    COLLAGE_TRY(Tensor tensor, output_ports_[i].type.is_static() ? plain_output(i) : dynamic_output(i));
    results.push_back(std::move(tensor));
  }
  return results;
}

Result<std::string> BoundKernel::damage() const {
  if (!guards_hold()) return "bytes outside of a buffer";
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (!(shared_ && shared_->second == i) && !std::ranges::equal(inputs_[i].bytes(), originals_[i]))
      return "input " + std::to_string(i);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    COLLAGE_TRY(const bool is_right, is_padded(i));
    if (!is_right) return "padding of output " + std::to_string(i) + " in " + output_ports_[i].place.format.name;
  }
  return "";
}

Result<void> BoundKernel::fill_inputs(const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Port& port = input_ports_[i];
    held_.push_back(port.type.is_held() ? std::make_unique<PlainValue>(tensors[i]) : nullptr);
    if (held_.back()) {
      inputs_.emplace_back();
      originals_.emplace_back();
      continue;
    }
    COLLAGE_TRY(const std::size_t size, converter_->bytes_of(port.type, port.place.format));
    const GuardedBytes plain_bytes(tensors[i].data.size());
    std::ranges::copy(tensors[i].data.bytes(), plain_bytes.bytes().begin());
    inputs_.emplace_back(size);
    const std::span<std::byte> filled = inputs_.back().bytes();
    if (size > 0) {
      COLLAGE_TRY_VOID(converter_->convert(port.type, plain(), plain_bytes.bytes(), port.place.format, filled, 1));
    }
    originals_.emplace_back(filled.begin(), filled.end());
  }
  return {};
}

Result<void> BoundKernel::make_outputs(std::optional<SharedPorts> shared) {
  shared_ = shared;
  for (std::size_t i = 0; i < output_ports_.size(); ++i) {
    const Port& port = output_ports_[i];
    std::size_t size = 0;
    if (port.type.is_static()) {
      COLLAGE_TRY(size, converter_->bytes_of(port.type, port.place.format));
    }
    output_bytes_.push_back(size);
    outputs_.push_back(port.type.is_static() && !is_shared(i) ? GuardedBytes(size) : GuardedBytes());
  }
  if (shared && (shared->first >= output_ports_.size() || shared->second >= inputs_.size() ||
                 inputs_[shared->second].size() < output_bytes_[shared->first]))
    return fail(ExitCode::kBug, "test/in-place", "artifact", "ports that cannot share memory");
  return {};
}

std::span<const std::byte> BoundKernel::output(std::size_t port) const {
  return is_shared(port) ? inputs_[shared_->second].bytes().first(output_bytes_[port]) : outputs_[port].bytes();
}

Result<Tensor> BoundKernel::plain_output(std::size_t port) const {
  const ValueType& type = output_ports_[port].type;
  Result<void> converted;
  Buffer data = Buffer::make(byte_count(type.element, type.extents()), [&](std::span<std::byte> out) {
    if (out.empty()) return;
    converted = converter_->convert(type, output_ports_[port].place.format, output(port), plain(), out, 1);
  });
  if (!converted) return std::unexpected(converted.error());
  return Tensor{.type = type.element, .extents = type.extents(), .data = std::move(data), .strings = {}};
}

Result<Tensor> BoundKernel::dynamic_output(std::size_t port) const {
  COLLAGE_TRY(const DynamicOutput made, call_->dynamic_output(port));
  return copy_of(made);
}

bool BoundKernel::guards_hold() const {
  return std::ranges::all_of(inputs_, &GuardedBytes::guards_hold) &&
         std::ranges::all_of(outputs_, &GuardedBytes::guards_hold) && workspace_.guards_hold();
}

Result<bool> BoundKernel::is_padded(std::size_t port) const {
  const Port& made = output_ports_[port];
  if (!made.type.is_static() || made.place.format.owner().empty()) return true;
  COLLAGE_TRY(const Tensor numbers, plain_output(port));
  const GuardedBytes again(output(port).size());
  COLLAGE_TRY_VOID(converter_->convert(made.type, plain(), numbers.data.bytes(), made.place.format, again.bytes(), 1));
  return std::ranges::equal(again.bytes(), output(port));
}

}  // namespace collage::test
