// Writes a description node by node: gives values their tensors in one layout.
// In:  a graph, a region, a layout. Out: Lowered.
// Cost: linear in the region's operands.
// Not here: what each operator means (lower_*.cpp).
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/tvm/description.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::tvm {

enum class Layout : std::uint8_t {
  kPlain,        ///< all values row-major in ONNX order
  kChannelsLast  ///< values of rank 4 as [n, height, width, c]; others plain
};

struct Lowered {
  Description description;
  std::vector<ValueId> constants;  ///< of the graph, by ConstantRead::index
  std::vector<Format> input_formats;
  std::vector<Format> output_formats;
};

using Done = std::expected<void, Refusal>;

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

class Describer {
 public:
  Describer(const Graph& graph, const Region& region, Layout layout);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  [[nodiscard]] std::size_t rank(ValueId id) const { return extents(id).size(); }
  /// Whether a value of the rank has its channels last.
  [[nodiscard]] bool is_turned(std::size_t rank) const { return layout_ == Layout::kChannelsLast && rank == 4; }
  /// The ONNX axis of each axis in memory, outermost first.
  [[nodiscard]] std::vector<std::size_t> order(std::size_t rank) const;
  /// The axis in memory of an ONNX axis; negative ones count from the end.
  [[nodiscard]] std::int64_t axis_in_memory(std::size_t rank, std::int64_t axis) const;
  [[nodiscard]] Extents extents_in_memory(const Extents& extents) const;

  /// The tensor of a value that is read.
  [[nodiscard]] std::string read(ValueId id);
  /// The tensor of an operand that is broadcast to a value of this rank. Nothing when its axes would meet others than
  /// ONNX says.
  [[nodiscard]] std::optional<std::string> read_broadcast(ValueId id, std::size_t rank);
  [[nodiscard]] std::string constant(ValueId id, Extents extents, Extents steps);
  [[nodiscard]] std::string literal(float value);

  /// Adds an operation; gives its result. `more`: what the operation is told besides.
  std::string add(const char* op, const std::vector<std::string>& operands, Json more = Json::object());
  /// Says which tensor is a node's result.
  void write(ValueId id, const std::string& tensor) { tensors_[id] = tensor; }

  /// An output that is no result of an operation is refused.
  [[nodiscard]] std::expected<Lowered, Refusal> take();

 private:
  const Graph& graph_;
  const Region& region_;
  Layout layout_;
  Lowered lowered_;
  std::map<ValueId, std::string> tensors_;
};

}  // namespace collage::tvm
