// From a region to tensor code: one Halide function that computes the whole region at each place.
#include <Halide.h>
#include <backend/write_tensor_code.h>

#include "example_c.h"

namespace example {
namespace {

/// Element-wise work on f32 without broadcasting: a sum, difference or product, and what can follow it.
PartitionRules rules(const BackendOptions&) {
  return {.patterns = {
              {"binary", "Add|Sub|Mul{type=f32, in0.size=out0.size, in1.size=out0.size} -> Relu|Neg|Abs{type=f32}*"}}};
}

Halide::Expr expression(const Node& node, const std::vector<Halide::Expr>& operands) {
  const Halide::Expr& x = operands[0];
  if (is_op(node, "Add")) return x + operands[1];
  if (is_op(node, "Sub")) return x - operands[1];
  if (is_op(node, "Mul")) return x * operands[1];
  if (is_op(node, "Relu")) return Halide::select(x < 0, 0.0f, x);
  if (is_op(node, "Neg")) return -x;
  return Halide::abs(x);
}

TensorCode lower_one(const CompileRequest& request) {
  const Graph& graph = *request.graph;
  const ValueId result = request.region.outputs.at(0);
  const std::int64_t count = element_count(graph.value(result).type.extents());
  TensorCode code;
  const Halide::Var at("at");
  std::map<ValueId, Halide::Expr> known;  // each value at this place
  for (const std::size_t n : request.region.nodes.members()) {
    std::vector<Halide::Expr> operands;
    for (const ValueId id : graph.nodes[n].inputs) {
      if (!known.contains(id))
        known[id] = Halide::ImageParam(Halide::Float(32), 1, add_operand(code, graph, request.region, id, {count}))(at);
      operands.push_back(known[id]);
    }
    known[graph.nodes[n].outputs[0]] = expression(graph.nodes[n], operands);
  }
  Halide::Func out("out");
  out(at) = known[result];
  add_result(code, graph, request.region, result, {count});
  std::vector<std::uint8_t> bytes;
  Halide::serialize_pipeline(out, bytes);
  code.pipeline.assign(bytes.begin(), bytes.end());
  return code;
}

constexpr BackendHooks kHooks = {.kind = "example_c", .rules = rules, .lower = lower, .codegen = codegen, .load = load};

}  // namespace

std::vector<std::expected<TensorCode, Refusal>> lower(const BackendOptions&, std::span<const CompileRequest> requests,
                                                      const CompileOptions&) {
  std::vector<std::expected<TensorCode, Refusal>> codes(requests.size());
  std::ranges::transform(requests, codes.begin(), lower_one);
  return codes;
}

}  // namespace example

extern "C" const collage::BackendHooks* collage_backend_hooks() { return &example::kHooks; }
