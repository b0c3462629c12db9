// How much a model file may ask for. Import checks each of these before it does the work that a file could make
// endless. In:  nothing, or NAME=VALUE. Out: one value that import takes; errors import/limit that name what to raise.
// Not here: the 2 GiB of one protobuf message (import/too-large), which no option can raise.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace collage {

/// Large enough for the largest models that exporters write, small enough that what a file of a few megabytes asks for
/// is done or refused within seconds.
struct ImportLimits {
  std::uint64_t parse_memory = std::uint64_t{1} << 30;
  std::uint64_t nodes = 150'000;
  std::uint64_t attributes = 600'000;
  std::uint64_t values = 400'000;
  std::uint64_t tensors = 250'000;
  std::uint64_t functions = 100'000;
  std::uint64_t body_names = 200'000'000;  ///< inference gives every body a copy of the names around it
  std::uint64_t depth = 64;
  std::uint64_t function_depth = 100;
  std::uint64_t inlined_nodes = 150'000;
  std::uint64_t rank = 32;
  std::uint64_t name = 64 * 1024;
  std::uint64_t elements = std::uint64_t{1} << 40;
  // Of the process of its own that reads a model (src/sandbox).
  std::uint64_t import_memory = std::uint64_t{16} << 30;
  std::uint64_t import_seconds = 300;

  bool operator==(const ImportLimits&) const = default;
};

/// One of the limits: how the user calls it and what it counts.
struct ImportLimit {
  std::string_view name;
  std::uint64_t ImportLimits::*value;
  std::uint64_t most;        ///< what it can be raised to
  std::string_view counted;  ///< "nodes in the file, bodies and functions included"
};

/// All of them.
[[nodiscard]] std::span<const ImportLimit> import_limits();

/// Sets one from "NAME=VALUE". Error cli/bad-option for another name or no number.
[[nodiscard]] Result<void> set_limit(ImportLimits& limits, const std::string& text);

/// Error import/limit: `seen` at `where` is more than `limit` allows.
[[nodiscard]] std::unexpected<Error> over_limit(const ImportLimits& limits, std::uint64_t ImportLimits::*limit,
                                                std::string where, std::string seen);

}  // namespace collage
