// The program of every operator that only moves elements: strided blocks copied from inputs to outputs.
// In:  blocks as the operators describe them (move_*.cpp). Out: normalised blocks, and loops that run them.
// A program with one dense block from one input to one output is a view: nothing has to run.
// Example: the Transpose f32[2, 3] -> f32[3, 2] is one block with extents (3, 2), byte strides (4, 12) in the input and
// (8, 4) in the output.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "backend/backend.h"
#include "base/json_numbers.h"
#include "layout.h"

namespace collage::host {

/// One axis of a block; strides in elements, negative ones allowed on the reading side, 0 there repeats.
struct BlockAxis {
  std::int64_t extent = 1;
  std::int64_t from_stride = 0;
  std::int64_t to_stride = 0;
  bool operator==(const BlockAxis&) const = default;
};

/// Copies the elements of a strided block of an input, or one constant element, to a strided block of an output.
struct Block {
  std::uint32_t input = 0;  ///< counts the input ports, then the artifact's constants
  std::uint32_t output = 0;
  std::int64_t from = 0;  ///< first element read
  std::int64_t to = 0;    ///< first element written
  std::vector<BlockAxis> axes;
  /// The bytes of one element to write everywhere instead of reading an input.
  std::vector<std::uint8_t> fill;
  bool operator==(const Block&) const = default;
};

struct CopyProgram {
  std::int64_t element_bytes = 4;
  std::vector<Block> blocks;
  bool operator==(const CopyProgram&) const = default;
};

/// Drops axes of extent 1, orders axes by the written stride, outermost first, merges neighbours that are dense in each
/// other. A block with nothing to copy gets one axis of extent 0.
[[nodiscard]] Block normalised(Block block);

/// The program's output shows the bytes of input `input` unchanged.
[[nodiscard]] bool is_view(const CopyProgram& program, std::uint32_t input, std::int64_t elements);

[[nodiscard]] nlohmann::json to_json(const CopyProgram& program);
/// Throws nlohmann::json::exception when keys are missing or of a wrong type.
[[nodiscard]] CopyProgram copy_program_of(const nlohmann::json& json);

/// A kernel for the program, on the request's ports and constants. Error backend/bad-artifact when a block leaves the
/// bytes of its ports.
[[nodiscard]] Result<std::unique_ptr<Kernel>> load_copy(const CopyProgram& program, const LoadRequest& request);

}  // namespace collage::host
