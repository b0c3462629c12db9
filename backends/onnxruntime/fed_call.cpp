#include "backends/onnxruntime/fed_call.h"

#include <utility>

#include "backends/common/engine/engine_support.h"
#include "backends/onnxruntime/held_values.h"

namespace collage {
namespace {

class FedCall final : public Call {
 public:
  FedCall(std::shared_ptr<OnnxruntimeSession> session, const std::vector<BoundPort>& inputs,
          const std::vector<BoundPort>& outputs, std::vector<void*> buffers)
      : session_(std::move(session)),
        memory_(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault)),
        inputs_(inputs),
        outputs_(outputs),
        buffers_(std::move(buffers)) {}

  /// Throws what the library throws.
  void feed(std::span<const void* const> inputs, std::span<const Extents> extents) {
    own_.clear();
    fed_.clear();
    own_.reserve(inputs_.size());  // the list below points into it
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const BoundPort& port = inputs_[i];
      if (!port.held) {
        own_.push_back(tensor_over(memory_, at_extents(port, extents[i]), const_cast<void*>(inputs[i])));
        fed_.push_back(own_.back());
        continue;
      }
      const auto& held = *static_cast<const HeldValue*>(inputs[i]);
      if (const Ort::Value* const theirs = onnxruntime_value(held)) {
        fed_.push_back(*theirs);
      } else {
        own_.push_back(make_onnxruntime_value(*session_->environment, *port.held, held));
        fed_.push_back(own_.back());
      }
    }
  }

  Result<void> run() override {
    held_.assign(outputs_.size(), nullptr);
    made_.clear();
    const auto done = guard([&] { run_session(); });
    if (!done) return library_failed("onnxruntime run", done.error());
    return {};
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    const auto found = guard([&] {
      const Ort::Value& value = made_.at(port);
      if (outputs_.at(port).held) {
        if (!held_[port]) held_[port] = std::make_shared<OnnxruntimeValue>(value, *outputs_[port].held);
        return DynamicOutput{.extents = {}, .held = held_[port].get()};
      }
      return tensor_output(value);
    });
    if (!found) return library_failed("onnxruntime output " + std::to_string(port), found.error());
    return *found;
  }

  Result<bool> move_inputs(std::span<const void* const> inputs, std::span<const Extents> extents) override {
    const auto done = guard([&] { feed(inputs, extents); });
    if (!done) return library_failed("onnxruntime feed", done.error());
    return true;
  }

 private:
  void run_session() {
    std::vector<const char*> input_names;
    std::vector<const char*> output_names;
    for (const BoundPort& port : inputs_) input_names.push_back(port.name.c_str());
    std::vector<OrtValue*> made;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      output_names.push_back(outputs_[i].name.c_str());
      made_.push_back(outputs_[i].is_static ? tensor_over(memory_, outputs_[i], buffers_[i]) : Ort::Value(nullptr));
      made.push_back(made_.back());
    }
    Ort::ThrowOnError(Ort::GetApi().Run(*session_->session, options_, input_names.data(), fed_.data(), fed_.size(),
                                        output_names.data(), output_names.size(), made.data()));
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      if (!outputs_[i].is_static) made_[i] = Ort::Value(made[i]);
  }

  std::shared_ptr<OnnxruntimeSession> session_;
  Ort::MemoryInfo memory_;
  std::vector<BoundPort> inputs_;
  std::vector<BoundPort> outputs_;
  std::vector<void*> buffers_;  ///< of the outputs
  Ort::RunOptions options_;
  std::vector<Ort::Value> own_;                          ///< inputs that are made here
  std::vector<const OrtValue*> fed_;                     ///< by input
  std::vector<Ort::Value> made_;                         ///< by output, of the last run
  std::vector<std::shared_ptr<OnnxruntimeValue>> held_;  ///< by output, once asked for
};

}  // namespace

std::unique_ptr<Call> make_fed_call(std::shared_ptr<OnnxruntimeSession> session, const std::vector<BoundPort>& inputs,
                                    const std::vector<BoundPort>& outputs, const Buffers& buffers,
                                    std::span<const Extents> extents) {
  auto call = std::make_unique<FedCall>(std::move(session), inputs, outputs, buffers.outputs);
  call->feed(buffers.inputs, extents);
  return call;
}

}  // namespace collage
