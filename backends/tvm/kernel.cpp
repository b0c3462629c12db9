#include "backends/tvm/kernel.h"

#include <algorithm>
#include <cstring>

#include "backends/tvm/kernel_object.h"

namespace collage::tvm {
namespace {

struct Loaded {
  Program program;
  std::shared_ptr<const KernelObject> object;
  std::vector<Buffer> constants;  ///< as kernels read them; empty for those that only preparation reads
  std::vector<Buffer> prepared;
};

/// Where the tensors of a call lie.
struct Places {
  std::vector<void*> inputs;
  std::vector<void*> outputs;
  std::vector<void*> constants;
  std::vector<void*> prepared;
  std::byte* scratch = nullptr;
};

/// Whether the elements that are gathered lie inside of so many.
bool is_inside(const ConstantRead& read, std::int64_t elements) {
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < read.extents.size(); ++axis) {
    const std::int64_t further = read.extents[axis] - 1;
    const std::int64_t step = read.steps[axis];
    if (further < 0 || step < 0) return false;
    if (further == 0) continue;
    if (step > (elements - 1 - last) / further) return false;  // divides: the numbers may be anything
    last += step * further;
  }
  return elements > last;
}

void gather(const float* from, const ConstantRead& read, std::size_t axis, float*& to) {
  if (axis == read.extents.size()) {
    *to++ = *from;
    return;
  }
  for (std::int64_t i = 0; i < read.extents[axis]; ++i) gather(from + i * read.steps[axis], read, axis + 1, to);
}

bool is_row_major(const ConstantRead& read) {
  std::int64_t step = 1;
  for (std::size_t axis = read.extents.size(); axis-- > 0; step *= read.extents[axis])
    if (read.extents[axis] != 1 && read.steps[axis] != step) return false;
  return true;
}

Result<Buffer> constant_bytes(const ConstantRead& read, const std::vector<Tensor>& constants) {
  if (read.index >= constants.size()) return bad_artifact("a constant that is not given");
  const Tensor& constant = constants[read.index];
  const auto elements = static_cast<std::int64_t>(constant.data.size() / sizeof(float));
  if (constant.type != ElementType::kFloat32 || !is_inside(read, elements))
    return bad_artifact("a constant of another size");
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(constant.data.data()) % 64 == 0;
  if (is_aligned && is_row_major(read)) return constant.data;
  return Buffer::make(*bytes_of(read.extents), [&](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    gather(constant.data.as<float>().data(), read, 0, to);
  });
}

void* tensor_at(const Argument& argument, const Places& places) {
  const auto at = static_cast<std::size_t>(argument.at);
  switch (argument.home) {
    case Home::kInput:
      return places.inputs[at];
    case Home::kOutput:
      return places.outputs[at];
    case Home::kConstant:
      return places.constants[at];
    case Home::kPrepared:
      return places.prepared[at];
    case Home::kScratch:
      return places.scratch + at;
  }
  return nullptr;
}

std::vector<BoundKernel> bound(const std::vector<KernelCall>& calls, const KernelObject& object, const Places& places) {
  std::vector<BoundKernel> kernels;
  kernels.reserve(calls.size());
  for (const KernelCall& call : calls) {
    BoundKernel& kernel = kernels.emplace_back(object.kernel(call.kernel), call.arguments.size());
    for (const Argument& argument : call.arguments) kernel.add(tensor_at(argument, places), argument.extents);
  }
  return kernels;
}

std::vector<void*> addresses(const std::vector<Buffer>& buffers) {
  std::vector<void*> all;
  // Kernels write to no constant.
  for (const Buffer& buffer : buffers) all.push_back(const_cast<std::byte*>(buffer.data()));
  return all;
}

bool is_read_by(const std::vector<KernelCall>& calls, Home home, std::size_t at) {
  return std::ranges::any_of(calls, [&](const KernelCall& call) {
    return std::ranges::any_of(call.arguments, [&](const Argument& one) { return one.home == home && one.at == at; });
  });
}

/// Every argument that is a port is there and has the port's size.
Result<void> check_ports(const Program& program, const LoadRequest& request) {
  for (const auto* ports : {&request.inputs, &request.outputs})
    for (const Port& port : *ports) {
      const Format& format = port.place.format;
      if (!port.type.is_static() || port.type.element != ElementType::kFloat32 || !is_common(format) || format.narrow())
        return bad_artifact("port '" + port.name + "' in another format");
    }
  for (const KernelCall& call : program.calls)
    for (const Argument& argument : call.arguments) {
      if (argument.home != Home::kInput && argument.home != Home::kOutput) continue;
      const auto& ports = argument.home == Home::kInput ? request.inputs : request.outputs;
      if (argument.at >= ports.size() ||
          bytes_of(argument.extents) != byte_count(ElementType::kFloat32, ports[argument.at].type.extents()))
        return bad_artifact("a port of another size");
    }
  for (std::size_t port = 0; port < request.outputs.size(); ++port)
    if (!is_read_by(program.calls, Home::kOutput, port)) return bad_artifact("an output that nothing writes");
  if (program.scratch_bytes > request.artifact.workspace_bytes) return bad_artifact("less scratch than is needed");
  return {};
}

/// Those that were prepared come as bytes.
Result<void> take_prepared(Loaded& loaded, const std::vector<Tensor>& constants) {
  const Program& program = loaded.program;
  std::vector<std::uint64_t> sizes = program.prepared_bytes;
  for (const ConstantRead& read : program.constants) sizes.push_back(*bytes_of(read.extents));
  if (constants.size() != sizes.size()) return bad_artifact("another number of constants");
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (constants[i].data.size() != sizes[i]) return bad_artifact("a prepared constant of another size");
    (i < program.prepared_bytes.size() ? loaded.prepared : loaded.constants).push_back(constants[i].data);
  }
  return {};
}

Result<void> prepare_now(Loaded& loaded, const LoadRequest& request) {
  Places places;
  for (const std::uint64_t bytes : loaded.program.prepared_bytes)
    loaded.prepared.push_back(
        Buffer::make(bytes, [&](std::span<std::byte> writable) { places.prepared.push_back(writable.data()); }));
  places.constants = addresses(loaded.constants);
  COLLAGE_TRY_VOID(run_kernels(bound(loaded.program.prepare, *loaded.object, places), {.threads = request.threads}));
  return {};
}

Result<Loaded> load(const StoredProgram& stored, const LoadRequest& request) {
  COLLAGE_TRY_VOID(check_ports(stored.program, request));
  if (stored.program.threads != request.threads)
    return fail(ExitCode::kBadInput, "backend/other-threads", "tvm", std::to_string(request.threads) + " threads",
                std::to_string(stored.program.threads) + ", as compiled");
  Loaded loaded{.program = stored.program, .object = nullptr, .constants = {}, .prepared = {}};
  COLLAGE_TRY(loaded.object, KernelObject::load(stored.object));
  for (const auto* calls : {&loaded.program.prepare, &loaded.program.calls})
    for (const KernelCall& call : *calls)
      if (loaded.object->kernel(call.kernel) == nullptr) return bad_artifact("no kernel " + call.kernel);
  if (loaded.program.is_prepared) {
    COLLAGE_TRY_VOID(take_prepared(loaded, request.constants));
    return loaded;
  }
  for (const ConstantRead& read : loaded.program.constants) {
    COLLAGE_TRY(Buffer bytes, constant_bytes(read, request.constants));
    loaded.constants.push_back(std::move(bytes));
  }
  COLLAGE_TRY_VOID(prepare_now(loaded, request));
  for (std::size_t i = 0; i < loaded.constants.size(); ++i)
    if (!is_read_by(loaded.program.calls, Home::kConstant, i)) loaded.constants[i] = {};
  return loaded;
}

class LoadedCall final : public Call {
 public:
  LoadedCall(std::shared_ptr<const Loaded> loaded, std::vector<BoundKernel> kernels, LoopThreads threads)
      : loaded_(std::move(loaded)), kernels_(std::move(kernels)), threads_(threads) {}

  Result<void> run() override { return run_kernels(kernels_, threads_); }

 private:
  std::shared_ptr<const Loaded> loaded_;
  std::vector<BoundKernel> kernels_;
  LoopThreads threads_;
};

class LoadedKernel final : public Kernel {
 public:
  LoadedKernel(std::shared_ptr<const Loaded> loaded, int threads) : loaded_(std::move(loaded)), threads_(threads) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    Places places{.inputs = {},
                  .outputs = buffers.outputs,
                  .constants = addresses(loaded_->constants),
                  .prepared = addresses(loaded_->prepared),
                  .scratch = static_cast<std::byte*>(buffers.workspace)};
    for (const void* input : buffers.inputs) places.inputs.push_back(const_cast<void*>(input));  // only read
    const LoopThreads threads{.threads = threads_, .pool = buffers.pool};
    return std::make_unique<LoadedCall>(loaded_, bound(loaded_->program.calls, *loaded_->object, places), threads);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override {
    return collage::bytes_of(loaded_->prepared);
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
  int threads_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> load_kernel(const StoredProgram& stored, const LoadRequest& request) {
  COLLAGE_TRY(Loaded loaded, load(stored, request));
  return std::make_unique<LoadedKernel>(std::make_shared<const Loaded>(std::move(loaded)), request.threads);
}

Result<PreparedArtifact> prepare(const StoredProgram& stored, const LoadRequest& request) {
  COLLAGE_TRY(const Loaded loaded, load(stored, request));
  Program program = stored.program;
  program.is_prepared = true;
  program.prepare.clear();
  program.constants.clear();
  PreparedArtifact prepared;
  for (const Buffer& bytes : loaded.prepared) prepared.constants.emplace_back(bytes);
  for (std::size_t i = 0; i < loaded.constants.size(); ++i) {
    if (!is_read_by(program.calls, Home::kConstant, i)) continue;
    const ConstantRead& read = stored.program.constants[i];
    for (KernelCall& call : program.calls)
      for (Argument& argument : call.arguments)
        if (argument.home == Home::kConstant && argument.at == i) argument.at = program.constants.size();
    program.constants.push_back(
        {.index = static_cast<std::uint32_t>(prepared.constants.size()), .extents = read.extents, .steps = read.steps});
    prepared.constants.emplace_back(loaded.constants[i]);
  }
  prepared.bytes = to_bytes(program, stored.object);
  return prepared;
}

}  // namespace collage::tvm
