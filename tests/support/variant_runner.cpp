#include "tests/support/variant_runner.h"

#include <algorithm>
#include <array>

#include "tests/support/paths.h"
#include "tests/support/prepare_one.h"

namespace collage::test {
namespace {

enum class Role : std::uint8_t { kCompiles, kLoads };

Registry& registry(Role role) {
  const auto made = [] { return Registry({build_path("/lib/collage")}); };
  static std::array<Registry, 2> registries = {made(), made()};
  return registries[static_cast<std::size_t>(role)];
}

Backend& instance_of(Role role, const std::string& instance) {
  const auto backend = registry(role).get(instance);
  COLLAGE_CHECK(backend.has_value(), backend ? "" : to_string(backend.error()));
  return **backend;
}

void expect_undamaged(const BoundKernel& bound) {
  const auto damage = bound.damage();
  ASSERT_TRUE(damage) << to_string(damage.error());
  EXPECT_EQ(*damage, "") << "was written";
}

/// The outputs of one run; nothing, and a finding, when it fails.
std::vector<Tensor> outputs_of(BoundKernel& bound) {
  auto outputs = bound.run();
  EXPECT_TRUE(outputs) << to_string(outputs.error());
  return outputs ? *std::move(outputs) : std::vector<Tensor>{};
}

void expect_same_in_place(const Kernel& kernel, const LoadRequest& loaded, const std::vector<Tensor>& inputs,
                          SharedPorts shared, const std::vector<Tensor>& apart) {
  auto bound = BoundKernel::create(kernel, loaded, inputs, converter(), shared);
  ASSERT_TRUE(bound) << to_string(bound.error());
  EXPECT_EQ(outputs_of(*bound), apart) << "output " << shared.first << " in place of input " << shared.second;
  expect_undamaged(*bound);
}

}  // namespace

Backend& compiling(const std::string& instance) { return instance_of(Role::kCompiles, instance); }
Backend& loading(const std::string& instance) { return instance_of(Role::kLoads, instance); }
bool is_usable(const std::string& instance) { return registry(Role::kCompiles).get(instance).has_value(); }

FormatConverter& converter() {
  static FormatConverter converter(registry(Role::kCompiles));
  return converter;
}

Region region_of(const Graph& graph) { return whole_region(graph, uses_of(graph)); }

Variant plain_variant(const Region& region) {
  return {.name = "default",
          .input_formats = std::vector<Format>(region.inputs.size()),
          .output_formats = std::vector<Format>(region.outputs.size())};
}

std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& ids, const std::vector<Format>& formats) {
  COLLAGE_CHECK(ids.size() <= formats.size(), "a format for each port");
  std::vector<Port> ports;
  for (std::size_t i = 0; i < ids.size(); ++i)
    ports.push_back(
        {.name = graph.value(ids[i]).name, .type = graph.value(ids[i]).type, .place = {.format = formats[i]}});
  return ports;
}

LoadRequest request_of(const Graph& graph, const Variant& variant, const Artifact& artifact, int threads) {
  return request_of(graph, region_of(graph), variant, artifact, threads);
}

LoadRequest request_of(const Graph& graph, const Region& region, const Variant& variant, const Artifact& artifact,
                       int threads) {
  LoadRequest request{.artifact = artifact,
                      .constants = {},
                      .inputs = ports_of(graph, region.inputs, variant.input_formats),
                      .outputs = ports_of(graph, region.outputs, variant.output_formats),
                      .threads = threads};
  for (const ValueId id : artifact.constants) request.constants.push_back(*graph.value(id).constant);
  return request;
}

LoadRequest prepared_request(const LoadRequest& original, const PreparedArtifact& prepared) {
  LoadRequest request = original;
  request.artifact.bytes = prepared.bytes;
  request.constants.clear();
  for (const PreparedArtifact::Constant& constant : prepared.constants) {
    if (const auto* source = std::get_if<std::size_t>(&constant)) {
      request.constants.push_back(original.constants.at(*source));
      continue;
    }
    const Buffer& bytes = std::get<Buffer>(constant);
    request.constants.push_back({.type = ElementType::kUint8,
                                 .extents = {static_cast<std::int64_t>(bytes.size())},
                                 .data = bytes,
                                 .strings = {}});
  }
  return request;
}

std::vector<Tensor> run_twice(const Kernel& kernel, const LoadRequest& loaded, const std::vector<Tensor>& inputs) {
  auto bound = BoundKernel::create(kernel, loaded, inputs, converter());
  EXPECT_TRUE(bound) << to_string(bound.error());
  if (!bound) return {};
  std::vector<Tensor> first = outputs_of(*bound);
  EXPECT_EQ(outputs_of(*bound), first) << "another run gives other numbers";
  expect_undamaged(*bound);
  return first;
}

VariantRunner::VariantRunner(std::string instance, const Graph& graph, std::vector<Tensor> inputs,
                             CompileOptions options)
    : instance_(std::move(instance)), graph_(graph), region_(region_of(graph)), options_(options) {
  COLLAGE_CHECK(inputs.size() == graph.inputs.size(), "a tensor for each input");
  for (const ValueId id : region_.inputs)
    inputs_.push_back(inputs[static_cast<std::size_t>(std::ranges::find(graph.inputs, id) - graph.inputs.begin())]);
}

std::expected<std::vector<Variant>, Refusal> VariantRunner::offered() const {
  return compiling(instance_).support(graph_, region_, options_);
}

std::expected<Artifact, Refusal> VariantRunner::compile(const Variant& variant) const {
  const CompileRequest request{.graph = &graph_, .region = region_, .variant = variant, .model_bytes = {}};
  auto artifacts = compiling(instance_).compile({&request, 1}, options_);
  COLLAGE_CHECK(artifacts.size() == 1, "an artifact for each request");
  return std::move(artifacts[0]);
}

std::vector<Tensor> VariantRunner::run(const Variant& variant, const Artifact& artifact, int threads) const {
  const LoadRequest request = request_of(graph_, variant, artifact, threads);
  const auto kernel = loading(instance_).load(request);
  EXPECT_TRUE(kernel) << to_string(kernel.error());
  if (!kernel) return {};
  std::vector<Tensor> apart = run_twice(**kernel, request, inputs_);
  for (const SharedPorts& shared : artifact.in_place) expect_same_in_place(**kernel, request, inputs_, shared, apart);
  return apart;
}

std::vector<Tensor> VariantRunner::run_prepared(const Variant& variant, const Artifact& artifact) const {
  const LoadRequest original = request_of(graph_, variant, artifact, options_.threads);
  const MaybePrepared prepared = prepare_one(compiling(instance_), original);
  EXPECT_TRUE(prepared) << to_string(prepared.error());
  if (!prepared || !*prepared) return {};
  const LoadRequest request = prepared_request(original, **prepared);
  const auto kernel = loading(instance_).load(request);
  EXPECT_TRUE(kernel) << to_string(kernel.error());
  return kernel ? run_twice(**kernel, request, inputs_) : std::vector<Tensor>{};
}

std::expected<VariantRun, Refusal> VariantRunner::run(const Variant& variant) const {
  auto artifact = compile(variant);
  if (!artifact) return std::unexpected(artifact.error());
  std::vector<Tensor> outputs = run(variant, *artifact, options_.threads);
  return VariantRun{.variant = variant, .artifact = *std::move(artifact), .outputs = std::move(outputs)};
}

std::vector<VariantRun> VariantRunner::run_all() const {
  const auto variants = offered();
  EXPECT_TRUE(variants) << name_of(variants.error().reason) << ": " << variants.error().detail;
  std::vector<VariantRun> runs;
  if (!variants) return runs;
  for (const Variant& variant : *variants) {
    SCOPED_TRACE(instance_ + ' ' + variant.name);
    auto ran = run(variant);
    EXPECT_TRUE(ran) << ran.error().detail;
    if (ran) runs.push_back(*std::move(ran));
  }
  return runs;
}

}  // namespace collage::test
