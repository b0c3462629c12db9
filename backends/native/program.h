// What an artifact of this backend says beside its machine code: which kernel, on which buffers, with which constants.
// In: an artifact's bytes. Out: a Program and the shared object; and back.
// How: eight bytes of length, a JSON text, then the shared object as it is, so that equal code stays equal bytes.
// Cost: parsing the text; the shared object is not copied.
// Source: ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/type.h"
#include "packing.h"

namespace collage::native {

enum class ArgumentKind : std::uint8_t { kInput, kConstant, kOutput };

/// One buffer the kernel is called with: a port or a constant, seen as a dense or broadcast array.
struct Argument {
  ArgumentKind kind = ArgumentKind::kInput;
  std::uint32_t index = 0;  ///< of the port, or of the constant
  ElementType type = ElementType::kFloat32;
  Extents extents;  ///< outer to inner as the kernel was written; at most eight
  Extents strides;  ///< elements
  bool operator==(const Argument&) const = default;
};

/// A constant of the kernel: the constant of the graph at `source` of LoadRequest::constants, packed.
struct ConstantPart {
  std::uint32_t source = 0;
  Packing packing;
  bool is_packed = false;  ///< by prepare_constants(): load() gets the packed bytes
  bool operator==(const ConstantPart&) const = default;
};

struct Program {
  std::string symbol;           ///< of the kernel in the shared object
  std::string instruction_set;  ///< what it was compiled for
  int threads = 1;
  std::vector<Argument> arguments;  ///< in calling order
  std::vector<ConstantPart> constants;
  std::size_t serial_bytes = 0;      ///< scratch outside parallel loops
  std::size_t per_thread_bytes = 0;  ///< scratch of each thread inside them
  bool operator==(const Program&) const = default;

  [[nodiscard]] std::size_t workspace_bytes() const {
    return serial_bytes + per_thread_bytes * static_cast<std::size_t>(threads);
  }
};

struct StoredProgram {
  Program program;
  std::string_view shared_object;  ///< inside the artifact's bytes
};

[[nodiscard]] std::string to_bytes(const Program& program, std::string_view shared_object);
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredProgram> program_of(std::string_view bytes);

}  // namespace collage::native
