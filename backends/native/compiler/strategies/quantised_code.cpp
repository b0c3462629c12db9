#include "compiler/codegen/loops.h"
#include "compiler/expressions/expression.h"
#include "compiler/strategies/quantised.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::Var;

Expr QuantisedCode::whole(ValueId id) {
  if (!id.valid()) return 0;
  if (const Tensor* constant = constant_of(site_.graph, id))
    if (const auto literal = literal_of(*constant)) return *literal;
  return lowering_.read(id, View{.extents = {1, 1, 1, 1, 1}, .strides = {0, 0, 0, 0, 0}})({0, 0, 0, 0, 0});
}

Expr QuantisedCode::by_output(ValueId id, const Expr& c) {
  if (!id.valid() || element_count(site_.extents(id)) == 1) return whole(id);
  const std::int64_t outputs = quantised_.dense.outputs();
  const View view{.extents = {1, 1, 1, 1, outputs}, .strides = {0, 0, 0, 0, 1}};
  return lowering_.read(id, view)({0, 0, 0, 0, clamped(c, outputs)});
}

Expr QuantisedCode::scale(const Expr& c) {
  Expr product = by_output(quantised_.weight_scale, c);
  if (quantised_.source_scale.valid()) product = whole(quantised_.source_scale) * product;
  if (quantised_.dense.alpha != 1.F) product = product * quantised_.dense.alpha;
  return quantised_.result == SumResult::kQuantised ? product / whole(quantised_.result_scale) : product;
}

Expr QuantisedCode::real_steps(const Expr& c) {
  const Expr value = cast<float>(by_output(quantised_.steps, c)) * by_output(quantised_.steps_scale, c);
  return quantised_.dense.beta == 1.F ? value : value * quantised_.dense.beta;
}

Expr QuantisedCode::table(const std::string& name, const Expr& c, Expr (QuantisedCode::*value)(const Expr& c)) {
  const Var at(name + "_c");
  const Expr formula = (this->*value)(at);
  if (Halide::Internal::is_const(formula)) return formula;
  Func made(name);
  made(at) = formula;
  made.compute_root().vectorize(at, to_int(site_.lanes()));
  return made(c);
}

Expr QuantisedCode::result(const Indices& at, const Expr& sum) {
  const Expr& c = at.back();
  if (quantised_.result == SumResult::kInteger) return sum;
  const Expr real = cast<float>(sum) * table("scale", c, &QuantisedCode::scale);
  if (quantised_.result == SumResult::kQuantised)
    return rounded_to(real, whole(quantised_.result_zero), site_.type(site_.result()).element);
  if (quantised_.steps_scale.valid()) return real + table("bias", c, &QuantisedCode::real_steps);
  Dense rest = quantised_.dense;
  rest.alpha = 1.F;
  return with_bias(rest, site_, lowering_, at, real);
}

}  // namespace collage::native
