#include "backends/onnxruntime/fed_call.h"

#include <map>
#include <stdexcept>
#include <utility>

#include "backends/common/engine/engine_support.h"
#include "backends/onnxruntime/held_values.h"
#include "onnx/empty_value.h"

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
    names_.clear();
    own_.reserve(inputs_.size());  // the list below points into it
    absent_.clear();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const BoundPort& port = inputs_[i];
      if (port.held && is_absent(*port.held, *static_cast<const HeldValue*>(inputs[i]))) {
        absent_.emplace_back(port.name, *port.held);
        continue;
      }
      names_.push_back(port.name.c_str());
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
    active_ = absent_.empty() ? session_ : session_without();
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
  static bool is_absent(const ValueType& type, const HeldValue& held) {
    if (type.kind != ValueKind::kOptional) return false;
    if (const Ort::Value* const theirs = onnxruntime_value(held)) return !theirs->HasValue();
    const auto plain = held.plain();
    return plain && plain->items.empty();
  }

  /// The library dies of an optional without a value among a session's inputs: a session that makes it inside.
  std::shared_ptr<OnnxruntimeSession> session_without() {
    std::string key;
    for (const auto& [name, type] : absent_) key += name + '\n';
    std::shared_ptr<OnnxruntimeSession>& found = without_[key];
    if (found) return found;
    const auto model = with_absent_inputs(session_->model, absent_);
    if (!model) throw std::runtime_error("no model of optionals without a value");
    auto made = make_session(session_->environment, session_->settings, *model, session_->constants);
    if (!made) throw std::runtime_error(made.error());
    found = std::move(*made);
    return found;
  }

  void run_session() {
    std::vector<const char*> output_names;
    std::vector<OrtValue*> made;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      output_names.push_back(outputs_[i].name.c_str());
      made_.push_back(outputs_[i].is_static ? tensor_over(memory_, outputs_[i], buffers_[i]) : Ort::Value(nullptr));
      made.push_back(made_.back());
    }
    Ort::ThrowOnError(Ort::GetApi().Run(*active_->session, options_, names_.data(), fed_.data(), fed_.size(),
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
  std::vector<Ort::Value> own_;       ///< inputs that are made here
  std::vector<const OrtValue*> fed_;  ///< of the inputs that are there
  std::vector<const char*> names_;    ///< likewise
  std::vector<std::pair<std::string, ValueType>> absent_;
  std::shared_ptr<OnnxruntimeSession> active_;                          ///< which the next run uses
  std::map<std::string, std::shared_ptr<OnnxruntimeSession>> without_;  ///< by the names of absent inputs
  std::vector<Ort::Value> made_;                                        ///< by output, of the last run
  std::vector<std::shared_ptr<OnnxruntimeValue>> held_;                 ///< by output, once asked for
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
