// Creates the library's primitive for one operation of a program and selects its implementation. Throws dnnl::error as
// the library does; callers use guard().
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "program.h"

namespace collage::onednn {

struct Argument {
  int slot = 0;             ///< the library's number for the argument (DNNL_ARG_*)
  int tensor = 0;           ///< index into Program::tensors
  dnnl::memory::desc desc;  ///< how the primitive wants it; constants are packed to this
};

/// A primitive description with what it reads and writes. Nothing is generated before a primitive is made of it. The
/// library has no primitive for a split: its description is empty.
struct BuiltOp {
  dnnl::primitive_desc_base description;
  std::string implementation;
  std::vector<Argument> arguments;
  std::size_t scratch_bytes = 0;
};

/// Of splits.
inline constexpr const char* kSplitImplementation = "split";

/// Groups the library's names: "brgconv:avx512_core" -> "brgconv", "x64:gemm:jit" -> "gemm",
/// "jit_fp32_wino_2x3:avx512_core" -> "wino_2x3", "jit_bf16_1x1:avx512_core_bf16" -> "jit_1x1", "ref:any" -> "ref".
[[nodiscard]] std::string family_of(std::string_view implementation);

/// How operations see the tensor.
[[nodiscard]] dnnl::memory::desc describe(const TensorInfo& tensor);
/// How the model's bytes of a constant lie, after gathering, and those of a literal before it is packed.
[[nodiscard]] dnnl::memory::desc describe_stored(const TensorInfo& tensor);

/// Selects Op::implementation when it is set, else the first one of Op::family, else the first one that is not
/// reference code. The message of a refusal lists what the library offered. Uses the calling thread's OpenMP thread
/// count.
[[nodiscard]] std::expected<BuiltOp, std::string> build(const Program& program, const Op& op,
                                                        const dnnl::engine& engine);

/// Whether the tensors have all bytes that the library will touch: it looks at addresses alone when it runs. Constants
/// and literals are made as the arguments describe them.
[[nodiscard]] bool has_room(const Program& program, const BuiltOp& built);

}  // namespace collage::onednn
