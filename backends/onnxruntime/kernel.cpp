#include "backends/onnxruntime/kernel.h"

#include <algorithm>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include "backend/cancel.h"
#include "backend/open_kernel.h"
#include "backends/common/engine/engine_support.h"
#include "backends/onnxruntime/bound_port.h"
#include "backends/onnxruntime/fed_call.h"
#include "backends/onnxruntime/held_values.h"

namespace collage {
namespace {

/// Throws what the library throws.
void bind_input(Ort::IoBinding& binding, OnnxruntimeSession& session, const Ort::MemoryInfo& memory,
                const BoundPort& port, const void* data, const Extents& extents) {
  const char* const name = port.name.c_str();
  if (!port.held)
    return binding.BindInput(name, tensor_over(memory, at_extents(port, extents), const_cast<void*>(data)));
  const auto& held = *static_cast<const HeldValue*>(data);
  if (const Ort::Value* const theirs = onnxruntime_value(held)) return binding.BindInput(name, *theirs);
  binding.BindInput(name, make_onnxruntime_value(*session.environment, *port.held, held));
}

bool has_optional(const BoundPort& port) { return port.held && port.held->kind == ValueKind::kOptional; }

/// One run, which ends between two of the library's nodes when it is cancelled.
void run_session(Ort::Session& session, const Ort::RunOptions& plain, const Ort::IoBinding& binding,
                 const std::stop_token* cancel) {
  if (cancel == nullptr || !cancel->stop_possible()) {
    session.Run(plain, binding);
    return;
  }
  Ort::RunOptions options;
  const std::stop_callback on_cancel(*cancel, [&] { options.SetTerminate(); });
  session.Run(options, binding);
}

class OnnxruntimeCall final : public Call {
 public:
  /// `dynamic`: names of the outputs whose shapes a run decides.
  OnnxruntimeCall(std::shared_ptr<OnnxruntimeSession> session, Ort::IoBinding binding, Ort::MemoryInfo memory,
                  std::vector<std::string> dynamic, const std::vector<BoundPort>& inputs,
                  const std::vector<BoundPort>& outputs, const std::stop_token* cancel)
      : session_(std::move(session)),
        binding_(std::move(binding)),
        memory_(std::move(memory)),
        dynamic_(std::move(dynamic)),
        inputs_(inputs),
        cancel_(cancel),
        held_types_(outputs.size()),
        held_(outputs.size()) {
    for (std::size_t i = 0; i < outputs.size(); ++i) held_types_[i] = outputs[i].held;
  }

  Result<void> run() override {
    for (auto& held : held_) held.reset();
    outputs_.clear();
    const auto done = guard([&] {
      // A binding keeps what the last run made, and the next one would have to give the same shape.
      for (const std::string& name : dynamic_) binding_.BindOutput(name.c_str(), memory_);
      run_session(*session_->session, options_, binding_, cancel_);
    });
    if (done) return {};
    if (is_cancelled(cancel_)) return run_cancelled();
    return library_failed("onnxruntime run", done.error());
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    const auto found = guard([&] {
      if (outputs_.empty()) outputs_ = binding_.GetOutputValues();
      const Ort::Value& value = outputs_.at(port);
      if (held_types_.at(port)) {
        if (!held_[port]) held_[port] = std::make_unique<OnnxruntimeValue>(value, *held_types_[port]);
        return DynamicOutput{.extents = {}, .held = held_[port].get()};
      }
      return tensor_output(value);
    });
    if (!found) return library_failed("onnxruntime output " + std::to_string(port), found.error());
    return *found;
  }

  Result<bool> move_inputs(std::span<const void* const> inputs, std::span<const Extents> extents) override {
    const auto done = guard([&] {
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (!inputs_[i].is_static) bind_input(binding_, *session_, memory_, inputs_[i], inputs[i], extents[i]);
    });
    if (!done) return library_failed("onnxruntime bind", done.error());
    return true;
  }

 private:
  std::shared_ptr<OnnxruntimeSession> session_;
  Ort::IoBinding binding_;
  Ort::MemoryInfo memory_;
  std::vector<std::string> dynamic_;
  std::vector<BoundPort> inputs_;
  const std::stop_token* cancel_;
  Ort::RunOptions options_;
  std::vector<Ort::Value> outputs_;                      ///< of the last run, once asked for
  std::vector<std::optional<ValueType>> held_types_;     ///< by output
  std::vector<std::unique_ptr<OnnxruntimeValue>> held_;  ///< by output, once asked for
};

class OnnxruntimeKernel final : public OpenKernel {
 public:
  OnnxruntimeKernel(std::shared_ptr<OnnxruntimeSession> session, std::vector<BoundPort> inputs,
                    std::vector<BoundPort> outputs)
      : session_(std::move(session)), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    std::vector<Extents> extents;
    for (const BoundPort& input : inputs_) extents.push_back(input.extents);
    return bind_at(buffers, extents);
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                      std::span<const Extents> extents) const override {
    if (buffers.inputs.size() != inputs_.size() || extents.size() != inputs_.size() ||
        buffers.outputs.size() != outputs_.size())
      return fail(
          ExitCode::kBug, "backend/wrong-ports", "onnxruntime",
          std::to_string(buffers.inputs.size()) + " inputs and " + std::to_string(buffers.outputs.size()) + " outputs",
          std::to_string(inputs_.size()) + " and " + std::to_string(outputs_.size()));
    auto call = guard([&]() -> std::unique_ptr<Call> {
      // A binding does not take an optional without a value: the process dies.
      if (std::ranges::any_of(inputs_, has_optional))
        return make_fed_call(session_, inputs_, outputs_, buffers, extents);
      auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
      Ort::IoBinding binding(*session_->session);
      std::vector<std::string> dynamic;
      for (std::size_t i = 0; i < inputs_.size(); ++i)
        bind_input(binding, *session_, memory, inputs_[i], buffers.inputs[i], extents[i]);
      for (std::size_t i = 0; i < outputs_.size(); ++i) {
        // All of them now: their order is that of the values.
        if (outputs_[i].is_static) {
          binding.BindOutput(outputs_[i].name.c_str(), tensor_over(memory, outputs_[i], buffers.outputs[i]));
        } else {
          binding.BindOutput(outputs_[i].name.c_str(), memory);
          dynamic.push_back(outputs_[i].name);
        }
      }
      return std::make_unique<OnnxruntimeCall>(session_, std::move(binding), std::move(memory), std::move(dynamic),
                                               inputs_, outputs_, buffers.cancel);
    });
    if (!call) return library_failed("onnxruntime bind", call.error());
    return std::move(*call);
  }

 private:
  std::shared_ptr<OnnxruntimeSession> session_;
  std::vector<BoundPort> inputs_;
  std::vector<BoundPort> outputs_;
};

Result<std::vector<BoundPort>> match_ports(const std::vector<Port>& ports, const std::vector<std::string>& names) {
  std::vector<BoundPort> bound;
  for (const Port& port : ports) {
    bound.push_back(bound_port(port));
    if (std::find(names.begin(), names.end(), bound.back().name) == names.end())
      return fail(ExitCode::kBadInput, "backend/bad-artifact", "onnxruntime artifact",
                  "no input or output '" + bound.back().name + "'", "a model with the step's ports");
  }
  return bound;
}

}  // namespace

Result<std::unique_ptr<Kernel>> make_kernel(std::shared_ptr<OnnxruntimeSession> session,
                                            const std::vector<Port>& inputs, const std::vector<Port>& outputs) {
  COLLAGE_TRY(auto bound_inputs, match_ports(inputs, session->input_names));
  COLLAGE_TRY(auto bound_outputs, match_ports(outputs, session->output_names));
  return std::make_unique<OnnxruntimeKernel>(std::move(session), std::move(bound_inputs), std::move(bound_outputs));
}

}  // namespace collage
