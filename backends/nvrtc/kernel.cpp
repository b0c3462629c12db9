#include "backends/nvrtc/kernel.h"

#include "backends/common/cuda/constants.h"

namespace collage::nvrtc {
namespace {

using cuda::Handle;

std::unexpected<Error> misfit(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "nvrtc", std::move(saw), "what the artifact was made for");
}

/// A module of the GPU.
class Module {
 public:
  Module(cuda::CudaDevice& device, Handle handle) : device_(device), handle_(handle) {}
  ~Module() {
    const auto current = device_.use();
    if (!current) return;
    (void)device_.driver().wait_context();  // its kernels may be under way
    (void)device_.driver().end_module(handle_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  [[nodiscard]] Handle handle() const { return handle_; }

 private:
  cuda::CudaDevice& device_;
  Handle handle_;
};

/// What kernels and their calls share.
struct Loaded {
  cuda::CudaDevice& device;
  StoredKernels stored;
  std::unique_ptr<Module> module = nullptr;
  std::vector<Handle> functions = {};                         ///< by kernel
  std::vector<std::unique_ptr<DeviceMemory>> constants = {};  ///< by part
};

struct Launch {
  Handle function = nullptr;
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
  std::vector<cuda::DeviceAddress> addresses;
  std::vector<void*> parameters;  ///< pointers to the addresses
};

class CudaCall final : public Call {
 public:
  CudaCall(std::shared_ptr<const Loaded> loaded, std::vector<Launch> launches, DeviceQueue& queue)
      : loaded_(std::move(loaded)), launches_(std::move(launches)), stream_(queue.native()) {
    for (Launch& launch : launches_)
      for (cuda::DeviceAddress& address : launch.addresses) launch.parameters.push_back(&address);
  }

  Result<void> run() override {
    COLLAGE_TRY(const cuda::CurrentContext current, loaded_->device.use());
    const cuda::Driver& driver = loaded_->device.driver();
    for (Launch& one : launches_)
      COLLAGE_TRY_VOID(driver.check(
          driver.launch(one.function, one.blocks, 1, 1, one.threads, 1, 1, 0, stream_, one.parameters.data(), nullptr),
          "launch a kernel"));
    return {};
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
  std::vector<Launch> launches_;
  Handle stream_;
};

cuda::DeviceAddress address_of(const void* pointer) { return reinterpret_cast<cuda::DeviceAddress>(pointer); }

cuda::DeviceAddress address_of(const native::CudaBuffer& buffer, const Loaded& loaded, const Buffers& buffers) {
  if (buffer.kind == native::CudaBufferKind::kScratch) return address_of(buffers.workspace) + buffer.at;
  const native::Argument& argument = loaded.stored.arguments[buffer.at];
  switch (argument.kind) {
    case ArgumentKind::kInput:
      return address_of(buffers.inputs[argument.index]);
    case ArgumentKind::kOutput:
      return address_of(buffers.outputs[argument.index]);
    case ArgumentKind::kConstant:
      return address_of(loaded.constants[argument.index]->data());
  }
  return 0;
}

class CudaKernelObject final : public Kernel {
 public:
  explicit CudaKernelObject(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    COLLAGE_CHECK(buffers.queue != nullptr, "a kernel of a device is bound to its queue");
    std::vector<Launch> launches;
    for (std::size_t i = 0; i < loaded_->stored.kernels.size(); ++i) {
      const native::CudaKernel& kernel = loaded_->stored.kernels[i];
      Launch launch{.function = loaded_->functions[i],
                    .blocks = kernel.blocks,
                    .threads = kernel.threads,
                    .addresses = {},
                    .parameters = {}};
      for (const native::CudaBuffer& buffer : kernel.parameters)
        launch.addresses.push_back(address_of(buffer, *loaded_, buffers));
      launches.push_back(std::move(launch));
    }
    return std::make_unique<CudaCall>(loaded_, std::move(launches), *buffers.queue);
  }

  /// In the device's memory: nothing of it lies in the caches of the host.
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

/// Bytes that a view of a buffer spans.
std::size_t reach_of(const native::Argument& argument) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < argument.extents.size(); ++i)
    last += (argument.extents[i] - 1) * (i < argument.strides.size() ? argument.strides[i] : 0);
  return static_cast<std::size_t>((last + 1) * bits_of(argument.type) / 8);
}

/// Arguments name ports that are there, and no more of them than they have.
Result<void> check_arguments(const StoredKernels& stored, const LoadRequest& request,
                             const std::vector<Buffer>& constants) {
  for (const native::Argument& argument : stored.arguments) {
    const bool is_input = argument.kind == ArgumentKind::kInput;
    std::size_t bytes = 0;
    if (argument.kind == ArgumentKind::kConstant) {
      bytes = constants[argument.index].size();
    } else {
      const std::vector<Port>& ports = is_input ? request.inputs : request.outputs;
      if (argument.index >= ports.size()) return misfit("an argument that names no port");
      const ValueType& type = ports[argument.index].type;
      if (!type.is_static()) return misfit("a port of open shape");
      bytes = byte_count(type.element, type.extents());
    }
    if (reach_of(argument) > bytes) return misfit("an argument that reaches past its buffer");
  }
  return {};
}

Result<std::vector<Buffer>> packed(const StoredKernels& stored, const std::vector<Tensor>& constants) {
  std::vector<Buffer> all;
  for (const native::ConstantPart& part : stored.constants) {
    if (part.source >= constants.size()) return misfit(std::to_string(constants.size()) + " constants");
    COLLAGE_TRY(Buffer bytes, native::pack(part.packing, constants[part.source]));
    all.push_back(std::move(bytes));
  }
  return all;
}

}  // namespace

Result<std::unique_ptr<Kernel>> make_kernel(cuda::CudaDevice& device, StoredKernels stored,
                                            const LoadRequest& request) {
  COLLAGE_TRY(const std::vector<Buffer> constants, packed(stored, request.constants));
  COLLAGE_TRY_VOID(check_arguments(stored, request, constants));
  COLLAGE_TRY(const cuda::CurrentContext current, device.use());
  const cuda::Driver& driver = device.driver();
  auto loaded = std::make_shared<Loaded>(Loaded{.device = device, .stored = std::move(stored)});
  Handle handle = nullptr;
  COLLAGE_TRY_VOID(
      driver.check(driver.load_module(&handle, loaded->stored.cubin.data(), 0, nullptr, nullptr), "load a module"));
  loaded->module = std::make_unique<Module>(device, handle);
  for (const native::CudaKernel& kernel : loaded->stored.kernels) {
    Handle function = nullptr;
    COLLAGE_TRY_VOID(driver.check(driver.function(&function, handle, kernel.name.c_str()), "find a kernel"));
    loaded->functions.push_back(function);
  }
  COLLAGE_TRY(loaded->constants, cuda::uploaded(device, constants));
  return std::make_unique<CudaKernelObject>(std::move(loaded));
}

}  // namespace collage::nvrtc
