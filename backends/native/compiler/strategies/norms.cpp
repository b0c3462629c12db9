// Normalisations along rows: layer, RMS, instance, mean-variance.
#include "compiler/strategies/rows.h"

namespace collage::native {

using Halide::Expr;
using Halide::Func;

namespace {

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

}  // namespace

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
  const Func squares = writer.mapped("squares", centred * centred);
  const Expr variance = writer.row(writer.reduce("squared", squares, Join::kSum)) / count;
  const float epsilon = attribute_or<float>(node, "epsilon", 1e-5F);
  Expr value = is_mvn ? centred / (Halide::sqrt(variance) + 1e-9F) : centred * (1.F / Halide::sqrt(variance + epsilon));
  if (input_of(node, 1).valid()) value = value * parameter(site, rows, writer, node.inputs[1]);
  if (input_of(node, 2).valid()) value = value + parameter(site, rows, writer, node.inputs[2]);
  writer.finish(value);
}

}  // namespace collage::native
