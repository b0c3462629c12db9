// Compiles tensor code to machine code: object files by Halide and LLVM, linked to one position-independent shared
// object.
// In:  tensor codes and an instruction set. Out: the bytes of a shared object, sizes of scratch. Needs `ld`, and `as`
//       for micro-kernels, but no compiler.
// How: Halide's own runtime is replaced by ours (embedded/kernel_runtime.h). The size of scratch is computed from the
//       allocations of the lowered code, so that a plan can reserve it.
// Cost: 0.1 to 0.6 s for a kernel, nearly all of it in LLVM.
// Source: Halide's ahead-of-time compilation without runtime.
#pragma once

#include "compiler/codegen/lowering.h"

namespace collage::native {

/// Scratch of one kernel.
struct ScratchBytes {
  std::size_t serial = 0;
  std::size_t per_thread = 0;
};

struct CompiledCode {
  std::string shared_object;
  std::vector<std::string> objects;   ///< ELF files that it was linked from, without the runtime; none with libraries
  std::vector<ScratchBytes> scratch;  ///< one for each code
};

/// What Halide compiles for: an instruction set, without runtime and checks.
[[nodiscard]] Halide::Target target_of(const InstructionSet& set);

/// Error native/link-failed; what Halide throws is for the caller to guard against.
/// `libraries`: files with functions that the codes call (backend/tensor_code.h).
[[nodiscard]] Result<CompiledCode> compile_codes(const std::vector<TensorCode>& codes, const InstructionSet& set,
                                                 const std::vector<std::string>& libraries = {});

/// One shared object of these object files and the runtime. Error native/link-failed.
[[nodiscard]] Result<std::string> link_objects(std::span<const std::string_view> objects);

/// The instruction sets that artifacts of these options hold code for, best first.
[[nodiscard]] std::vector<const InstructionSet*> sets_of(const CompileOptions& options, const InstructionSet& set);

}  // namespace collage::native
