// Reductions, softmax and normalisations: work along neighbouring axes, one row or one strip of rows at a time.
// How: axes in memory order are seen as outer ones, one reduced, one inner. Where the reduced axis is innermost, a row
// is
//      summed in several vectors that join at its end; else neighbouring rows share a vector.
// Source: numerically safe softmax (subtract the maximum), variance in two passes.
#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/loops.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

/// Which axes the anchor works along, in the layout given.
struct Rows {
  Space space;          ///< of the anchor's input: outer axes, the reduced one, maybe an inner one
  std::size_t reduced;  ///< its place in the space
  Space result;         ///< of the anchor's output: the same axes, extent 1 at `reduced` for a reduction
  bool is_reduction = false;
  [[nodiscard]] bool has_inner() const { return reduced + 1 < space.rank(); }
  [[nodiscard]] std::int64_t length() const { return space.extent(reduced); }
};

bool is_reduction(const Node& node) { return node.op_type.starts_with("Reduce") || node.op_type.starts_with("Global"); }

/// The ONNX axes that the anchor reduces, ascending; nothing when they are computed.
std::optional<std::vector<std::size_t>> reduced_axes(const Site& site) {
  const Node& node = *site.anchor;
  const std::size_t rank = site.extents(node.inputs[0]).size();
  std::set<std::size_t> axes;
  const auto from = [&](std::size_t first) {
    for (std::size_t i = first; i < rank; ++i) axes.insert(i);
  };
  if (node.op_type.starts_with("Global") || node.op_type == "InstanceNormalization") {
    from(2);
  } else if (node.op_type == "LayerNormalization" || node.op_type == "RMSNormalization") {
    from(static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", -1), rank)));
  } else if (node.op_type == "MeanVarianceNormalization") {
    for (const std::int64_t axis : attribute_or<Extents>(node, "axes", {0, 2, 3}))
      axes.insert(static_cast<std::size_t>(from_front(axis, rank)));
  } else if (node.op_type.starts_with("Reduce")) {
    const ValueId id = input_of(node, 1);
    const Tensor* given = constant_of(site.graph, id);
    if (id.valid() && given == nullptr) return std::nullopt;
    const Extents list = given != nullptr ? *integers_of(*given) : Extents{};
    for (const std::int64_t axis : list) axes.insert(static_cast<std::size_t>(from_front(axis, rank)));
    if (list.empty() && attribute_or<std::int64_t>(node, "noop_with_empty_axes", 0) == 0) from(0);
  } else {
    axes.insert(static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(node, "axis", -1), rank)));
  }
  return std::vector<std::size_t>(axes.begin(), axes.end());
}

/// Nothing when the reduced axes are not neighbours in memory.
std::optional<Rows> rows_of(const Site& site, const Format& format) {
  const Extents extents = site.extents(site.anchor->inputs[0]);
  const auto axes = reduced_axes(site);
  if (!axes || axes->empty()) return std::nullopt;
  const auto is_reduced = [&](std::size_t axis) { return std::ranges::find(*axes, axis) != axes->end(); };
  Rows rows{.space = {.result = extents, .axes = {}}, .reduced = SIZE_MAX, .result = {}};
  rows.is_reduction = is_reduction(*site.anchor);
  std::vector<std::size_t> reduced;
  std::vector<std::size_t> inner;
  for (const std::size_t axis : memory_order(extents.size(), format)) {
    if (is_reduced(axis)) {
      if (!inner.empty()) return std::nullopt;
      reduced.push_back(axis);
    } else if (reduced.empty()) {
      rows.space.axes.push_back({axis});
    } else if (extents[axis] > 1) {
      inner.push_back(axis);
    }
  }
  rows.reduced = rows.space.axes.size();
  rows.space.axes.push_back(reduced);
  if (!inner.empty()) rows.space.axes.push_back(inner);
  rows.result = rows.space;
  if (!rows.is_reduction) return rows;
  // A result that keeps its axes has extent 1 there; one that does not counts the others anew.
  rows.result.result = site.extents(site.result());
  const bool keeps = rows.result.result.size() == extents.size();
  for (auto& group : rows.result.axes) {
    std::vector<std::size_t> renamed;
    for (const std::size_t axis : group) {
      if (is_reduced(axis)) continue;
      const auto gone = keeps ? 0 : std::ranges::count_if(*axes, [&](std::size_t one) { return one < axis; });
      renamed.push_back(axis - static_cast<std::size_t>(gone));
    }
    group = renamed;
  }
  return rows;
}

Format format_in(const Site& site, Layout layout) {
  const bool follows = layout == Layout::kChannelsLast && can_be_channels_last(site.type(site.anchor->inputs[0]));
  return follows ? channels_last() : plain();
}

enum class Join : std::uint8_t { kSum, kProduct, kMax, kMin };

Expr neutral(Join join, const Halide::Type& type) {
  switch (join) {
    case Join::kSum:
      return Halide::Internal::make_zero(type);
    case Join::kProduct:
      return Halide::Internal::make_one(type);
    case Join::kMax:
      return type.is_float() ? -type.max() : type.min();
    case Join::kMin:
      return type.max();
  }
  return {};
}

Expr joined(Join join, const Expr& a, const Expr& b) {
  switch (join) {
    case Join::kSum:
      return a + b;
    case Join::kProduct:
      return a * b;
    case Join::kMax:
      return Halide::max(a, b);
    case Join::kMin:
      return Halide::min(a, b);
  }
  return {};
}

/// Writes the stages of one kernel.
class RowWriter {
 public:
  RowWriter(const Site& site, const Rows& rows, Lowering& lowering)
      : site_(site), rows_(rows), lowering_(lowering), loops_(loop_variables(rows.space.rank())) {}

  /// The anchor's input with what stands before it, at all loop indices.
  Func source() {
    Elements elements(lowering_, rows_.space, as_indices(loops_));
    Func func("source");
    func(innermost_first(loops_)) = elements.at(site_.anchor->inputs[0]);
    if (!site_.before.empty()) keep(func);
    return func;
  }

  /// One value for each row: `value` joined along it.
  Func reduce(const std::string& name, const Func& value, Join join) {
    const Halide::Type type = value.types()[0];
    const std::int64_t length = rows_.length();
    Func total(name);
    if (rows_.has_inner()) {
      const RDom r(0, to_int(length), name + "_r");
      total(kept()) = neutral(join, type);
      total(kept()) = joined(join, total(kept()), value(with(r)));
      reductions_.push_back({.total = total});
      return total;
    }
    std::int64_t lanes = std::min(site_.lanes() * 4, length);
    if (lanes > site_.lanes()) lanes = lanes / site_.lanes() * site_.lanes();
    const std::int64_t whole = length / lanes * lanes;
    const Var lane(name + "_lane");
    Func part(name + "_part");
    std::vector<Expr> place = kept();
    const auto at = [&](const Expr& which) {
      std::vector<Expr> all = place;
      all.insert(all.begin(), which);
      return all;
    };
    const RDom blocks(0, to_int(length / lanes), name + "_blocks");
    part(at(lane)) = neutral(join, type);
    part(at(lane)) = joined(join, part(at(lane)), value(with(blocks * to_int(lanes) + lane)));
    const bool has_rest = whole != length;
    if (has_rest) {
      const RDom rest(0, to_int(length - whole), name + "_rest");
      part(at(rest)) = joined(join, part(at(rest)), value(with(rest + to_int(whole))));
    }
    const RDom across(0, to_int(lanes), name + "_across");
    total(place) = neutral(join, type);
    total(place) = joined(join, total(place), part(at(across)));
    reductions_.push_back(
        {.total = total, .part = part, .lane = lane, .lanes = lanes, .rest = length - whole, .across = across});
    return total;
  }

  /// `func` is kept for the row it is computed for.
  void keep(const Func& func) { kept_funcs_.push_back(func); }

  /// `total` in an expression over all loop indices.
  [[nodiscard]] Expr row(const Func& total) const { return total(kept()); }
  [[nodiscard]] Expr here(const Func& func) const { return func(innermost_first(as_indices(loops_))); }
  [[nodiscard]] Indices indices() const { return as_indices(loops_); }
  [[nodiscard]] const std::vector<Var>& loops() const { return loops_; }
  Lowering& lowering() { return lowering_; }

  /// Epilogue, output, loops.
  void finish(const Expr& value) {
    schedule(define_output(site_, lowering_, rows_.result, loops_, value), rows_.result.extents());
  }

 private:
  struct Reduction {
    Func total;
    Func part = {};
    Var lane = {};
    std::int64_t lanes = 0;
    std::int64_t rest = 0;
    RDom across = {};
  };

  /// Loop indices without the reduced one, innermost first.
  [[nodiscard]] std::vector<Expr> kept() const {
    std::vector<Expr> out;
    for (std::size_t i = loops_.size(); i-- > 0;)
      if (i != rows_.reduced) out.emplace_back(loops_[i]);
    return out;
  }
  /// All loop indices with another reduced one, innermost first.
  [[nodiscard]] std::vector<Expr> with(const Expr& along) const {
    Indices at = as_indices(loops_);
    at[rows_.reduced] = along;
    return innermost_first(at);
  }

  void schedule(Func out, const Extents& extents) {
    const std::vector<Var> outer(loops_.begin(), loops_.begin() + static_cast<std::ptrdiff_t>(rows_.reduced));
    const Extents outer_extents(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(rows_.reduced));
    const Var last = parallelise(out, outer, outer_extents, site_);
    const auto lanes = site_.lanes();
    const Var along = loops_[rows_.reduced];
    if (rows_.has_inner()) {
      const Var inner = loops_.back();
      const Var strip("strip");
      const Var within("within");
      const std::int64_t wide = std::min(lanes, extents.back());
      out.split(inner, strip, within, to_int(wide), TailStrategy::ShiftInwards).vectorize(within);
      out.reorder(within, along, strip);
      for (Func func : kept_funcs_) func.compute_at(out, strip).vectorize(inner, to_int(wide));
      for (Reduction& one : reductions_) {
        one.total.compute_at(out, strip).vectorize(inner, to_int(wide));
        one.total.update().vectorize(inner, to_int(wide));
      }
    } else {
      const std::int64_t wide = std::min(lanes, extents[rows_.reduced]);
      if (wide > 1) out.vectorize(along, to_int(wide), TailStrategy::GuardWithIf);
      const auto place = [&](Func func) {
        if (outer.empty())
          func.compute_root();
        else
          func.compute_at(out, last);
      };
      for (Func func : kept_funcs_) {
        place(func);
        const std::int64_t row_lanes = std::min(lanes, rows_.length());
        if (row_lanes > 1) func.vectorize(along, to_int(row_lanes));
      }
      for (Reduction& one : reductions_) {
        place(one.part);
        place(one.total);
        const auto vector = to_int(std::min(lanes, one.lanes));
        one.part.vectorize(one.lane, vector);
        one.part.update(0).vectorize(one.lane, vector);
        one.part.update(0).unroll(one.lane);
        if (one.rest > 1)
          one.part.update(1).vectorize(one.part.rvars(1)[0], to_int(std::min(lanes, one.rest)),
                                       TailStrategy::GuardWithIf);
        one.total.update().atomic().vectorize(one.across.x);
      }
    }
  }

  const Site& site_;
  const Rows& rows_;
  Lowering& lowering_;
  std::vector<Var> loops_;
  std::vector<Func> kept_funcs_;
  std::vector<Reduction> reductions_;
};

/// The same function at all loop indices of another.
Func mapped(RowWriter& writer, const std::string& name, const Expr& value) {
  Func func(name);
  func(innermost_first(writer.loops())) = value;
  return func;
}

void write_reduction(const Node& node, const Rows& rows, RowWriter& writer) {
  const std::string& op = node.op_type;
  const Func source = writer.source();
  const Expr x = writer.here(source);
  const auto total = [&](Join join, const Expr& value) {
    return writer.row(writer.reduce("total", mapped(writer, "value", value), join));
  };
  const Expr count = Expr(static_cast<float>(rows.length()));
  if (op == "ReduceSum") return writer.finish(total(Join::kSum, x));
  if (op == "ReduceMean" || op == "GlobalAveragePool") return writer.finish(total(Join::kSum, x) / count);
  if (op == "ReduceMax" || op == "GlobalMaxPool") return writer.finish(total(Join::kMax, x));
  if (op == "ReduceMin") return writer.finish(total(Join::kMin, x));
  if (op == "ReduceProd") return writer.finish(total(Join::kProduct, x));
  if (op == "ReduceL1") return writer.finish(total(Join::kSum, Halide::abs(x)));
  if (op == "ReduceSumSquare") return writer.finish(total(Join::kSum, x * x));
  if (op == "ReduceL2") return writer.finish(Halide::sqrt(total(Join::kSum, x * x)));
  if (op == "ReduceLogSum") return writer.finish(Halide::log(total(Join::kSum, x)));
  const Func most = writer.reduce("most", source, Join::kMax);
  const Expr shifted = total(Join::kSum, Halide::exp(x - writer.row(most)));
  writer.finish(Halide::log(shifted) + writer.row(most));
}

void write_softmax(const Node& node, RowWriter& writer) {
  const Func source = writer.source();
  const Func most = writer.reduce("most", source, Join::kMax);
  const Expr shifted = writer.here(source) - writer.row(most);
  const Func powers = mapped(writer, "powers", Halide::exp(shifted));
  if (node.op_type == "Softmax") writer.keep(powers);
  const Func sum = writer.reduce("sum", powers, Join::kSum);
  if (node.op_type == "LogSoftmax") return writer.finish(shifted - Halide::log(writer.row(sum)));
  writer.finish(writer.here(powers) * (1.F / writer.row(sum)));
}

/// Scale or bias along the loop axes: of the normalised axes, or by channel.
Expr parameter(const Site& site, const Rows& rows, RowWriter& writer, ValueId id) {
  View view{.extents = Extents(rows.space.rank(), 1), .strides = Extents(rows.space.rank(), 0)};
  const std::int64_t count = element_count(site.extents(id));
  std::size_t axis = rows.reduced;
  if (site.anchor->op_type == "InstanceNormalization") axis = rows.has_inner() ? rows.space.rank() - 1 : 1;
  view.extents[axis] = count;
  view.strides[axis] = count > 1 ? 1 : 0;
  return writer.lowering().read(id, view)(writer.indices());
}

void write_norm(const Site& site, const Rows& rows, RowWriter& writer) {
  const Node& node = *site.anchor;
  const Func source = writer.source();
  const Expr x = writer.here(source);
  const Expr count = Expr(static_cast<float>(rows.length()));
  const bool is_rms = node.op_type == "RMSNormalization";
  const bool is_mvn = node.op_type == "MeanVarianceNormalization";
  Expr centred = x;
  if (!is_rms) {
    const Func sum = writer.reduce("sum", source, Join::kSum);
    centred = x - writer.row(sum) / count;
  }
  const Func squares = mapped(writer, "squares", centred * centred);
  const Expr variance = writer.row(writer.reduce("squared", squares, Join::kSum)) / count;
  const float epsilon = attribute_or<float>(node, "epsilon", 1e-5F);
  Expr value = is_mvn ? centred / (Halide::sqrt(variance) + 1e-9F) : centred * (1.F / Halide::sqrt(variance + epsilon));
  if (input_of(node, 1).valid()) value = value * parameter(site, rows, writer, node.inputs[1]);
  if (input_of(node, 2).valid()) value = value + parameter(site, rows, writer, node.inputs[2]);
  writer.finish(value);
}

std::expected<void, Refusal> check_types(const Site& site) {
  static const std::set<std::string, std::less<>> kAnyType = {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"};
  const ElementType type = site.type(site.anchor->inputs[0]).element;
  if (type == ElementType::kFloat32) return {};
  if (kAnyType.contains(site.anchor->op_type) && (type == ElementType::kInt32 || type == ElementType::kInt64))
    return {};
  return refuse(RefusalReason::kType, std::string(name_of(type)));
}

bool has_one_output(const Node& node) {
  return std::ranges::count_if(node.outputs, [](ValueId id) { return id.valid(); }) == 1;
}

bool is_epilogue_seen(const Site& site, const Rows& rows, const Format& format) {
  return are_seen(site, site.after, rows.result, format) &&
         view_of(site.extents(site.region.outputs[0]), format, rows.result);
}

/// The epilogue of a reduction sees its result; a prologue sees the input.
bool fits(const Site& site, Layout layout) {
  const Format format = format_in(site, layout);
  const auto rows = rows_of(site, format);
  if (!rows) return false;
  // Parameters of several axes lie in plain order.
  const bool has_parameters =
      site.anchor->op_type == "LayerNormalization" || site.anchor->op_type == "RMSNormalization";
  if (has_parameters && layout == Layout::kChannelsLast && rows->space.axes[rows->reduced].size() > 1) return false;
  const Format result = can_be_channels_last(site.type(site.result())) ? format : plain();
  if (!is_epilogue_seen(site, *rows, result)) return false;
  return are_seen(site, site.before, rows->space, format);
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (!has_one_output(*site.anchor)) return refuse(RefusalReason::kStructure, "more than one output");
  if (auto ok = check_types(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const Extents in = site.extents(site.anchor->inputs[0]);
  if (in.empty()) return refuse(RefusalReason::kShape, "a scalar");
  const auto rows = rows_of(site, plain());
  Facts facts = {{"fits_plain", fits(site, Layout::kPlain) ? 1 : 0},
                 {"fits_nhwc",
                  can_be_channels_last(site.type(site.anchor->inputs[0])) && fits(site, Layout::kChannelsLast) ? 1 : 0},
                 {"elements", element_count(in)},
                 {"length", rows ? rows->length() : 0}};
  if (facts["fits_plain"] == 0 && facts["fits_nhwc"] == 0)
    return refuse(RefusalReason::kStructure, "axes or epilogue that are no rows");
  return facts;
}

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }

void build_in(const Site& site, Layout layout, Lowering& lowering) {
  const Rows rows = *rows_of(site, format_in(site, layout));
  RowWriter writer(site, rows, lowering);
  if (rows.is_reduction)
    write_reduction(*site.anchor, rows, writer);
  else if (site.anchor->op_type.ends_with("oftmax"))
    write_softmax(*site.anchor, writer);
  else
    write_norm(site, rows, writer);
}

void build_plain(const Site& site, const Facts&, const Schedule&, Lowering& lowering) {
  build_in(site, Layout::kPlain, lowering);
}
void build_nhwc(const Site& site, const Facts&, const Schedule&, Lowering& lowering) {
  build_in(site, Layout::kChannelsLast, lowering);
}

const std::array<Implementation, 2> kImplementations = {{{.name = "rows",
                                                          .condition = "fits_plain == 1",
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain},
                                                          .space = space,
                                                          .build = build_plain},
                                                         {.name = "strips",
                                                          .condition = "fits_nhwc == 1",
                                                          .priority = 9,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build_nhwc}}};

}  // namespace

const Family kRowsFamily = {
    .name = "rows",
    .operators =
        "ReduceSum|ReduceMean|ReduceMax|ReduceMin|ReduceProd|ReduceL1|ReduceL2|ReduceSumSquare|ReduceLogSum|"
        "ReduceLogSumExp|GlobalAveragePool|GlobalMaxPool|Softmax|LogSoftmax|LayerNormalization|"
        "RMSNormalization|InstanceNormalization|MeanVarianceNormalization",
    .read = read,
    .implementations = kImplementations};

}  // namespace collage::native
