// The state while one region is lowered to tensor code: its ports and constants as Halide inputs, and the resulting
// code.
// In:  a graph, a region, a variant. Out: TensorCode.
// How: an implementation (strategy.h) requests ports as views, writes and schedules Funcs, and names the outputs.
// Cost: that of building expressions.
// Source: Halide's ImageParam, with explicit strides for each dimension.
#pragma once

#include <Halide.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "compiler/analysis/open_region.h"
#include "compiler/analysis/space.h"
#include "compiler/products/micro_kernel.h"
#include "instruction_set.h"
#include "program.h"
#include "region/narrow_variant.h"

namespace collage::native {

/// Indices or variables, outer to inner.
using Indices = std::vector<Halide::Expr>;

/// How a region of open shapes is written: one kernel of its set.
struct OpenForm {
  const OpenRegion* region = nullptr;  ///< null: every shape is fixed
  bool serves_all = false;             ///< the code takes every shape, in place of stating what it needs of one
};

/// A pipeline whose buffers are named ports. Sizes are constants of the code, but for those that `views` say.
struct TensorCode {
  std::string name;
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> inputs;  ///< in calling order, before the outputs
  std::vector<Argument> arguments;       ///< of inputs, then of outputs
  std::vector<ValueId> constants;        ///< of the graph
  std::vector<ConstantPart> parts;
  std::string library;                       ///< the BLAS it calls; empty = none
  std::vector<MicroProduct> micro_products;  ///< that its stages call
  std::vector<OpenView> views;               ///< of arguments, where shapes are open
  std::vector<Guard> guards;                 ///< of open shapes
};

/// Something an implementation reads: a port, a constant or a Func, by loop indices. Narrow elements are widened to f32
/// as they are read.
struct Readable {
  Halide::Func func;
  Extents extents;  ///< along the loop axes; indices of extent 1 are ignored
  bool is_bool = false;
  Indices sizes = {};  ///< the extents in the code: of the buffer where they are open
  [[nodiscard]] Halide::Expr operator()(const Indices& at) const;
};

class Lowering {
 public:
  Lowering(const Graph& graph, const Region& region, const Variant& variant, const CompileOptions& options,
           const InstructionSet& set, const OpenForm& open = {})
      : graph_(graph), region_(region), variant_(variant), options_(options), set_(set), open_(open) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Region& region() const { return region_; }
  [[nodiscard]] const InstructionSet& set() const { return set_; }
  [[nodiscard]] const CompileOptions& options() const { return options_; }
  /// Whether the kernel rounds numbers to 16 bits.
  [[nodiscard]] bool has_16_bits() const { return collage::has_16_bits(variant_); }
  /// f32 numbers in one vector register.
  [[nodiscard]] int lanes() const { return set_.vector_bytes / 4; }

  /// plain for constants.
  [[nodiscard]] Format format_of(ValueId id) const;
  /// In which the value is stored: of fewer bits than its own where its format is narrow.
  [[nodiscard]] ElementType element_of(ValueId id) const;
  /// A region's input or a constant of the graph along the axes of a space. Precondition: view_of() has one.
  [[nodiscard]] Readable read(ValueId id, const Space& space);
  /// The same with a view of the caller's own.
  [[nodiscard]] Readable read(ValueId id, const View& view);
  /// The same as a buffer, its elements as they are stored: for stages that are not Halide's, and for narrow products.
  [[nodiscard]] Halide::ImageParam buffer(ValueId id, const View& view);
  /// A constant packed into dense numbers of these extents, outer to inner; 16-bit floats are widened as they are read.
  [[nodiscard]] Halide::Func packed(ValueId id, Packing packing, ElementType type, const Extents& extents);
  /// The same as a buffer.
  [[nodiscard]] Halide::ImageParam packed_buffer(ValueId id, Packing packing, ElementType type, const Extents& extents);

  /// Names the Func that computes outputs of the region: one value for each of its results, all in the space.
  void set_outputs(const Halide::Func& func, const std::vector<ValueId>& ids, const Space& space);
  void set_output(const Halide::Func& func, ValueId id, const View& view);

  // Open shapes. Nothing that is written may name an extent of an open axis: it is one at some point only.
  [[nodiscard]] bool is_open() const { return open_.region != nullptr; }
  /// Whether the extent of the value along this axis of the space is open.
  [[nodiscard]] bool is_open(ValueId id, const Space& space, std::size_t axis) const;
  /// How the output is split along an axis into pieces of `factor`: shifting the last one inwards needs one whole
  /// piece, which a guard says where the axis is open; a kernel for every shape gets `otherwise` instead.
  [[nodiscard]] Halide::TailStrategy tail(const Space& space, std::size_t axis, std::int64_t factor,
                                          Halide::TailStrategy otherwise);
  /// Why what was asked for cannot be written with open shapes; empty when it can.
  [[nodiscard]] const std::string& complaint() const { return complaint_; }

  /// The code calls this BLAS (blas_call.h).
  void call_library(std::string name) { library_ = std::move(name); }
  /// The code has a stage of this micro-kernel.
  void call_micro_kernel(const MicroProduct& product) { micro_products_.push_back(product); }

  /// The outcome; the implementation is done.
  [[nodiscard]] TensorCode take(const std::string& name);

 private:
  struct Source {
    Halide::ImageParam param;
    Argument argument;
    OpenView view;
  };
  Readable add(Argument argument, OpenView view, std::string name);
  Readable readable(const Source& source) const;
  Readable read(ValueId id, const View& view, OpenView open);
  /// Terms of the value along the axes; fixed ones where nothing is open.
  [[nodiscard]] OpenView open_view(ValueId id, const Space& space) const;
  /// The same for a view without a space, whose axes are all of fixed extent.
  [[nodiscard]] OpenView fixed_view(ValueId id, const View& view);
  void add_output(ValueId id, const View& view, OpenView open);
  /// A complaint where the Func's result is not of the elements in which the output is stored.
  void check_elements(const Halide::Func& func, std::size_t result, ValueId id);
  std::uint32_t constant_index(ValueId id);
  std::uint32_t part_index(ValueId id, const Packing& packing);

  const Graph& graph_;
  const Region& region_;
  const Variant& variant_;
  const CompileOptions& options_;
  const InstructionSet& set_;
  OpenForm open_;
  std::string complaint_;
  std::vector<Guard> guards_;
  std::vector<OpenView> output_views_;
  std::vector<Source> sources_;
  std::map<std::pair<ValueId, View>, std::size_t> views_;  ///< index into sources_
  std::vector<ValueId> constants_;
  std::vector<ConstantPart> parts_;
  std::vector<Halide::Func> outputs_;
  std::vector<Argument> output_arguments_;
  std::string library_;
  std::vector<MicroProduct> micro_products_;
};

/// Expressions of the region's element-wise nodes at one place of a space.
class Elements {
 public:
  /// `given` holds what is computed otherwise: the result of an anchor.
  Elements(Lowering& lowering, const Space& space, Indices at, std::map<ValueId, Halide::Expr> given = {})
      : lowering_(lowering),
        space_(space),
        at_(std::move(at)),
        known_(std::move(given)),
        is_behind_anchor_(!known_.empty()) {}
  /// The value here: given, read, or computed from others. As computed: bool is one bit.
  Halide::Expr at(ValueId id);

 private:
  Halide::Expr made(ValueId id);
  Halide::Expr operand(const Node& node, std::size_t i);

  Lowering& lowering_;
  const Space& space_;
  Indices at_;
  std::map<ValueId, Halide::Expr> known_;
  bool is_behind_anchor_;
};

/// Fixes extents and strides of a buffer of the code, so that it is made for this shape; what `view` says is open stays
/// so. Of several results of one Func only the first one may have its bounds fixed.
void fix_shape(Halide::Parameter buffer, const Argument& argument, bool with_bounds = true, const OpenView& view = {});

/// A literal for a constant of one element.
[[nodiscard]] std::optional<Halide::Expr> literal_of(const Tensor& tensor);

/// Variables for loop axes, outer to inner, and the order in which Halide wants them.
[[nodiscard]] std::vector<Halide::Var> loop_variables(std::size_t count);
/// The same, for as many names: const auto [n, y, x, c] = named_loops<4>().
template <std::size_t N>
[[nodiscard]] std::array<Halide::Var, N> named_loops() {
  std::array<Halide::Var, N> named;
  std::ranges::copy(loop_variables(N), named.begin());
  return named;
}
[[nodiscard]] std::vector<Halide::Var> innermost_first(const std::vector<Halide::Var>& variables);
[[nodiscard]] std::vector<Halide::Expr> innermost_first(const Indices& indices);
[[nodiscard]] Indices as_indices(const std::vector<Halide::Var>& variables);

}  // namespace collage::native
