#include "backends/mnn/kernel.h"

#include <MNN/Interpreter.hpp>
#include <MNN/Tensor.hpp>
#include <stdexcept>

#include "backends/common/engine/engine_support.h"
#include "backends/mnn/net_writer.h"

namespace collage::mnn {
namespace {

/// What one call owns. The session and its tensors belong to the interpreter.
struct Opened {
  std::shared_ptr<MNN::Interpreter> interpreter;
  MNN::Session* session = nullptr;
  std::vector<MNN::Tensor*> inputs;
  std::vector<MNN::Tensor*> outputs;
};

void check_port(const MNN::Tensor* tensor, const NetPort& port, const std::string& name) {
  if (tensor == nullptr) throw std::runtime_error("the net has no " + name);
  const std::vector<int> shape = tensor->shape();
  const auto dimensions = port.is_channels_last ? MNN::Tensor::TENSORFLOW : MNN::Tensor::CAFFE;
  if (!std::equal(shape.begin(), shape.end(), port.extents.begin(), port.extents.end()) ||
      tensor->getType() != halide_type_of<float>() || tensor->getDimensionType() != dimensions)
    throw std::runtime_error(name + " has another shape in the net");
}

MNN::Session* create_session(MNN::Interpreter& interpreter, const StoredNet& stored) {
  interpreter.setSessionMode(MNN::Interpreter::Session_Release);
  interpreter.setSessionHint(MNN::Interpreter::WINOGRAD_MEMORY_LEVEL, stored.method.winograd);
  MNN::BackendConfig settings;
  settings.precision = MNN::BackendConfig::Precision_High;
  // In this mode the library has one way for convolutions only, the direct one.
  settings.memory = stored.method.is_direct ? MNN::BackendConfig::Memory_Low : MNN::BackendConfig::Memory_Normal;
  MNN::ScheduleConfig schedule;
  schedule.type = MNN_FORWARD_CPU;
  schedule.numThread = stored.threads;
  schedule.backendConfig = &settings;
  MNN::Session* session = interpreter.createSession(schedule);
  if (session == nullptr) throw std::runtime_error("no session can be created");
  int status = -1;
  interpreter.getSessionInfo(session, MNN::Interpreter::RESIZE_STATUS, &status);
  if (status != 0) throw std::runtime_error("a session of status " + std::to_string(status));
  return session;
}

Opened open(const StoredNet& stored, const NetPorts& ports, std::span<const Tensor> constants) {
  const auto bytes = filled(stored.net, counts_of(ports), constants);
  if (!bytes) throw std::runtime_error(bytes.error());
  Opened opened;
  opened.interpreter.reset(MNN::Interpreter::createFromBuffer(bytes->data(), bytes->size()), MNN::Interpreter::destroy);
  if (!opened.interpreter) throw std::runtime_error("the library does not read the net");
  opened.session = create_session(*opened.interpreter, stored);
  for (std::size_t i = 0; i < ports.inputs.size(); ++i) {
    const std::string name = input_name(i);
    opened.inputs.push_back(opened.interpreter->getSessionInput(opened.session, name.c_str()));
    check_port(opened.inputs.back(), ports.inputs[i], name);
  }
  for (std::size_t i = 0; i < ports.outputs.size(); ++i) {
    const std::string name = output_name(i);
    opened.outputs.push_back(opened.interpreter->getSessionOutput(opened.session, name.c_str()));
    check_port(opened.outputs.back(), ports.outputs[i], name);
  }
  // The session has packed the weights: the net's own copy is not read again.
  opened.interpreter->releaseModel();
  return opened;
}

void bind_buffers(Opened& opened, const Buffers& buffers) {
  for (std::size_t i = 0; i < opened.inputs.size(); ++i)
    opened.inputs[i]->buffer().host = static_cast<std::uint8_t*>(const_cast<void*>(buffers.inputs[i]));
  for (std::size_t i = 0; i < opened.outputs.size(); ++i)
    opened.outputs[i]->buffer().host = static_cast<std::uint8_t*>(buffers.outputs[i]);
}

class NetCall final : public Call {
 public:
  explicit NetCall(Opened opened) : opened_(std::move(opened)) {}

  Result<void> run() override {
    const MNN::ErrorCode code = opened_.interpreter->runSession(opened_.session);
    if (code != MNN::NO_ERROR) return library_failed("mnn run", "error " + std::to_string(static_cast<int>(code)));
    return {};
  }

 private:
  Opened opened_;
};

class NetKernel final : public Kernel {
 public:
  NetKernel(StoredNet stored, NetPorts ports, std::vector<Tensor> constants)
      : stored_(std::move(stored)), ports_(std::move(ports)), constants_(std::move(constants)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    auto call = guard([&]() -> std::unique_ptr<Call> {
      Opened opened = open(stored_, ports_, constants_);
      bind_buffers(opened, buffers);
      return std::make_unique<NetCall>(std::move(opened));
    });
    if (!call) return library_failed("mnn bind", call.error());
    return std::move(*call);
  }

 private:
  StoredNet stored_;
  NetPorts ports_;
  std::vector<Tensor> constants_;
};

}  // namespace

std::expected<void, std::string> try_session(const StoredNet& stored, const NetPorts& ports,
                                             std::span<const Tensor> constants) {
  return guard([&] { open(stored, ports, constants); });
}

std::unique_ptr<Kernel> make_kernel(StoredNet stored, NetPorts ports, std::vector<Tensor> constants) {
  return std::make_unique<NetKernel>(std::move(stored), std::move(ports), std::move(constants));
}

}  // namespace collage::mnn
