// Tensor code to machine code: objects by Halide and LLVM, one position-independent shared object by the linker alone.
// In: tensor codes and an instruction set. Out: the bytes of a shared object, scratch sizes. Needs `ld`, and `as` for
//      micro-kernels, no compiler.
// How: Halide's own runtime stays out; ours (embedded/kernel_runtime.h) is linked in its place. Scratch is counted from
//      the allocations of the lowered code, so that a plan can reserve it.
// Cost: 0.1 to 0.6 s a kernel, nearly all of it LLVM's.
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

/// Ports and lowered loops as text, before machine code: the same for the same code.
[[nodiscard]] std::string to_text(const TensorCode& code, const InstructionSet& set);

}  // namespace collage::native
