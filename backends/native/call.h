// A bound call of compiled code: buffer descriptors as the code expects them, scratch from the plan's workspace.
// In:  a loaded shared object, arguments with extents, addresses of ports. Out: a Call.
// Cost: run() adds a few nanoseconds and allocates nothing.
// Source: the calling convention NAME_argv(void**) of Halide's objects.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include <HalideRuntime.h>

#include "backend/backend.h"
#include "blas_call.h"
#include "program.h"
#include "scratch.h"
#include "shared_object.h"

namespace collage::native {

inline constexpr std::size_t kMostDimensions = 8;
using Entry = int (*)(void** arguments);

/// Error backend/bad-artifact.
[[nodiscard]] std::unexpected<Error> misfit(std::string saw);

/// A shared object in this process, with what its kernels call. Kernels may share it.
struct LoadedObject {
  const blas::Library* library = nullptr;  ///< null: none is called
  RuntimeTable runtime;                    ///< outlives the object, which refers to it
  std::shared_ptr<const SharedObject> object;
};

/// `library`: Program::library. Errors backend/bad-artifact, backend/missing-library, io/cannot-write.
[[nodiscard]] Result<std::shared_ptr<const LoadedObject>> load_object(std::string_view shared_object,
                                                                      const std::string& library);

/// A program whose shared object is in this process.
struct Loaded {
  Program program;
  Code code;
  std::shared_ptr<const LoadedObject> object;
  std::vector<Buffer> constants;  ///< packed; shares the caller's bytes where they were packed before
};

/// A program with its constants. Error backend/bad-artifact.
[[nodiscard]] Result<std::shared_ptr<Loaded>> load_program(const Program& program, std::size_t code,
                                                           const LoadRequest& request,
                                                           std::shared_ptr<const LoadedObject> object);
/// Error backend/bad-artifact when the object has no such kernel.
[[nodiscard]] Result<Entry> entry_of(const Loaded& loaded, const std::string& symbol);

/// What a kernel's code hands back to us: the scratch of the thread it runs on.
struct CallContext {
  Scratch scratch;
  std::vector<CallContext>* threads = nullptr;  ///< one for each thread of a parallel loop; null inside one
  ThreadPool* pool = nullptr;                   ///< where its loops run; null: on OpenMP's threads
};

class NativeCall : public Call {
 public:
  NativeCall(std::shared_ptr<const Loaded> loaded, Entry entry, std::span<const Argument> arguments,
             const Buffers& buffers);
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;
  Result<void> run() override;

 private:
  /// A buffer as Halide describes it.
  struct Shape {
    halide_buffer_t buffer{};
    std::array<halide_dimension_t, kMostDimensions> dimensions{};
  };
  [[nodiscard]] int run_with_library();
  static Shape shape_of(const Argument& argument);
  [[nodiscard]] std::uint8_t* address_of(const Argument& argument, const Buffers& buffers) const;

  std::shared_ptr<const Loaded> loaded_;
  Entry entry_;
  CallContext context_;
  std::vector<CallContext> threads_;
  void* user_context_ = &context_;
  std::vector<Shape> shapes_;
  std::vector<void*> arguments_;
};

}  // namespace collage::native
