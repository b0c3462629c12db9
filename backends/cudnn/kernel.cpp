#include "backends/cudnn/kernel.h"

#include <limits>
#include <tuple>

#include "backends/common/cuda/constants.h"
#include "backends/common/cuda/workspace.h"
#include "backends/cudnn/operation_graph.h"
#include "base/binary.h"

namespace collage::cudnn {

inline auto members(DescribedTensor& of) { return std::tie(of.kind, of.index, of.extents, of.strides, of.is_permuted); }
inline auto members(Behind& of) { return std::tie(of.mode, of.slope, of.other, of.result); }
inline auto members(Description& of) {
  return std::tie(of.tensors, of.x, of.w, of.y, of.strides, of.dilations, of.before, of.after, of.behind);
}
inline auto members(StoredPlan& of) { return std::tie(of.description, of.text, of.workspace_bytes); }

namespace {

std::unexpected<Error> broken(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "cudnn", std::move(saw), "a plan of this backend");
}

std::unexpected<Error> failed(std::string words) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", "cudnn", std::move(words));
}

struct Loaded {
  Instance instance;
  StoredPlan stored;
  std::vector<std::unique_ptr<DeviceMemory>> constants;
};

class PlanCall final : public Call {
 public:
  PlanCall(std::shared_ptr<const Loaded> loaded, std::shared_ptr<OnStream> on, Descriptor plan, Descriptor pack,
           void* stream)
      : loaded_(std::move(loaded)),
        on_(std::move(on)),
        plan_(std::move(plan)),
        pack_(std::move(pack)),
        stream_(stream) {}

  Result<void> run() override {
    COLLAGE_TRY(const cuda::CurrentContext current, loaded_->instance.device.use());
    const Library& library = loaded_->instance.library;
    const int status = library.execute(on_->handle(), plan_.handle(), pack_.handle());
    if (status == 0) return {};
    const Error error = failed(std::string("run a plan: ") + library.status_text(status)).error();
    return std::unexpected(loaded_->instance.device.driver().behind(error, stream_));
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
  std::shared_ptr<OnStream> on_;
  Descriptor plan_;
  Descriptor pack_;
  void* stream_;
};

/// The plan of the text, for a handle.
Descriptor plan_of(const Library& library, Handle handle, const std::string& text) {
  Descriptor plan(library, Kind::kExecutionPlan);
  plan.set(Attribute::kPlanHandle, Type::kHandle, handle);
  plan.set(Attribute::kPlanText, Type::kChar, std::vector<char>(text.begin(), text.end()));
  plan.finalise();
  return plan;
}

class PlanKernel final : public Kernel {
 public:
  explicit PlanKernel(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    COLLAGE_CHECK(buffers.queue != nullptr, "a kernel of a device is bound to its queue");
    COLLAGE_TRY(const cuda::CurrentContext current, loaded_->instance.device.use());
    auto call = guard([&]() -> std::unique_ptr<Call> {
      const Library& library = loaded_->instance.library;
      auto on = loaded_->instance.handles.of(buffers.queue->native());
      Descriptor plan = plan_of(library, on->handle(), loaded_->stored.text);
      return std::make_unique<PlanCall>(loaded_, std::move(on), std::move(plan), pack_of(library, buffers),
                                        buffers.queue->native());
    });
    if (!call) return failed(call.error());
    return std::move(*call);
  }

  /// In the device's memory: nothing of it lies in the caches of the host.
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  Descriptor pack_of(const Library& library, const Buffers& buffers) const {
    std::vector<std::int64_t> ids;
    std::vector<void*> pointers;
    const auto& tensors = loaded_->stored.description.tensors;
    std::size_t constant = 0;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].kind == SourceKind::kInside) continue;
      ids.push_back(id_of(i));
      if (tensors[i].kind == SourceKind::kInput)
        pointers.push_back(const_cast<void*>(buffers.inputs[tensors[i].index]));  // the library reads it only
      else if (tensors[i].kind == SourceKind::kOutput)
        pointers.push_back(buffers.outputs[tensors[i].index]);
      else
        pointers.push_back(loaded_->constants[constant++]->data());
    }
    Descriptor pack(library, Kind::kVariantPack);
    pack.set(Attribute::kPackIds, Type::kInt64, ids);
    pack.set(Attribute::kPackPointers, Type::kPointer, pointers);
    pack.set(Attribute::kPackWorkspace, Type::kPointer, cuda::aligned_workspace(buffers.workspace));
    pack.finalise();
    return pack;
  }

  std::shared_ptr<const Loaded> loaded_;
};

/// [k, c, spatial...] with c last.
Buffer permuted(const Tensor& weights, const Extents& extents) {
  const std::int64_t channels = extents[1];
  const std::int64_t places = element_count(extents) / (extents[0] * channels);
  const auto from = weights.data.as<float>();
  return Buffer::make(weights.data.size(), [&](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    for (std::int64_t k = 0; k < extents[0]; ++k)
      for (std::int64_t place = 0; place < places; ++place)
        for (std::int64_t c = 0; c < channels; ++c)
          *to++ = from[static_cast<std::size_t>((k * channels + c) * places + place)];
  });
}

std::size_t bytes_of(const DescribedTensor& tensor) {
  return static_cast<std::size_t>(element_count(tensor.extents)) * sizeof(float);
}

/// Of a known kind, with extents that can be multiplied.
bool is_sound(const DescribedTensor& tensor) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (static_cast<std::size_t>(tensor.kind) > static_cast<std::size_t>(SourceKind::kInside)) return false;
  if (tensor.extents.size() < 4 || tensor.extents.size() > 5) return false;
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.extents) {
    if (extent < 1 || extent > kMost) return false;
    count *= extent;
    if (count > kMost) return false;
  }
  return true;
}

bool fits(const DescribedTensor& tensor, const std::vector<Port>& ports) {
  if (tensor.index >= ports.size()) return false;
  const ValueType& type = ports[tensor.index].type;
  return type.is_static() && type.element == ElementType::kFloat32 &&
         byte_count(type.element, type.extents()) == bytes_of(tensor);
}

/// What tensors name is there and as large as they say; constants as the library gets them, one for each such tensor.
Result<std::vector<Buffer>> constants_of(const Description& description, const LoadRequest& request) {
  std::vector<Buffer> constants;
  for (const DescribedTensor& tensor : description.tensors) {
    if (!is_sound(tensor)) return broken("a tensor that is none");
    if (tensor.kind == SourceKind::kInput && !fits(tensor, request.inputs)) return broken("an input that is not there");
    if (tensor.kind == SourceKind::kOutput && !fits(tensor, request.outputs))
      return broken("an output that is not there");
    if (tensor.kind != SourceKind::kConstant) continue;
    if (tensor.index >= request.constants.size()) return broken("a constant that is not there");
    const Tensor& constant = request.constants[tensor.index];
    if (constant.type != ElementType::kFloat32 || constant.data.size() != bytes_of(tensor))
      return broken("a constant of another size");
    constants.push_back(tensor.is_permuted ? permuted(constant, tensor.extents) : constant.data);
  }
  return constants;
}

}  // namespace

std::string to_bytes(const StoredPlan& stored) { return to_binary(stored); }

OnStream::OnStream(cuda::CudaDevice& device, const Library& library, void* stream)
    : device_(device), library_(library) {
  library.check(library.create(&handle_), "start");
  if (const int status = library.set_stream(handle_, stream); status != 0) {
    (void)library.destroy(handle_);
    library.check(status, "set a stream");
  }
}

OnStream::~OnStream() {
  if (const auto current = device_.use()) (void)library_.destroy(handle_);
}

std::shared_ptr<OnStream> Handles::of(void* stream) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  std::shared_ptr<OnStream> found = known_[stream].lock();
  if (!found) {
    found = std::make_shared<OnStream>(device_, library_, stream);
    known_[stream] = found;
  }
  return found;
}

Result<std::unique_ptr<Kernel>> make_kernel(const Instance& instance, const LoadRequest& request) {
  auto stored = from_binary<StoredPlan>(request.artifact.bytes);
  if (!stored || request.artifact.workspace_bytes < cuda::padded_workspace(stored->workspace_bytes))
    return broken("other bytes");
  COLLAGE_TRY(const std::vector<Buffer> constants, constants_of(stored->description, request));
  COLLAGE_TRY(auto uploaded, cuda::uploaded(instance.device, constants));
  return std::make_unique<PlanKernel>(std::make_shared<const Loaded>(
      Loaded{.instance = instance, .stored = *std::move(stored), .constants = std::move(uploaded)}));
}

}  // namespace collage::cudnn
