// The description in an artifact beside its machine code: the kernel, its buffers, its constants.
// In:  an artifact's bytes. Out: a Program, or a unit of several, and the machine code; and back.
// How: eight bytes of length, a JSON text, then the ELF files unchanged, so that equal code gives equal bytes. The
//       artifact of one kernel has, for each instruction set, a shared object, which is loaded, and the object files
//       from which it was linked. A unit, which link_kernels.h makes of several kernels, has one shared object for all
//       of them, and their object files.
//       In an exported library the text has another form (program_binary.h), with names of linked code for ELF files.
// Cost: parsing the text and hashing the ELF files, which are not copied.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/tensor_code.h"
#include "base/error.h"
#include "instruction_set.h"
#include "ir/type.h"
#include "kernel_set.h"
#include "packing.h"

namespace collage::native {

/// One buffer the kernel is called with.
using Argument = TensorArgument;

/// A constant of the kernel: the constant of the graph at `source` of LoadRequest::constants, packed.
struct ConstantPart {
  std::uint32_t source = 0;
  Packing packing;
  bool is_packed = false;  ///< by prepare_constants(): load() gets the packed bytes
  bool operator==(const ConstantPart&) const = default;
};

/// The machine code of a kernel for one instruction set.
struct Code {
  std::string instruction_set;       ///< what it was compiled for
  std::size_t serial_bytes = 0;      ///< scratch outside parallel loops
  std::size_t per_thread_bytes = 0;  ///< scratch of each thread inside them
  bool operator==(const Code&) const = default;
};

struct Program {
  std::string symbol;  ///< of the kernel in each shared object
  int threads = 1;
  std::vector<Argument> arguments;  ///< in calling order
  std::vector<ConstantPart> constants;
  std::string library;           ///< "openblas": the BLAS that its code calls; empty = none
  std::vector<Code> codes;       ///< best first, one shared object each
  std::optional<KernelSet> set;  ///< of open shapes: in place of the one symbol and its arguments
  bool operator==(const Program&) const = default;

  /// Enough for any of the codes.
  [[nodiscard]] std::size_t workspace_bytes() const;
};

/// The machine code of one instruction set, inside an artifact's bytes.
struct CodeBytes {
  std::string_view shared_object;
  std::vector<std::string_view> objects;  ///< what it was linked from; empty where that cannot be linked with others
};

struct StoredProgram {
  Program program;
  std::vector<CodeBytes> codes;  ///< one for each of the program's
};

[[nodiscard]] std::string to_bytes(const Program& program, std::span<const CodeBytes> codes);

/// The entry point of a kernel that is called with an array of arguments, as Halide names it.
[[nodiscard]] inline std::string entry_symbol(const std::string& symbol) { return symbol + "_argv"; }

/// Programs whose kernels lie in the same shared objects, by entry point.
using Programs = std::map<std::string, Program, std::less<>>;

struct StoredUnit {
  Programs programs;
  std::vector<CodeBytes> codes;  ///< one for each code of every program
};

[[nodiscard]] std::string unit_to_bytes(const Programs& programs, std::span<const CodeBytes> codes);

/// The text at the front of an artifact, which names the hashes of all that follows. Error backend/bad-artifact.
[[nodiscard]] Result<std::string_view> text_of(std::string_view bytes);
/// The inverse: a text with its length in front; what follows it is appended.
[[nodiscard]] std::string with_length(std::string_view text);
/// Error backend/bad-artifact.
[[nodiscard]] std::unexpected<Error> broken_artifact(std::string saw);

/// What a kernel needs of a machine.
struct Needs {
  std::vector<const InstructionSet*> sets;  ///< one of them, best first
  std::string library;
};

/// "native/2 avx512 avx2", "native/2 avx512 with openblas": the build and the needs of a kernel.
[[nodiscard]] std::string compatibility_of(const Program& program);
/// The needs in such a string. Error backend/incompatible-artifact for those of other builds.
[[nodiscard]] Result<Needs> needs_of(std::string_view compatibility);
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredProgram> program_of(std::string_view bytes);
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredUnit> unit_of(std::string_view bytes);

}  // namespace collage::native
