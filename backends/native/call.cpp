#include "call.h"

#include <omp.h>

#include <algorithm>
#include <atomic>

#include "backends/common/openmp/keep_threads.h"

namespace collage::native {
namespace {

void* allocate(void* context, std::size_t bytes) { return static_cast<CallContext*>(context)->scratch.allocate(bytes); }
void release(void* context, void* pointer) { static_cast<CallContext*>(context)->scratch.release(pointer); }

int one_by_one(CallContext& own, Task task, int first, int count, std::uint8_t* closure) {
  int status = 0;
  for (int i = first; i < first + count && status == 0; ++i) {
    if (own.threads == nullptr) {
      status = task(&own, i, closure);
    } else {
      own.threads->front().scratch.clear();
      status = task(own.threads->data(), i, closure);
    }
  }
  return status;
}

/// One task for each thread's scratch, which takes iterations until none is left: the pool may run tasks on any
/// threads.
int on_pool(CallContext& own, Task task, int first, int count, std::uint8_t* closure) {
  std::atomic<int> next = 0;
  std::atomic<int> failed = 0;
  const int tasks = std::min(own.pool->tasks(static_cast<int>(own.threads->size())), count);
  own.pool->run(static_cast<std::size_t>(std::max(tasks, 0)), [&](std::size_t index) {
    CallContext& mine = (*own.threads)[index];
    for (int i = next++; i < count; i = next++) {
      mine.scratch.clear();
      if (const int result = task(&mine, first + i, closure); result != 0) failed = result;
    }
  });
  return failed;
}

/// Iterations are handed out one by one: their number is small, and the last ones may be shorter.
int parallel_for(void* context, Task task, int first, int count, std::uint8_t* closure) {
  auto* own = static_cast<CallContext*>(context);
  const int threads = own->threads == nullptr ? 1 : static_cast<int>(own->threads->size());
  if (threads < 2) return one_by_one(*own, task, first, count, closure);
  if (own->pool != nullptr) return on_pool(*own, task, first, count, closure);
  std::atomic<int> failed = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
  for (int i = first; i < first + count; ++i) {
    const DefaultFloatMode mode;
    CallContext& mine = (*own->threads)[static_cast<std::size_t>(omp_get_thread_num())];
    mine.scratch.clear();
    if (const int result = task(&mine, i, closure); result != 0) failed = result;
  }
  return failed;
}

/// What a kernel asks of this process; `library` may be null.
RuntimeTable runtime_with(const blas::Library* library) {
  RuntimeTable table{.allocate = allocate, .release = release, .parallel_for = parallel_for};
  if (library != nullptr) table.sgemm = reinterpret_cast<Sgemm>(library->sgemm);
  return table;
}

halide_type_t halide_type(ElementType type) {
  const auto bits = static_cast<std::uint8_t>(bits_of(type));
  switch (type) {
    case ElementType::kFloat16:
    case ElementType::kFloat32:
    case ElementType::kFloat64:
      return {halide_type_float, bits, 1};
    case ElementType::kBfloat16:
      return {halide_type_bfloat, bits, 1};
    case ElementType::kInt8:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
      return {halide_type_int, bits, 1};
    default:
      return {halide_type_uint, bits, 1};
  }
}

Result<std::vector<Buffer>> packed_constants(const Program& program, const std::vector<Tensor>& constants) {
  std::vector<Buffer> packed;
  for (const ConstantPart& part : program.constants) {
    if (part.source >= constants.size()) return misfit(std::to_string(constants.size()) + " constants");
    if (part.is_packed) {
      packed.push_back(constants[part.source].data);
      continue;
    }
    COLLAGE_TRY(Buffer bytes, pack(part.packing, constants[part.source]));
    packed.push_back(std::move(bytes));
  }
  return packed;
}

/// Null when the kernel calls none.
Result<const blas::Library*> library_named(const std::string& name) {
  if (name.empty()) return nullptr;
  const auto& library = blas_library(name);
  if (library) return &*library;
  return fail(ExitCode::kUnsupported, "backend/missing-library", "native", library.error(), name);
}

}  // namespace

std::unexpected<Error> misfit(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", std::move(saw), "what the artifact was made for");
}

Result<std::shared_ptr<const LoadedObject>> load_object(std::string_view shared_object, const std::string& library) {
  auto loaded = std::make_shared<LoadedObject>();
  COLLAGE_TRY(loaded->library, library_named(library));
  loaded->runtime = runtime_with(loaded->library);
  COLLAGE_TRY(loaded->object, SharedObject::load(shared_object, loaded->runtime));
  return loaded;
}

Result<std::shared_ptr<Loaded>> load_program(const Program& program, std::size_t code, const LoadRequest& request,
                                             std::shared_ptr<const LoadedObject> object) {
  auto loaded = std::make_shared<Loaded>();
  loaded->program = program;
  loaded->code = program.codes[code];
  loaded->object = std::move(object);
  COLLAGE_TRY(loaded->constants, packed_constants(program, request.constants));
  return loaded;
}

Result<Entry> entry_of(const Loaded& loaded, const std::string& symbol) {
  const auto entry = reinterpret_cast<Entry>(loaded.object->object->symbol(entry_symbol(symbol)));
  if (entry == nullptr) return misfit("no kernel " + symbol);
  return entry;
}

NativeCall::NativeCall(std::shared_ptr<const Loaded> loaded, Entry entry, std::span<const Argument> arguments,
                       const Buffers& buffers)
    : loaded_(std::move(loaded)), entry_(entry) {
  auto* workspace = static_cast<std::byte*>(buffers.workspace);
  const Code& code = loaded_->code;
  context_.scratch = Scratch(workspace, code.serial_bytes);
  threads_.resize(static_cast<std::size_t>(loaded_->program.threads));
  for (std::size_t i = 0; i < threads_.size(); ++i)
    threads_[i].scratch = Scratch(workspace + code.serial_bytes + i * code.per_thread_bytes,  // null plus 0
                                  code.per_thread_bytes);
  context_.threads = &threads_;
  context_.pool = buffers.pool;
  for (const Argument& argument : arguments) shapes_.push_back(shape_of(argument));
  arguments_.push_back(&user_context_);
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    shapes_[i].buffer.dim = shapes_[i].dimensions.data();
    shapes_[i].buffer.host = address_of(arguments[i], buffers);
    arguments_.push_back(&shapes_[i].buffer);
  }
}

Result<void> NativeCall::run() {
  context_.scratch.clear();
  const int status = loaded_->object->library == nullptr ? entry_(arguments_.data()) : run_with_library();
  if (status == 0) return {};
  return fail(ExitCode::kBug, "backend/library-failed", "native", "status " + std::to_string(status));
}

int NativeCall::run_with_library() {
  const KeepOpenMpThreads keep;
  blas::use_threads(*loaded_->object->library, 1);  // its calls are parts of our own loops
  return entry_(arguments_.data());
}

NativeCall::Shape NativeCall::shape_of(const Argument& argument) {
  Shape shape;
  shape.buffer.type = halide_type(argument.type);
  shape.buffer.dimensions = static_cast<std::int32_t>(argument.extents.size());
  // Halide counts dimensions from the innermost.
  for (std::size_t i = 0; i < argument.extents.size(); ++i) {
    const std::size_t from = argument.extents.size() - 1 - i;
    shape.dimensions[i] = {0, static_cast<std::int32_t>(argument.extents[from]),
                           static_cast<std::int32_t>(argument.strides[from]), 0};
  }
  return shape;
}

std::uint8_t* NativeCall::address_of(const Argument& argument, const Buffers& buffers) const {
  const void* address = nullptr;
  switch (argument.kind) {
    case ArgumentKind::kInput:
      address = buffers.inputs[argument.index];
      break;
    case ArgumentKind::kOutput:
      address = buffers.outputs[argument.index];
      break;
    case ArgumentKind::kConstant:
      address = loaded_->constants[argument.index].data();
      break;
  }
  return static_cast<std::uint8_t*>(const_cast<void*>(address));  // the code writes to outputs only
}

}  // namespace collage::native
