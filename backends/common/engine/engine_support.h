// Shared by the engine backends: their rules for proposing regions, checks of a region that do not call the library,
// and the conversion of the library's messages to errors and refusals.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// The facts about one engine that support() judges by.
struct EngineLimits {
  std::int64_t max_opset = 0;  ///< newest ai.onnx the engine reads
  bool (*knows_operator)(std::string_view domain, std::string_view op_type) = nullptr;
  bool (*takes_port)(ElementType type) = nullptr;    ///< at the region's border
  bool (*takes_inside)(ElementType type) = nullptr;  ///< anywhere in the region
  bool takes_containers = false;                     ///< sequences, optionals and maps inside a region
  bool takes_held = false;                           ///< such values and strings at the region's border
  std::size_t min_channels_last_rank = 4;
  std::size_t max_channels_last_rank = 4;
  bool mixes_formats = false;  ///< also offers inputs in channels_last with outputs plain, and the reverse
  /// Why a known operator must not go to the engine: what the library itself does wrongly. Bodies' nodes too.
  std::optional<Refusal> (*fault_of)(const Graph& graph, const Node& node) = nullptr;
  /// True for a node that the engine computes wrongly between channels_last ports.
  bool (*keeps_plain)(const Graph& graph, const Node& node) = nullptr;
};

/// The variants "default" (all plain), "channels_last" and, when the engine mixes formats, "channels_last_in" and
/// "channels_last_out". A port with equal bytes in both formats stays plain.
[[nodiscard]] std::expected<std::vector<Variant>, Refusal> engine_support(const EngineLimits& limits,
                                                                          const Graph& graph, const Region& region);

/// Any growth, and the chains engines are known to fuse.
[[nodiscard]] PartitionRules engine_rules();

/// A library's message as one line of at most 300 characters.
[[nodiscard]] std::string one_line(std::string_view message);

/// The error of a library call that failed. Code backend/library-failed.
[[nodiscard]] std::unexpected<Error> library_failed(const std::string& where, std::string_view message);

}  // namespace collage
