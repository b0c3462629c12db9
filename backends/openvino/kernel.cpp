#include "backends/openvino/kernel.h"

#include <algorithm>
#include <span>
#include <stop_token>

#include "backend/cancel.h"
#include "backend/open_kernel.h"
#include "backends/common/engine/engine_support.h"

namespace collage {
namespace {

/// What bind() needs to know about a port.
struct BoundPort {
  std::size_t index = 0;  ///< among the model's inputs or outputs
  ov::element::Type element;
  ov::Shape shape;  ///< as it lies in memory
  bool is_static = true;
};

/// Stands for the memory of tensors without elements, which the library wants to be somewhere.
alignas(64) constexpr std::byte kNowhere[64] = {};

ov::Tensor tensor_over(ov::element::Type element, const ov::Shape& shape, void* data) {
  if (data == nullptr && ov::shape_size(shape) == 0) data = const_cast<std::byte*>(kNowhere);
  return ov::Tensor(element, shape, data);
}

/// One run. One that may be cancelled is started first: a request that does not run takes no notice of cancel(). It
/// then ends between two of the library's nodes.
void infer(ov::InferRequest& request, const std::stop_token* cancel) {
  if (cancel == nullptr || !cancel->stop_possible()) {
    request.infer();
    return;
  }
  request.start_async();
  const std::stop_callback on_cancel(*cancel, [&] { request.cancel(); });
  request.wait();
}

class OpenvinoCall final : public Call {
 public:
  OpenvinoCall(std::shared_ptr<OpenvinoModel> model, ov::InferRequest request, const std::vector<BoundPort>& inputs,
               const std::stop_token* cancel)
      : model_(std::move(model)), request_(std::move(request)), inputs_(inputs), cancel_(cancel) {}

  Result<void> run() override {
    const auto done = guard([&] { infer(request_, cancel_); });
    if (done) return {};
    if (is_cancelled(cancel_)) return run_cancelled();
    return library_failed("openvino run", done.error());
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    const auto found = guard([&] {
      const ov::Tensor tensor = request_.get_output_tensor(model_->outputs.at(port));
      DynamicOutput output{.type = from_openvino(tensor.get_element_type()), .extents = {}, .data = tensor.data()};
      for (const std::size_t extent : tensor.get_shape()) output.extents.push_back(static_cast<std::int64_t>(extent));
      return output;
    });
    if (!found) return library_failed("openvino output " + std::to_string(port), found.error());
    return *found;
  }

  Result<bool> move_inputs(std::span<const void* const> inputs, std::span<const Extents> extents) override {
    const auto done = guard([&] {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (!inputs_[i].is_static)
          request_.set_input_tensor(inputs_[i].index,
                                    tensor_over(inputs_[i].element, ov::Shape(extents[i].begin(), extents[i].end()),
                                                const_cast<void*>(inputs[i])));
    });
    if (!done) return library_failed("openvino bind", done.error());
    return true;
  }

 private:
  std::shared_ptr<OpenvinoModel> model_;
  ov::InferRequest request_;
  std::vector<BoundPort> inputs_;
  const std::stop_token* cancel_;
};

class OpenvinoKernel final : public OpenKernel {
 public:
  OpenvinoKernel(std::shared_ptr<OpenvinoModel> model, std::vector<BoundPort> inputs, std::vector<BoundPort> outputs)
      : model_(std::move(model)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    for (const BoundPort& input : inputs_) shapes_.push_back(input.shape);
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return bind_shapes(buffers, shapes_);
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                      std::span<const Extents> extents) const override {
    std::vector<ov::Shape> shapes = shapes_;
    for (std::size_t i = 0; i < extents.size() && i < inputs_.size(); ++i)
      if (!inputs_[i].is_static) shapes[i].assign(extents[i].begin(), extents[i].end());
    return bind_shapes(buffers, shapes);
  }

 private:
  [[nodiscard]] Result<std::unique_ptr<Call>> bind_shapes(const Buffers& buffers,
                                                          const std::vector<ov::Shape>& shapes) const {
    if (buffers.inputs.size() != inputs_.size() || buffers.outputs.size() != outputs_.size())
      return fail(
          ExitCode::kBug, "backend/wrong-ports", "openvino",
          std::to_string(buffers.inputs.size()) + " inputs and " + std::to_string(buffers.outputs.size()) + " outputs",
          std::to_string(inputs_.size()) + " and " + std::to_string(outputs_.size()));
    auto call = guard([&]() -> std::unique_ptr<Call> {
      ov::InferRequest request = model_->compiled.create_infer_request();
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        request.set_input_tensor(inputs_[i].index,
                                 tensor_over(inputs_[i].element, shapes[i], const_cast<void*>(buffers.inputs[i])));
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        if (outputs_[i].is_static)
          request.set_output_tensor(outputs_[i].index,
                                    tensor_over(outputs_[i].element, outputs_[i].shape, buffers.outputs[i]));
      return std::make_unique<OpenvinoCall>(model_, std::move(request), inputs_, buffers.cancel);
    });
    if (!call) return library_failed("openvino bind", call.error());
    return std::move(*call);
  }

  std::shared_ptr<OpenvinoModel> model_;
  std::vector<BoundPort> inputs_;
  std::vector<ov::Shape> shapes_;  ///< of the inputs
  std::vector<BoundPort> outputs_;
};

BoundPort bound_port(const Port& port, std::size_t index) {
  BoundPort bound{.index = index, .element = to_openvino(stored_element(port.type, port.place.format)), .shape = {}};
  bound.is_static = port.type.is_static();
  if (!bound.is_static) return bound;
  for (const std::int64_t extent : port.type.extents()) bound.shape.push_back(static_cast<std::size_t>(extent));
  if (port.place.format.full().is_channels_last())
    std::rotate(bound.shape.begin() + 1, bound.shape.begin() + 2, bound.shape.end());
  return bound;
}

Result<std::vector<BoundPort>> match_ports(const std::vector<Port>& ports, const std::vector<std::size_t>& indices,
                                           const std::vector<ov::Output<const ov::Node>>& of_model) {
  std::vector<BoundPort> bound;
  const auto bad = [](const std::string& saw) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "openvino artifact", saw, "a model with the step's ports");
  };
  if (ports.size() != indices.size()) return bad(std::to_string(indices.size()) + " ports");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    bound.push_back(bound_port(ports[i], indices[i]));
    const auto& model_port = of_model[indices[i]];
    const bool same_type = model_port.get_element_type() == bound.back().element;
    const bool fits = !bound.back().is_static || model_port.get_partial_shape().compatible(bound.back().shape);
    if (!same_type || !fits)
      return bad("port '" + ports[i].name + "' as " + model_port.get_element_type().to_string() +
                 model_port.get_partial_shape().to_string());
  }
  return bound;
}

}  // namespace

Result<std::unique_ptr<Kernel>> make_kernel(std::shared_ptr<OpenvinoModel> model, const std::vector<Port>& inputs,
                                            const std::vector<Port>& outputs) {
  COLLAGE_TRY(auto bound_inputs, match_ports(inputs, model->inputs, model->compiled.inputs()));
  COLLAGE_TRY(auto bound_outputs, match_ports(outputs, model->outputs, model->compiled.outputs()));
  return std::make_unique<OpenvinoKernel>(std::move(model), std::move(bound_inputs), std::move(bound_outputs));
}

}  // namespace collage
