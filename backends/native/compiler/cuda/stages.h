// The Funcs of tensor code that become kernels, and the domain over which each is computed.
// In:  tensor code. Out: stages in the order in which they are computed.
// How: a Func without updates is inlined into its readers, as Halide does by default; outputs and Funcs with updates
//       remain. The domain of an output is its argument's; that of another Func is what its readers read.
// Cost: passes over the expressions.
// Source: Halide's function inlining and bounds of expressions.
#pragma once

#include <Halide.h>

#include <expected>
#include <vector>

#include "compiler/codegen/lowering.h"
#include "region/refusal.h"

namespace collage::native::cuda {

/// Whole numbers from `least`, so many.
struct Span {
  std::int64_t least = 0;
  std::int64_t extent = 1;
  bool operator==(const Span&) const = default;
};

struct Stage {
  Halide::Internal::Function function;
  std::vector<Span> domain;  ///< by argument of the function, innermost first
  bool is_output = false;
};

/// The reduction domain's variables as spans, innermost first. Refusal (shape): not constant.
[[nodiscard]] std::expected<std::vector<Span>, Refusal> spans_of(
    const std::vector<Halide::Internal::ReductionVariable>& variables);

/// The values that an expression takes while variables run over these spans; nothing when it has no known bounds.
using Ranges = Halide::Internal::Scope<Halide::Internal::Interval>;
[[nodiscard]] std::optional<Span> span_of(const Halide::Expr& expression, const Ranges& ranges);
/// Adds a variable with this span.
void add_range(Ranges& ranges, const std::string& name, const Span& span);

/// Refusal: a Func that is computed by other code, or over a domain that cannot be told.
[[nodiscard]] std::expected<std::vector<Stage>, Refusal> stages_of(const TensorCode& code);

}  // namespace collage::native::cuda
