// A graph as bytes for a process of the same build (base/binary.h), apart from the contents of its tensors, which lie
// where the writer puts them.
// In:  a graph. Out: bytes; and from bytes that nobody vouches for a graph, or an error: what is read was compared with
//       what is there, bodies and types are at most 100 deep, and verify() holds.
// Not here: the text form (graph.h), which people and tests read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/binary.h"
#include "ir/graph.h"

namespace collage {

/// Where bytes lie: in which file, and where in it. What numbers of files mean is between writer and reader.
struct BytePlace {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  bool operator==(const BytePlace&) const = default;
};
inline auto members(BytePlace& of) { return std::tie(of.file, of.offset, of.bytes); }

/// Puts the contents of a tensor somewhere.
using KeepBytes = std::function<Result<BytePlace>(const Buffer& bytes)>;
/// The bytes at a place, aligned for every element type. An error for a place that is none.
using FindBytes = std::function<Result<Buffer>(const BytePlace& place)>;

/// Errors of `keep`.
[[nodiscard]] Result<std::string> graph_to_binary(const Graph& graph, const KeepBytes& keep);
/// Errors ir/not-a-graph, those of `find` and of verify().
[[nodiscard]] Result<Graph> graph_from_binary(std::string_view bytes, const FindBytes& find);

}  // namespace collage
