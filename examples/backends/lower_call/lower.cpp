// A backend with `lower` alone: operators become calls of an external C library, woven into tensor code. The program's
// own code generator compiles that and links the library; its loader runs it. So there is neither codegen nor load.
#include <Halide.h>
#include <backend/hooks.h>
#include <backend/write_tensor_code.h>

namespace {

using namespace collage;

/// Sums and products without broadcasting: all three have as many elements, so they lie in one order.
PartitionRules rules(const BackendOptions&) {
  return {.patterns = {{"woofles", "Add|Mul{type=f32, in0.size=out0.size, in1.size=out0.size}"}}};
}

/// The function for an operator, with the interface that tensor code calls.
std::string stage_of(const Node& node) { return is_op(node, "Add") ? "woofles_add_stage" : "woofles_multiply_stage"; }

TensorCode lower_one(const CompileRequest& request) {
  const Graph& graph = *request.graph;
  const Node& node = graph.nodes[request.region.nodes.members().front()];
  const std::int64_t count = element_count(graph.value(node.outputs[0]).type.extents());
  TensorCode code;
  std::vector<Halide::ExternFuncArgument> operands;
  for (const ValueId id : node.inputs)
    operands.emplace_back(
        Halide::ImageParam(Halide::Float(32), 1, add_operand(code, graph, request.region, id, {count})));
  add_result(code, graph, request.region, node.outputs[0], {count});

  Halide::Func call("woofles");
  call.define_extern(stage_of(node), operands, Halide::Float(32), 1);
  std::vector<std::uint8_t> bytes;
  Halide::serialize_pipeline(call, bytes);
  code.pipeline.assign(bytes.begin(), bytes.end());
  code.libraries = {WOOFLES_ARCHIVE};
  return code;
}

std::vector<std::expected<TensorCode, Refusal>> lower(const BackendOptions&, std::span<const CompileRequest> requests,
                                                      const CompileOptions&) {
  std::vector<std::expected<TensorCode, Refusal>> codes(requests.size());
  std::ranges::transform(requests, codes.begin(), lower_one);
  return codes;
}

constexpr BackendHooks kHooks = {.kind = "example_woofles", .rules = rules, .lower = lower};

}  // namespace

extern "C" const collage::BackendHooks* collage_backend_hooks() { return &kHooks; }
