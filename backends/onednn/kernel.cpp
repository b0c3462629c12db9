#include "kernel.h"

#include <algorithm>

#include "base/error.h"

namespace collage::onednn {
namespace {

using dnnl::memory;

constexpr std::size_t kAlignment = 64;
/// Constants up to this size are always copied, so that vectors may read past their end.
constexpr std::size_t kSmallBytes = 4096;

std::unexpected<Error> library_failed(std::string what) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", "onednn", std::move(what));
}

/// One primitive with its arguments, independent of buffers.
struct Stage {
  dnnl::primitive primitive;
  std::vector<Argument> arguments;
  memory::desc scratch;
  bool only_if_apart = false;
};

/// What all calls of a kernel share.
struct Loaded {
  Program program;
  std::vector<Stage> stages;
  WorkspaceMap workspace;
  std::vector<Buffer> packed;                   ///< keeps packed constants alive
  std::vector<std::vector<const void*>> bytes;  ///< of constant arguments, by stage and argument; else null
  dnnl::engine engine;
  int threads = 1;
};

class LoadedCall final : public Call {
 public:
  LoadedCall(std::shared_ptr<const Loaded> loaded, const Buffers& buffers)
      : loaded_(std::move(loaded)), stream_(loaded_->engine) {
    for (std::size_t s = 0; s < loaded_->stages.size(); ++s) add_stage(s, buffers);
  }

  Result<void> run() override {
    use_threads(loaded_->threads);
    for (const Execution& execution : executions_) {
      const auto status = dnnl_primitive_execute(
          execution.primitive, stream_.get(), static_cast<int>(execution.arguments.size()), execution.arguments.data());
      if (status != dnnl_success) return library_failed("execution failed with status " + std::to_string(status));
    }
    return {};
  }

 private:
  struct Execution {
    const_dnnl_primitive_t primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };

  void* address(std::size_t stage, std::size_t argument, const Buffers& buffers) const {
    const Argument& wanted = loaded_->stages[stage].arguments[argument];
    const TensorInfo& tensor = loaded_->program.tensors[static_cast<std::size_t>(wanted.tensor)];
    auto* start = static_cast<std::byte*>(start_of(tensor, stage, argument, buffers));
    return start + byte_count(tensor.type, {tensor.offset});
  }

  void* start_of(const TensorInfo& tensor, std::size_t stage, std::size_t argument, const Buffers& buffers) const {
    switch (tensor.role) {
      case Role::kInput:
        return const_cast<void*>(buffers.inputs[tensor.index]);
      case Role::kOutput:
        return buffers.outputs[tensor.index];
      case Role::kTemporary:
        return static_cast<std::byte*>(buffers.workspace) + loaded_->workspace.temporaries[tensor.index];
      case Role::kConstant:
      case Role::kLiteral:
        return const_cast<void*>(loaded_->bytes[stage][argument]);
    }
    return nullptr;
  }

  void add_stage(std::size_t index, const Buffers& buffers) {
    const Stage& stage = loaded_->stages[index];
    Execution execution{.primitive = stage.primitive.get(), .arguments = {}};
    std::vector<void*> addresses;
    for (std::size_t a = 0; a < stage.arguments.size(); ++a) {
      addresses.push_back(address(index, a, buffers));
      memories_.emplace_back(stage.arguments[a].desc, loaded_->engine, addresses.back());
      execution.arguments.push_back({stage.arguments[a].slot, memories_.back().get()});
    }
    if (stage.only_if_apart && addresses[0] == addresses[1]) return;
    if (stage.scratch.get_size() > 0) {
      auto* scratch = static_cast<std::byte*>(buffers.workspace) + loaded_->workspace.scratch;
      memories_.emplace_back(stage.scratch, loaded_->engine, scratch);
      execution.arguments.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
    }
    executions_.push_back(std::move(execution));
  }

  std::shared_ptr<const Loaded> loaded_;
  dnnl::stream stream_;
  std::vector<memory> memories_;
  std::vector<Execution> executions_;
};

class LoadedKernel final : public Kernel {
 public:
  explicit LoadedKernel(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}

  Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    auto call = guard([&]() -> std::unique_ptr<Call> { return std::make_unique<LoadedCall>(loaded_, buffers); });
    if (!call) return library_failed(call.error());
    return std::move(*call);
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

Buffer filled(float number, std::size_t size) {
  return Buffer::make(std::max(size, kAlignment), [number](std::span<std::byte> bytes) {
    auto* to = reinterpret_cast<float*>(bytes.data());
    std::fill_n(to, bytes.size() / sizeof(float), number);
  });
}

/// The matrix that interpolates between the columns around each position.
Buffer interpolation(const TensorInfo& info) {
  const std::int64_t columns = info.extents.back();
  return Buffer::make(byte_count(info.type, info.extents), [&](std::span<std::byte> bytes) {
    auto* row = reinterpret_cast<float*>(bytes.data());
    for (const float position : info.positions) {
      const auto left = static_cast<std::int64_t>(position);
      const float share = position - static_cast<float>(left);
      row[left] += 1.F - share;
      if (share > 0.F) row[std::min(left + 1, columns - 1)] += share;
      row += columns;
    }
  });
}

Buffer literal_of(const TensorInfo& info, std::size_t bytes) {
  return info.positions.empty() ? filled(info.scale, bytes) : interpolation(info);
}

bool is_kept(const TensorInfo& info, const Extents& index) {
  const auto at = [&](std::size_t i) { return index[static_cast<std::size_t>(info.diagonal[i])]; };
  return info.diagonal.empty() || at(0) == at(1);
}

/// The elements of a constant in the order of its `stored` axes.
Buffer gathered(const Buffer& source, const TensorInfo& info) {
  return Buffer::make(static_cast<std::size_t>(element_count(info.stored)) * sizeof(float), [&](auto bytes) {
    const auto from = source.as<float>();
    auto* to = reinterpret_cast<float*>(bytes.data());
    Extents index(info.stored.size(), 0);
    for (std::int64_t i = 0; i < element_count(info.stored); ++i) {
      std::int64_t at = 0;
      for (std::size_t axis = 0; axis < index.size(); ++axis) at += index[axis] * info.strides[axis];
      if (is_kept(info, index)) to[i] = from[static_cast<std::size_t>(at)];
      for (std::size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < info.stored[axis]) break;
        index[axis] = 0;
      }
    }
  });
}

Buffer scaled(const Tensor& tensor, float scale) {
  return Buffer::make(tensor.data.size(), [&](std::span<std::byte> bytes) {
    const std::span<const float> from = tensor.data.as<float>();
    auto* to = reinterpret_cast<float*>(bytes.data());
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] * scale;
  });
}

std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// Packs constants once for all calls.
class Packer {
 public:
  Packer(Loaded& loaded, const std::vector<Tensor>& constants) : loaded_(loaded), constants_(constants) {}

  /// The bytes of an argument; null for ports and temporaries.
  const void* bytes_of(const Argument& argument) {
    const TensorInfo& info = loaded_.program.tensors[static_cast<std::size_t>(argument.tensor)];
    if (info.role != Role::kLiteral && info.role != Role::kConstant) return nullptr;
    // Operations on parts of a tensor share what they read.
    for (const auto& [tensor, desc, bytes] : done_)
      if (tensor == argument.tensor && desc == argument.desc) return bytes;
    const void* bytes =
        info.role == Role::kLiteral ? keep(literal_of(info, argument.desc.get_size())) : packed(info, argument.desc);
    done_.push_back({argument.tensor, argument.desc, bytes});
    return bytes;
  }

 private:
  struct Done {
    int tensor;
    memory::desc desc;
    const void* bytes;
  };

  const void* packed(const TensorInfo& info, const memory::desc& wanted) {
    const Tensor& tensor = constants_[info.index];
    Buffer source = info.scale == 1.F ? tensor.data : scaled(tensor, info.scale);
    if (!info.stored.empty()) source = gathered(source, info);
    const memory::desc stored = describe_stored(info);
    const bool is_ready = stored == wanted && source.size() > kSmallBytes;
    return is_ready ? keep(source) : keep(reordered(source, stored, wanted));
  }

  const void* keep(Buffer buffer) {
    loaded_.packed.push_back(std::move(buffer));
    return loaded_.packed.back().data();
  }

  Buffer reordered(const Buffer& source, const memory::desc& from, const memory::desc& to) {
    const std::size_t bytes = rounded(to.get_size()) + kAlignment;
    return Buffer::make(bytes, [&](std::span<std::byte> target) {
      memory in(from, loaded_.engine, const_cast<std::byte*>(source.data()));
      memory out(to, loaded_.engine, target.data());
      dnnl::stream stream(loaded_.engine);
      dnnl::reorder(in, out).execute(stream, in, out);
      stream.wait();
    });
  }

  Loaded& loaded_;
  const std::vector<Tensor>& constants_;
  std::vector<Done> done_;
};

/// Whether the description of a gathered constant agrees with itself.
bool is_consistent(const TensorInfo& tensor) {
  if (tensor.stored.empty()) return tensor.diagonal.empty();
  const bool has_axes = std::ranges::all_of(
      tensor.diagonal, [&](std::int64_t axis) { return axis >= 0 && axis < std::ssize(tensor.stored); });
  return has_axes && (tensor.diagonal.empty() || tensor.diagonal.size() == 2) &&
         tensor.stored.size() == tensor.strides.size() && element_count(tensor.stored) == element_count(tensor.extents);
}

/// The elements of the model's constant that a tensor reads.
std::int64_t elements_read(const TensorInfo& tensor) {
  if (tensor.stored.empty()) return element_count(tensor.extents);
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < tensor.stored.size(); ++axis)
    last += (tensor.stored[axis] - 1) * tensor.strides[axis];
  return last + 1;
}

Result<void> check(const Program& program, const std::vector<Tensor>& constants) {
  for (const TensorInfo& tensor : program.tensors) {
    for (const float position : tensor.positions)
      if (!(position >= 0.F && position < static_cast<float>(tensor.extents.back())))
        return fail(ExitCode::kBadInput, "backend/bad-artifact", "onednn", "a position outside of its row",
                    "an artifact of this backend");
    if (!tensor.positions.empty() && tensor.extents != Extents{std::ssize(tensor.positions), tensor.extents.back()})
      return fail(ExitCode::kBadInput, "backend/bad-artifact", "onednn", "positions for another number of rows",
                  "an artifact of this backend");
    if (tensor.role != Role::kConstant) continue;
    const bool fits = tensor.index < constants.size() && constants[tensor.index].type == tensor.type &&
                      is_consistent(tensor) && constants[tensor.index].size() == elements_read(tensor);
    if (!fits)
      return fail(ExitCode::kBadInput, "backend/bad-artifact", "onednn", "a constant of another size",
                  "the constants the artifact was made for");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Kernel>> load_kernel(const dnnl::engine& engine, const Program& program,
                                            const std::vector<Tensor>& constants, int threads,
                                            std::size_t workspace_bytes) {
  COLLAGE_TRY_VOID(check(program, constants));
  auto loaded = std::make_shared<Loaded>();
  loaded->program = program;
  loaded->engine = engine;
  loaded->threads = threads;
  auto ops = build_all(program, engine);
  if (!ops) return library_failed(ops.error());
  loaded->workspace = map_workspace(program, *ops);
  if (loaded->workspace.bytes > workspace_bytes)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "onednn",
                "scratch of " + std::to_string(loaded->workspace.bytes) + " bytes",
                std::to_string(workspace_bytes) + " bytes, as compiled");
  const auto done = guard([&] {
    Packer packer(*loaded, constants);
    for (std::size_t i = 0; i < ops->size(); ++i) {
      const BuiltOp& op = (*ops)[i];
      loaded->stages.push_back({.primitive = dnnl::primitive(op.description.get()),
                                .arguments = op.arguments,
                                .scratch = op.description.query_md(dnnl::query::scratchpad_md),
                                .only_if_apart = program.ops[i].only_if_apart});
      std::vector<const void*> bytes;
      for (const Argument& argument : op.arguments) bytes.push_back(packer.bytes_of(argument));
      loaded->bytes.push_back(std::move(bytes));
    }
  });
  if (!done) return library_failed(done.error());
  return std::make_unique<LoadedKernel>(std::move(loaded));
}

}  // namespace collage::onednn
