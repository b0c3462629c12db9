// The program of an artifact: which kernels of a shared object are called in which order, on which tensors.
// In:  what worker/emission.py plans. Out: JSON at the front of the artifact, the shared object behind it.
// Form: that of the engines (backends/common/engine/engine_artifact.h); the payload is the shared object.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/tvm/description.h"
#include "base/error.h"

namespace collage::tvm {

enum class Home : std::uint8_t { kInput, kOutput, kConstant, kPrepared, kScratch };

/// A dense tensor of f32 that a kernel reads or writes.
struct Argument {
  Home home = Home::kInput;
  std::uint64_t at = 0;  ///< the number of a port, constant or prepared tensor; in scratch the offset in bytes
  Extents extents;
  bool operator==(const Argument&) const = default;
};

struct KernelCall {
  std::string kernel;
  std::vector<Argument> arguments;
  bool operator==(const KernelCall&) const = default;
};

struct Program {
  std::vector<ConstantRead> constants;
  /// What needs to be done once: these kernels make the prepared tensors of constants. Nothing when that is done; the
  /// artifact's constants are then the prepared tensors, and behind them the others as kernels read them.
  std::vector<KernelCall> prepare;
  std::vector<std::uint64_t> prepared_bytes;
  std::vector<KernelCall> calls;
  std::uint64_t scratch_bytes = 0;
  bool is_prepared = false;
  int threads = 1;
  bool operator==(const Program&) const = default;
};

struct StoredProgram {
  Program program;
  std::string_view object;  ///< borrowed
};

/// The program in a plan of the worker's. Error backend/bad-artifact for JSON of another form, or tensors that lie
/// outside of their places.
[[nodiscard]] Result<Program> program_of(const Json& plan, std::vector<ConstantRead> constants, int threads);

[[nodiscard]] std::string to_bytes(const Program& program, std::string_view object);
/// Error backend/bad-artifact.
[[nodiscard]] Result<StoredProgram> parse_program(std::string_view bytes);

[[nodiscard]] std::unexpected<Error> bad_artifact(std::string saw);
/// Bytes of f32 elements; nothing for extents out of range.
[[nodiscard]] std::optional<std::uint64_t> bytes_of(const Extents& extents);

}  // namespace collage::tvm
