// Writes a program node by node: gives values their tensors in one layout, and joins an operation with those before it
// where the library computes both at once.
// In:  a graph, a region, a layout. Out: Lowered.
// Cost: linear in the region's operands. No library calls.
// Not here: what each operator means (lower_*.cpp).
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/common/quantised/bytes.h"
#include "ir/graph.h"
#include "program.h"
#include "region/format.h"
#include "region/refusal.h"
#include "region/region.h"

namespace collage::xnnpack {

enum class Layout : std::uint8_t {
  kPlain,        ///< all values row-major in ONNX order
  kChannelsLast  ///< values of rank 3 to 5 as [n, spatial..., c]; others plain
};

/// How the library is given all bytes of a region: it computes with those of one kind at a time.
enum class ByteForm : std::uint8_t { kSigned, kUnsigned };

struct Lowered {
  Program program;
  std::vector<ValueId> constants;
  std::vector<Format> input_formats;                              ///< one per input of the region
  std::vector<Format> output_formats;                             ///< one per output
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;  ///< as of Artifact
};

using Done = std::expected<void, Refusal>;

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

class Composer {
 public:
  Composer(const Graph& graph, const Region& region, Layout layout, ByteForm form = ByteForm::kSigned);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Region& region() const { return region_; }

  [[nodiscard]] Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  [[nodiscard]] std::size_t rank(ValueId id) const { return graph_.value(id).type.extents().size(); }
  /// Whether a value of the rank has its channels last.
  [[nodiscard]] bool is_turned(std::size_t rank) const;
  /// The ONNX axis of each axis of the library, outermost first; -1 for one that the library wants besides: images of
  /// one axis are images one pixel high.
  [[nodiscard]] std::vector<int> order(std::size_t rank) const;
  /// The library's axis of an ONNX axis; negative ones count from the end.
  [[nodiscard]] std::int64_t library_axis(std::size_t rank, std::int64_t axis) const;
  [[nodiscard]] Extents library_extents(const Extents& extents) const;
  /// The bytes of the value are those of its plain format.
  [[nodiscard]] bool has_plain_bytes(ValueId id) const;

  /// Whether read() finds the value: an input, a constant, computed before, or what bytes stand for.
  [[nodiscard]] bool is_known(ValueId id) const;
  [[nodiscard]] bool has_tensor(ValueId id) const { return tensors_.contains(id); }
  /// The tensor of a value that is read: computed, an input, or a constant in the region's layout.
  [[nodiscard]] int read(ValueId id);
  /// The tensor of an operand that is broadcast to a value of this rank. Nothing when the library would broadcast along
  /// other axes than ONNX does.
  [[nodiscard]] std::optional<int> read_broadcast(ValueId id, std::size_t rank);
  /// The tensor of a node's result.
  [[nodiscard]] int write(ValueId id);
  [[nodiscard]] int temporary(const Extents& library_extents);
  [[nodiscard]] int literal(float value);
  /// A constant, gathered as TensorInfo says.
  [[nodiscard]] int constant(ValueId id, Extents library_extents, Extents gathered, Extents steps, float scale = 1.F);

  [[nodiscard]] const TensorInfo& tensor(int index) const {
    return lowered_.program.tensors[static_cast<std::size_t>(index)];
  }
  void add(Op op) { lowered_.program.ops.push_back(std::move(op)); }

  // ---- integers that stand for real numbers ----

  [[nodiscard]] ByteForm byte_form() const { return form_; }
  /// A real value is what these integers stand for.
  void note_bytes(ValueId real, Bytes bytes) { bytes_[real] = std::move(bytes); }
  [[nodiscard]] const Bytes* bytes_behind(ValueId real) const;
  /// The tensor of bytes that are read, broadcast to a value of this rank. A refusal where they stand for other numbers
  /// elsewhere in the region.
  [[nodiscard]] std::expected<int, Refusal> read_bytes(const Bytes& bytes, std::size_t rank);
  /// The tensor of a node's result of bytes.
  [[nodiscard]] int write_bytes(const Bytes& bytes);
  /// As write(), of a value that has the type and encoding of a tensor.
  [[nodiscard]] int write_like(ValueId id, int tensor);
  /// A tensor whose elements stand for numbers as `bytes` says, in the form of this program: type, zero and scale.
  [[nodiscard]] TensorInfo encoded(const Bytes& bytes) const;
  /// A constant of this description, which lacks its role and index. One that is not shared has bytes of its own: the
  /// library tells packed weights apart by where they were, and packs the scales of a product with them.
  [[nodiscard]] int constant(ValueId id, TensorInfo info, bool is_shared = true);
  /// A bias, in steps of a number for each element.
  [[nodiscard]] int literal(std::vector<std::int32_t> numbers, std::vector<float> scales);

  /// Until it ends, real values that stand for bytes are read as these, and `real` is written as `result`.
  void begin_bytes(ValueId real, Bytes result) { result_ = {real, std::move(result)}; }
  void end_bytes() { result_.reset(); }
  /// Limits what the last operation writes, to real numbers.
  void limit_last(float least, float most);

  /// The operation that makes a value which nothing else than one node reads; null when there is none.
  [[nodiscard]] Op* sole_maker(ValueId id);
  /// Takes an operation out again; what it read is read by others from now on.
  void remove(const Op* op);

  /// A node that another one has computed with it.
  void skip(std::size_t node) { skipped_.insert(node); }
  [[nodiscard]] bool is_skipped(std::size_t node) const { return skipped_.contains(node); }
  /// The node that alone reads a value inside of the region, when nothing outside does; the universe's size otherwise.
  [[nodiscard]] std::size_t sole_reader(ValueId id) const;

  [[nodiscard]] Lowered take();

 private:
  void add_in_place();
  [[nodiscard]] int read_real(ValueId id);
  /// A constant of these extents as the operand of a value of this rank.
  [[nodiscard]] TensorInfo broadcast_constant(const Extents& own, std::size_t result_rank) const;
  [[nodiscard]] int write_as(ValueId id, TensorInfo info);

  const Graph& graph_;
  const Region& region_;
  Layout layout_;
  ByteForm form_;
  Lowered lowered_;
  std::map<ValueId, int> tensors_;
  std::map<ValueId, Bytes> bytes_;
  std::optional<std::pair<ValueId, Bytes>> result_;  ///< between begin_bytes() and end_bytes()
  NodeSet skipped_;
};

}  // namespace collage::xnnpack
