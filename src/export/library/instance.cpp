// The functions behind those of an exported library: one instance of its model in the caller's workspace.
// In:  the tables of the model, a workspace, bytes of inputs. Out: bytes of outputs, statuses with words.
// How: the plan is read and loaded as in any other program; its constants are the bytes inside the library, its arena
//      and its ports lie in the workspace, its backends are linked.
// Threads: an instance is used by one thread at a time; instances share nothing that changes.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "base/pages.h"
#include "export/library/linked_backends.h"
#include "export/library/model.h"
#include "plan/file/plan_binary.h"
#include "runtime/executable.h"
#include "runtime/memory_block.h"

namespace collage {

constexpr std::size_t kMessageBytes = 512;

/// What is on the heap, made once.
struct Loaded {
  LinkedBackends backends;
  std::optional<Executable> executable;
  std::optional<ExecutionContext> context;
};

}  // namespace collage

/// At the start of the workspace. Without `loaded` it only tells why.
struct collage_export_instance {
  const collage_export_model* model = nullptr;
  std::unique_ptr<collage::Loaded> loaded;
  int status = 0;  ///< of the last call
  std::array<char, collage::kMessageBytes> message = {};
};

namespace collage {
namespace {

static_assert(sizeof(collage_export_instance) <= COLLAGE_EXPORT_HEAD_BYTES);
static_assert(kBufferAlignment == COLLAGE_EXPORT_ALIGNMENT);

using Instance = collage_export_instance;

std::byte* memory_at(const Instance& instance) {
  return reinterpret_cast<std::byte*>(const_cast<Instance*>(&instance));
}

Buffer view_of(const void* data, std::size_t bytes) {
  return {std::shared_ptr<const void>(), {static_cast<const std::byte*>(data), bytes}};
}

Result<RealisedPlan> plan_of(const collage_export_model& model) {
  RealisedPlan realised;
  COLLAGE_TRY(realised.plan, plan_from_binary({model.plan, model.plan_bytes}));
  COLLAGE_TRY(realised.constants, constants_in(realised.plan, view_of(model.weights, model.weights_bytes), "library"));
  for (std::size_t i = 0; i < model.artifact_count; ++i) {
    const collage_export_bytes& artifact = model.artifacts[i];
    realised.artifacts.emplace(artifact.name, view_of(artifact.data, artifact.size));
  }
  return realised;
}

/// As a session's own arena does (base/pages.h): only a wish, and only for huge pages that lie inside.
void wish_huge_pages(std::byte* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = aligned_up(address, kHugePage);
  const std::uintptr_t end = (address + bytes) / kHugePage * kHugePage;
  if (begin < end) (void)::madvise(memory + (begin - address), end - begin, MADV_HUGEPAGE);
}

std::vector<std::byte*> memory_of(std::byte* workspace, const collage_export_port* ports, std::size_t count) {
  std::vector<std::byte*> memory;
  for (std::size_t i = 0; i < count; ++i) memory.push_back(workspace + ports[i].offset);
  return memory;
}

Result<std::unique_ptr<Loaded>> load(const collage_export_model& model, std::byte* workspace) {
  COLLAGE_TRY(RealisedPlan plan, plan_of(model));
  auto loaded = std::make_unique<Loaded>();
  const BackendSource source = [backends = &loaded->backends](const std::string& name) { return backends->get(name); };
  COLLAGE_TRY(loaded->executable, Executable::load(std::move(plan), source, {}));
  ExecutionOptions options;
  options.arena =
      std::make_shared<const MemoryBlock>(MemoryBlock::over({workspace + model.arena_offset, model.arena_bytes}));
  options.input_memory = memory_of(workspace, model.inputs, model.input_count);
  options.output_memory = memory_of(workspace, model.outputs, model.output_count);
  COLLAGE_TRY(loaded->context, loaded->executable->make_context(options));
  return loaded;
}

int report(Instance& instance, ExitCode status, std::string_view text) {
  instance.status = static_cast<int>(status);
  const std::size_t bytes = std::min(text.size(), kMessageBytes - 1);
  std::memcpy(instance.message.data(), text.data(), bytes);
  instance.message[bytes] = '\0';
  return instance.status;
}

/// The status of `work`, which returns Result<void>; no exception leaves it.
template <class Work>
int guarded(Instance& instance, Work&& work) {
  try {
    const Result<void> done = work();
    return done ? report(instance, ExitCode::kGood, "") : report(instance, done.error().exit, to_string(done.error()));
  } catch (const std::bad_alloc&) {
    return report(instance, ExitCode::kLimit, "no memory left");
  } catch (const std::exception& exception) {
    return report(instance, ExitCode::kBug, exception.what());
  } catch (...) {
    return report(instance, ExitCode::kBug, "an exception of unknown type");
  }
}

/// Between the caller's memory and the workspace; nothing where the caller uses the workspace's.
void copy_ports(const Instance& instance, const collage_export_port* ports, std::size_t count,
                const void* const* inputs, void* const* outputs) {
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* const own = memory_at(instance) + ports[i].offset;
    if (inputs != nullptr && inputs[i] != nullptr && inputs[i] != own) std::memcpy(own, inputs[i], ports[i].bytes);
    if (outputs != nullptr && outputs[i] != nullptr && outputs[i] != own) std::memcpy(outputs[i], own, ports[i].bytes);
  }
}

}  // namespace
}  // namespace collage

extern "C" {

int collage_export_init(const collage_export_model* model, void* workspace, size_t bytes,
                        collage_export_instance** instance) {
  using namespace collage;
  constexpr int kUsage = static_cast<int>(ExitCode::kUsage);
  if (instance == nullptr) return kUsage;
  *instance = nullptr;
  if (workspace == nullptr || reinterpret_cast<std::uintptr_t>(workspace) % kBufferAlignment != 0 ||
      bytes < COLLAGE_EXPORT_HEAD_BYTES)
    return kUsage;
  // Before the first byte is written: a page that is in memory already does not become part of a huge one.
  wish_huge_pages(static_cast<std::byte*>(workspace), std::min(bytes, model->workspace_bytes));
  auto* const made = new (workspace) Instance{.model = model, .loaded = nullptr};
  *instance = made;
  if (bytes < model->workspace_bytes) return report(*made, ExitCode::kUsage, "a workspace that is too small");
  return guarded(*made, [&]() -> Result<void> {
    COLLAGE_TRY(made->loaded, load(*model, static_cast<std::byte*>(workspace)));
    return {};
  });
}

int collage_export_run(collage_export_instance* instance, const void* const* inputs, void* const* outputs) {
  using namespace collage;
  if (instance == nullptr) return static_cast<int>(ExitCode::kUsage);
  if (instance->loaded == nullptr) return instance->status;
  const collage_export_model& model = *instance->model;
  return guarded(*instance, [&]() -> Result<void> {
    copy_ports(*instance, model.inputs, model.input_count, inputs, nullptr);
    COLLAGE_TRY_VOID(instance->loaded->context->run());
    copy_ports(*instance, model.outputs, model.output_count, nullptr, outputs);
    return {};
  });
}

void* collage_export_input(collage_export_instance* instance, size_t index) {
  if (instance == nullptr || index >= instance->model->input_count) return nullptr;
  return collage::memory_at(*instance) + instance->model->inputs[index].offset;
}

const void* collage_export_output(const collage_export_instance* instance, size_t index) {
  if (instance == nullptr || index >= instance->model->output_count) return nullptr;
  return collage::memory_at(*instance) + instance->model->outputs[index].offset;
}

const char* collage_export_error(const collage_export_instance* instance) {
  if (instance == nullptr) return "no instance: the workspace is too small, or not at a multiple of the alignment";
  return instance->message.data();
}

void collage_export_free(collage_export_instance* instance) {
  if (instance != nullptr) instance->~collage_export_instance();
}
}
