// A backend with the hooks `compile` and `prepare_constants`: products with weights, which its kernel needs transposed.
// A compiled product gets the weights as the model has them and transposes them whenever it is loaded.
// `prepare_constants` does so once, when a plan is made, and returns an artifact that records it. Both compute the same
// numbers.
#include <algorithm>
#include <cstring>
#include <map>

#include <backend/function_kernel.h>
#include <backend/hooks.h>

namespace {

using namespace collage;

/// What an artifact's bytes are: [rows, depth] x [depth, columns].
struct Product {
  std::int64_t rows = 0;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  bool is_prepared = false;  ///< the constant is [columns, depth]
};

std::string to_bytes(const Product& product) { return {reinterpret_cast<const char*>(&product), sizeof product}; }

Result<Product> product_of(std::string_view bytes) {
  Product product;
  if (bytes.size() != sizeof product)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "example_product", std::to_string(bytes.size()) + " bytes",
                std::to_string(sizeof product));
  std::memcpy(&product, bytes.data(), sizeof product);
  return product;
}

/// An option, as in `--backends example_product:columns=64`: no weights with more columns than that.
BackendInfo probe(const BackendOptions& options) {
  BackendInfo info{.version = "1"};
  for (const auto& [key, value] : options)
    if (key != "columns" || value.empty() || value.find_first_not_of("0123456789") != std::string::npos)
      info.unusable = "option " + key + "=" + value + "; allowed columns=NUMBER";
  return info;
}

/// Only what single operators are: support says which.
std::expected<std::vector<Variant>, Refusal> support(const BackendOptions& options, const Graph& graph,
                                                     const Region& region, const CompileOptions&) {
  const auto no = [](RefusalReason reason, std::string why) {
    return std::unexpected(Refusal{reason, std::move(why)});
  };
  const std::vector<std::size_t> nodes = region.nodes.members();
  if (nodes.size() != 1 || !is_op(graph.nodes[nodes[0]], "MatMul")) return no(RefusalReason::kOperator, "not a MatMul");
  const Node& node = graph.nodes[nodes[0]];
  const Tensor* weights = constant_of(graph, input_of(node, 1));
  if (weights == nullptr || constant_of(graph, input_of(node, 0)) != nullptr)
    return no(RefusalReason::kStructure, "weights that are no constant");
  if (weights->type != ElementType::kFloat32) return no(RefusalReason::kType, "not f32");
  const ValueType& type = graph.value(node.outputs[0]).type;
  if (weights->extents.size() != 2 || !type.is_static() || !graph.value(node.inputs[0]).type.is_static())
    return no(RefusalReason::kShape, "weights of rank 2 and known shapes only");
  if (const auto limit = options.find("columns"); limit != options.end())
    if (weights->extents[1] > std::stoll(limit->second))
      return no(RefusalReason::kShape, "more columns than asked for");
  return std::vector<Variant>{{.name = "dot", .input_formats = {plain()}, .output_formats = {plain()}}};
}

Artifact compile_one(const CompileRequest& request) {
  const Node& node = request.graph->nodes[request.region.nodes.members()[0]];
  const Extents& weights = constant_of(*request.graph, node.inputs[1])->extents;
  const std::int64_t elements = element_count(request.graph->value(node.outputs[0]).type.extents());
  return {.bytes = to_bytes(
              {.rows = elements / std::max<std::int64_t>(weights[1], 1), .depth = weights[0], .columns = weights[1]}),
          .compatibility = "product 1",
          .constants = {node.inputs[1]}};
}

std::vector<std::expected<Artifact, Refusal>> compile(const BackendOptions&, std::span<const CompileRequest> requests,
                                                      const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts(requests.size());
  std::ranges::transform(requests, artifacts.begin(), compile_one);
  return artifacts;
}

Buffer transposed(const Product& product, const Tensor& weights) {
  return Buffer::make(weights.data.size(), [&](std::span<std::byte> bytes) {
    const auto from = weights.data.as<float>();
    auto* to = reinterpret_cast<float*>(bytes.data());
    for (std::int64_t k = 0; k < product.depth; ++k)
      for (std::int64_t n = 0; n < product.columns; ++n) to[n * product.depth + k] = from[k * product.columns + n];
  });
}

/// `known` are the weights transposed so far, by where they lie.
MaybePrepared prepare_one(const LoadRequest& request, std::map<const void*, Buffer>& known) {
  COLLAGE_TRY(Product product, product_of(request.artifact.bytes));
  const Tensor& weights = request.constants.at(0);
  const auto [found, is_new] = known.try_emplace(weights.data.data());
  if (is_new) found->second = transposed(product, weights);
  PreparedArtifact prepared;
  prepared.constants.emplace_back(found->second);
  product.is_prepared = true;
  prepared.bytes = to_bytes(product);
  return prepared;
}

/// The products of a plan in one call: those that read the same weights share the transposed ones.
std::vector<MaybePrepared> prepare_constants(const BackendOptions&, std::span<const LoadRequest> kernels) {
  std::vector<MaybePrepared> all;
  std::map<const void*, Buffer> known;
  for (const LoadRequest& kernel : kernels) all.push_back(prepare_one(kernel, known));
  return all;
}

void multiply(const Product& product, const float* in, const float* weights, float* out) {
  for (std::int64_t m = 0; m < product.rows; ++m)
    for (std::int64_t n = 0; n < product.columns; ++n) {
      float sum = 0;
      for (std::int64_t k = 0; k < product.depth; ++k)
        sum += in[m * product.depth + k] * weights[n * product.depth + k];
      out[m * product.columns + n] = sum;
    }
}

Result<std::unique_ptr<Kernel>> load(const BackendOptions&, const LoadRequest& request) {
  if (request.artifact.compatibility != "product 1")
    return fail(ExitCode::kBadInput, "backend/incompatible-artifact", "example_product",
                std::string(request.artifact.compatibility), "product 1");
  COLLAGE_TRY(const Product product, product_of(request.artifact.bytes));
  const Tensor& given = request.constants.at(0);  // what is thrown here becomes an error
  const Buffer weights = product.is_prepared ? given.data : transposed(product, given);
  return make_kernel([product, weights](const Buffers& buffers) -> Result<void> {
    multiply(product, static_cast<const float*>(buffers.inputs[0]), weights.as<float>().data(),
             static_cast<float*>(buffers.outputs[0]));
    return {};
  });
}

constexpr BackendHooks kHooks = {.kind = "example_product",
                                 .probe = probe,
                                 .support = support,
                                 .compile = compile,
                                 .prepare_constants = prepare_constants,
                                 .load = load};

}  // namespace

extern "C" const collage::BackendHooks* collage_backend_hooks() { return &kHooks; }
