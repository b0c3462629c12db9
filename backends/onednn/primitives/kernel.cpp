#include "primitives/kernel.h"

#include <algorithm>

#include "backends/common/openmp/keep_threads.h"
#include "base/error.h"
#include "library.h"
#include "primitives/constants.h"
#include "primitives/split.h"

namespace collage::onednn {
namespace {

using dnnl::memory;

std::unexpected<Error> library_failed(std::string what) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", kBackendKind, std::move(what));
}

/// The operations of a program. Errors backend/library-failed, and backend/bad-artifact where one of them would touch
/// more bytes than its tensors have.
Result<std::vector<BuiltOp>> built_ops(const Program& program, const dnnl::engine& engine) {
  auto ops = build_all(program, engine);
  if (!ops) return library_failed(ops.error());
  if (!std::ranges::all_of(*ops, [&](const BuiltOp& op) { return has_room(program, op); }))
    return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind,
                "a tensor smaller than the library takes it to be", "an artifact of this backend");
  return std::move(*ops);
}

/// One primitive with its arguments, independent of buffers; a split when the primitive is empty.
struct Stage {
  dnnl::primitive primitive = {};
  std::vector<Argument> arguments = {};
  memory::desc scratch = {};
  bool only_if_apart = false;
};

Stage stage_of(const BuiltOp& op, bool only_if_apart) {
  Stage stage{.arguments = op.arguments, .only_if_apart = only_if_apart};
  if (!op.description) return stage;
  stage.primitive = dnnl::primitive(op.description.get());
  stage.scratch = op.description.query_md(dnnl::query::scratchpad_md);
  return stage;
}

/// What all calls of a kernel share.
struct Loaded {
  Program program;
  std::vector<Stage> stages;
  WorkspaceMap workspace;
  std::vector<Buffer> constants;                ///< keeps them alive
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
    const KeepOpenMpThreads keep;
    use_threads(loaded_->threads);
    for (const Execution& execution : executions_) {
      if (execution.primitive == nullptr) {
        const SplitRows& rows = execution.rows;
        split_sources(rows.from, rows.to, rows.count, rows.width);
        continue;
      }
      const auto status = dnnl_primitive_execute(
          execution.primitive, stream_.get(), static_cast<int>(execution.arguments.size()), execution.arguments.data());
      if (status != dnnl_success) return library_failed("execution failed with status " + std::to_string(status));
    }
    return {};
  }

 private:
  struct SplitRows {
    const float* from = nullptr;
    std::uint16_t* to = nullptr;
    std::int64_t count = 0, width = 0;
  };
  struct Execution {
    const_dnnl_primitive_t primitive = nullptr;  ///< null: `rows` are split
    std::vector<dnnl_exec_arg_t> arguments = {};
    SplitRows rows = {};
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

  /// Of the source, which is the first argument, and the result.
  [[nodiscard]] SplitRows rows_of(std::size_t index, const Buffers& buffers) const {
    const auto source = static_cast<std::size_t>(loaded_->stages[index].arguments[0].tensor);
    const TensorInfo& tensor = loaded_->program.tensors[source];
    const std::int64_t width = tensor.extents[row_axis(tensor)];
    return {.from = static_cast<const float*>(address(index, 0, buffers)),
            .to = static_cast<std::uint16_t*>(address(index, 1, buffers)),
            .count = element_count(tensor.extents) / width,
            .width = width};
  }

  void add_stage(std::size_t index, const Buffers& buffers) {
    const Stage& stage = loaded_->stages[index];
    if (!stage.primitive) {
      executions_.push_back({.rows = rows_of(index, buffers)});
      return;
    }
    Execution execution{.primitive = stage.primitive.get()};
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
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override {
    return collage::bytes_of(loaded_->constants);
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> load_kernel(const dnnl::engine& engine, const Program& program,
                                            const std::vector<Tensor>& constants, int threads,
                                            std::size_t workspace_bytes) {
  COLLAGE_TRY_VOID(check_constants(program, constants));
  auto loaded = std::make_shared<Loaded>();
  loaded->program = program;
  loaded->engine = engine;
  loaded->threads = threads;
  COLLAGE_TRY(const std::vector<BuiltOp> ops, built_ops(program, engine));
  loaded->workspace = map_workspace(program, ops);
  if (loaded->workspace.bytes > workspace_bytes)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind,
                "scratch of " + std::to_string(loaded->workspace.bytes) + " bytes",
                std::to_string(workspace_bytes) + " bytes, as compiled");
  const auto done = guard([&] {
    Packer packer(loaded->program, constants, engine);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const BuiltOp& op = ops[i];
      loaded->stages.push_back(stage_of(op, program.ops[i].only_if_apart));
      std::vector<const void*> bytes;
      for (const Argument& argument : op.arguments) bytes.push_back(packer.bytes_of(argument));
      loaded->bytes.push_back(std::move(bytes));
    }
    loaded->constants = packer.kept();
  });
  if (!done && program.is_prepared)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", kBackendKind, done.error(),
                "the constants it was made with");
  if (!done) return library_failed(done.error());
  return std::make_unique<LoadedKernel>(std::move(loaded));
}

Result<PreparedArtifact> prepare(const dnnl::engine& engine, Program program, const std::vector<Tensor>& constants,
                                 int threads) {
  COLLAGE_TRY_VOID(check_constants(program, constants));
  COLLAGE_TRY(const std::vector<BuiltOp> ops, built_ops(program, engine));
  PreparedArtifact prepared;
  const auto done = guard([&] {
    Packer packer(program, constants, engine);
    for (const BuiltOp& op : ops)
      for (const Argument& argument : op.arguments) (void)packer.bytes_of(argument);
    prepared.constants = packer.made();
  });
  if (!done) return library_failed(done.error());
  program.is_prepared = true;
  prepared.bytes = to_json(program, threads);
  return prepared;
}

}  // namespace collage::onednn
