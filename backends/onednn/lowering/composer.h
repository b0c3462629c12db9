// Composes a program: assigns formats to ports, creates tensors, and inserts reorders where an operation needs another
// layout than its port has.
#pragma once

#include <expected>
#include <map>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "program.h"
#include "region/region.h"

namespace collage::onednn {

/// A program with what the plan must know about it.
struct Lowered {
  Program program;
  std::vector<Format> input_formats;  ///< one per Region::inputs
  std::vector<Format> output_formats;
  std::vector<ValueId> constants;  ///< what constant tensors index
};

/// The format of a port whose value an operation takes in `layout`: plain wherever that has the same bytes or nearly.
[[nodiscard]] Format port_format(const Extents& extents, Layout layout);

class Composer {
 public:
  Composer(const Graph& graph, const Region& region);

  /// A computed value as an activation in `layout`; `extents` are its own with 1s added anywhere. A value of one pixel
  /// keeps the format plain; a reorder is added when the operation needs padded channels.
  int input(ValueId id, const Extents& extents, Layout layout);
  /// A computed value whose port has `format`, seen with other extents and strides over the same bytes.
  int view(ValueId id, const Format& format, Extents extents, Extents strides = {});
  /// A constant seen with extents and strides (empty = row-major), wanted in `layout`, times `scale`.
  int constant(ValueId id, Extents extents, Extents strides = {}, Layout layout = Layout::kPlain, float scale = 1.F);
  /// A tensor filled with a number.
  int literal(float number, const Extents& extents, Layout layout = Layout::kPlain);
  /// A tensor of these numbers, f32 or i32.
  int numbers(std::vector<float> numbers, const Extents& extents, ElementType type = ElementType::kFloat32);
  /// A constant of bytes whose tensor was made before is given to the library as i8.
  void make_signed(int tensor) { lowered_.program.tensors[static_cast<std::size_t>(tensor)].type = ElementType::kInt8; }
  /// A matrix that weighs the columns around a position, one position a row.
  int interpolation(const std::vector<float>& positions, std::int64_t columns);
  /// The region's output, to be written in `layout`; `finish` reorders it when the port's format has other bytes.
  int output(const Extents& extents, Layout layout);
  /// The region's output with `format`, seen with other extents and strides.
  int output_view(const Format& format, Extents extents, Extents strides = {}, std::int64_t offset = 0);
  int temporary(const Extents& extents, Layout layout);
  /// A part of an input or temporary, which begins `offset` elements into it.
  int part(int tensor, Extents extents, Extents strides, std::int64_t offset);
  /// A constant read over `axes` with `strides` (0 repeats) and then seen as `extents`; zero off the `diagonal` of two
  /// axes, if given.
  int gathered(ValueId id, Extents axes, Extents strides, Extents extents, Extents diagonal = {});

  void add(Op op) { lowered_.program.ops.push_back(std::move(op)); }
  /// Lets the output share the memory of this input, when the two have the same bytes and format.
  void may_share(ValueId input);
  [[nodiscard]] bool output_is_direct() const { return pending_output_ < 0; }

  /// A refusal when an input got no format, or two.
  [[nodiscard]] std::expected<Lowered, Refusal> finish();

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] bool is_constant(ValueId id) const { return graph_.value(id).constant.has_value(); }
  [[nodiscard]] Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  /// How many times nodes of the region read a value.
  [[nodiscard]] std::size_t reads(ValueId id) const;
  [[nodiscard]] const TensorInfo& tensor(int index) const {
    return lowered_.program.tensors[static_cast<std::size_t>(index)];
  }

 private:
  int push(TensorInfo info);
  std::uint32_t port_of(ValueId id) const;

  const Graph& graph_;
  const Region& region_;
  Lowered lowered_;
  std::vector<bool> has_format_;
  std::map<std::pair<ValueId, Layout>, int> activations_;
  bool has_conflict_ = false;
  std::uint32_t temporaries_ = 0;
  int pending_output_ = -1;  ///< a temporary still to be reordered to the port
  int port_output_ = -1;
};

}  // namespace collage::onednn
