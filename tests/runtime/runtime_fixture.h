// Plans made of host kernels for small graphs, and a backend whose kernels are what a test says they are.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/extensions/format_extension.h"
#include "backend/extensions/portability_extension.h"
#include "backend/registry.h"
#include "plan/control.h"
#include "plan/realise.h"
#include "region/containment.h"
#include "runtime/executable.h"
#include "tests/support/dice.h"
#include "tests/support/load_only_backend.h"
#include "tests/support/paths.h"

namespace collage {

inline Registry& test_registry() {
  static Registry registry({test::build_path("/lib/collage")});
  return registry;
}
inline Backend& host() { return **test_registry().get("host"); }
inline Result<Backend*> host_only(const std::string& name) { return test_registry().get(name); }

inline Result<Artifact> host_conversion(const Conversion& conversion) {
  auto artifact = compile_conversion(host(), conversion, {});
  if (!artifact) return fail(ExitCode::kBug, "test/refused", "host", artifact.error().detail);
  return *artifact;
}

/// Which Concat, Split and Slice become views: those that are offered as such, or all whose parts lie in one piece.
enum class Sharing : std::uint8_t { kOffered, kForced };

/// Makes a cover of one host step per node, in variants that `choose` picks from those offered, with the conversions
/// they need, and realises it. Bodies of control-flow nodes are covered alike.
class HostPlanner {
 public:
  using Choose = std::function<std::size_t(std::size_t variants)>;
  HostPlanner(const Graph& graph, Choose choose, Sharing sharing = Sharing::kOffered)
      : graph_(graph), uses_(uses_of(graph)), choose_(std::move(choose)), sharing_(sharing) {}

  Result<RealisedPlan> plan() {
    make_cover();
    RealiseRequest request;
    request.graph = &graph_;
    request.cover = &cover_;
    for (const std::optional<Artifact>& artifact : made_) request.artifacts.push_back(artifact ? &*artifact : nullptr);
    request.copy_artifact = host_conversion;
    request.header.backends = {{"host", host().info().version, host().info().build}};
    return realise(request);
  }

 private:
  void make_cover() {
    for (const ValueId input : graph_.inputs) have_.insert({input, plain()});
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node) add_node(node);
    for (const ValueId output : graph_.outputs)
      if (!graph_.value(output).constant) provide(output, plain());
  }

  void add_node(std::size_t node) {
    NodeSet nodes(graph_.nodes.size());
    nodes.insert(node);
    const Region region = make_region(graph_, uses_, nodes);
    if (control_operator_of(graph_.nodes[node])) return add_control(region, graph_.nodes[node]);
    const auto variants = host().support(graph_, region, {});
    ASSERT_TRUE(variants) << graph_.nodes[node].op_type << ": " << variants.error().detail;
    Variant variant = (*variants)[choose_(variants->size())];
    if (sharing_ == Sharing::kForced && may_share(graph_.nodes[node], region, variant)) variant.name = "view";
    for (std::size_t i = 0; i < region.inputs.size(); ++i) provide(region.inputs[i], variant.input_formats[i]);
    std::vector<CompileRequest> requests(1);
    requests[0] = {.graph = &graph_, .region = region, .variant = variant, .model_bytes = std::nullopt};
    auto artifacts = host().compile(requests, {});
    ASSERT_TRUE(artifacts[0]) << artifacts[0].error().detail;
    for (std::size_t i = 0; i < region.outputs.size(); ++i)
      have_.insert({region.outputs[i], variant.output_formats[i]});
    const bool is_view = variant.name == "view";
    made_.push_back(is_view ? std::nullopt : std::optional(*artifacts[0]));
    CoverStep step{.backend = "host"};
    if (is_view)
      step.work = CoverView{region, std::move(variant)};
    else
      step.work = CoverKernel{region, std::move(variant)};
    cover_.steps.push_back(std::move(step));
  }

  [[nodiscard]] bool may_share(const Node& node, const Region& region, const Variant& variant) const {
    const Format& format = variant.output_formats.front();
    return (region.constants.empty() || format.is_plain()) && containment_of(graph_, node, format);
  }

  void add_control(const Region& region, const Node& node) {
    CoverControl control{.region = region};
    for (const ValueId input : region.inputs) provide(input, plain());
    made_.emplace_back(std::nullopt);
    for (const Graph& body : free_bodies(graph_, node)) {
      HostPlanner inside(body, choose_, sharing_);
      inside.make_cover();
      control.bodies.push_back(std::move(inside.cover_));
      made_.insert(made_.end(), inside.made_.begin(), inside.made_.end());
    }
    for (const ValueId output : region.outputs) have_.insert({output, plain()});
    cover_.steps.push_back({.backend = std::string(kControlBackend), .work = std::move(control)});
  }

  void provide(ValueId value, const Format& format) {
    if (!have_.insert({value, format}).second) return;
    const Format from = format.is_plain() ? channels_last() : plain();
    made_.emplace_back(
        *host_conversion({.type = graph_.value(value).type, .from = {.format = from}, .to = {.format = format}}));
    cover_.steps.push_back({.backend = "host", .work = CoverConversion{.value = value, .from = from, .to = format}});
  }

  const Graph& graph_;
  Uses uses_;
  Choose choose_;
  Sharing sharing_;
  Cover cover_;
  std::vector<std::optional<Artifact>> made_;  ///< by step, those of bodies after their control step; none for views
  std::set<std::pair<ValueId, Format>> have_;
};

inline RealisedPlan all_plain(const Graph& graph) {
  return HostPlanner(graph, [](std::size_t) { return std::size_t{0}; }).plan().value();
}

/// Branches of other extents, a stack as high as the data say, two values of open shape that change places: in kernels
/// that know nothing of open shapes.
inline constexpr const char* kOpenControl =
    R"(graph g(%cond: bool[], %x: f32[4], %count: i64[]) -> (%y, %l, %z, %u, %v) {
  opset ai.onnx 26
  %y: f32[?] = If(%cond) captures(%x) {else_branch=graph other() -> (%q) {
      capture %x: f32[4]
      %q: f32[4] = Add(%x, %x) "Add_0"
    }, then_branch=graph same() -> (%w) {
      constant %w = f32[2]{1.0,10.0}
    }} "If_0"
  %l: f32[4], %z: f32[?,4] = Loop(%count, _, %x) {body=graph body(%i: i64[], %go: bool[], %s: f32[4]) -> (%go, %r, %r) {
      %r: f32[4] = Add(%s, %s) "Add_0"
    }} "Loop_1"
  %u: f32[?], %v: f32[?] = Loop(%count, _, %x, %y) {body=graph turn(%j: i64[], %on: bool[], %a: f32[?], %b: f32[?]) -> (%on, %b, %a) {
    }} "Loop_2"
}
)";

inline ValueType f32(const Extents& extents) { return ValueType::tensor(ElementType::kFloat32, extents); }

inline ValueId add_op(Graph& graph, const std::string& op, std::vector<ValueId> in, const Extents& extents,
                      std::vector<Attribute> attributes = {}) {
  Node node;
  node.op_type = op;
  node.inputs = std::move(in);
  node.outputs = {add_value(graph, "", f32(extents))};
  node.attributes = std::move(attributes);
  const ValueId out = node.outputs[0];
  add_node(graph, std::move(node));
  return out;
}

inline ValueId add_input(Graph& graph, const std::string& name, const Extents& extents) {
  graph.inputs.push_back(add_value(graph, name, f32(extents)));
  return graph.inputs.back();
}

inline ValueId add_floats(Graph& graph, const Extents& extents, std::uint64_t seed) {
  Dice dice(seed);
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  for (float& value : values) value = static_cast<float>(dice.below(2001)) / 1000.0F - 1.0F;
  return add_constant(graph, "c" + std::to_string(graph.values.size()),
                      make_tensor(ElementType::kFloat32, extents, values));
}

/// `runs` is an ExecutionContext or a Session.
template <class Runs>
void fill_input(Runs& runs, std::size_t i, std::uint64_t seed) {
  Dice dice(seed);
  const auto bytes = runs.input(i);
  for (std::size_t k = 0; k + 4 <= bytes.size(); k += 4) {
    const float value = static_cast<float>(dice.below(2001)) / 500.0F - 2.0F;
    std::memcpy(bytes.data() + k, &value, 4);
  }
}

inline std::vector<float> floats_in(std::span<const std::byte> bytes) {
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), values.size() * 4);
  return values;
}

/// A small image network of host operators: element-wise chains, a skip, concatenation, transposes, pooling, softmax.
inline Graph sample_graph() {
  Graph graph;
  graph.name = "sample";
  graph.opsets = {{"", 26}};
  const Extents image = {1, 8, 12, 10};
  const ValueId x = add_input(graph, "x", image);
  const ValueId y = add_input(graph, "y", image);
  const ValueId a = add_op(graph, "Mul", {x, add_floats(graph, {8, 1, 1}, 1)}, image);
  const ValueId b = add_op(graph, "HardSwish", {a}, image);
  const ValueId c = add_op(graph, "Add", {b, y}, image);
  const ValueId d = add_op(graph, "Concat", {c, b, x}, {1, 24, 12, 10}, {{"axis", std::int64_t{1}}});
  const ValueId e = add_op(graph, "Relu", {d}, {1, 24, 12, 10});
  const ValueId t = add_op(graph, "Transpose", {e}, {1, 12, 10, 24}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  const ValueId u = add_op(graph, "Add", {t, add_floats(graph, {24}, 2)}, {1, 12, 10, 24});
  const ValueId v = add_op(graph, "Transpose", {u}, {1, 24, 12, 10}, {{"perm", std::vector<std::int64_t>{0, 3, 1, 2}}});
  const ValueId p = add_op(graph, "GlobalAveragePool", {v}, {1, 24, 1, 1});
  const ValueId f = add_op(graph, "Flatten", {p}, {1, 24});
  const ValueId s = add_op(graph, "Softmax", {f}, {1, 24});
  graph.outputs = {s, c, v, c, x};
  return graph;
}

/// A backend whose kernels call `run` with their buffers; artifacts' bytes say which function to use.
class ScriptedBackend final : public test::LoadOnlyBackend, public PortabilityExtension {
 public:
  using Run = std::function<Result<void>(const Buffers&)>;

  explicit ScriptedBackend(std::string name = "scripted")
      : LoadOnlyBackend({.name = std::move(name), .kind = "scripted", .version = "1", .build = "b"}) {}

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    ++loads;
    last_threads = request.threads;
    const auto script = scripts.find(std::string(request.artifact.bytes));
    if (script == scripts.end())
      return fail(ExitCode::kBadInput, "backend/bad-artifact", info_.name, std::string(request.artifact.bytes),
                  "a script");
    return std::make_unique<ScriptKernel>(script->second, dynamic, request.constants);
  }

  std::map<std::string, Run> scripts;
  DynamicOutput dynamic;
  int loads = 0;
  int last_threads = 0;
  std::map<std::string, Result<std::string>, std::less<>> verdicts;  ///< by compatibility string; else nothing to say
  using LoadOnlyBackend::info_;

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<PortabilityExtension>(*this, kind);
  }
  [[nodiscard]] std::string baseline_instance() const override { return ""; }
  [[nodiscard]] Result<std::string> judge(std::string_view compatibility) const override {
    const auto verdict = verdicts.find(compatibility);
    return verdict == verdicts.end() ? std::string() : verdict->second;
  }

 private:
  struct ScriptCall final : Call {
    ScriptCall(Run script, DynamicOutput out, Buffers to)
        : run_script(std::move(script)), output(std::move(out)), buffers(std::move(to)) {}
    Result<void> run() override { return run_script(buffers); }
    Result<DynamicOutput> dynamic_output(std::size_t) override { return output; }
    Run run_script;
    DynamicOutput output;
    Buffers buffers;
  };
  struct ScriptKernel final : Kernel {
    ScriptKernel(Run script, DynamicOutput out, std::vector<Tensor> tensors)
        : run_script(std::move(script)), output(std::move(out)), constants(std::move(tensors)) {}
    [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
      return std::make_unique<ScriptCall>(run_script, output, buffers);
    }
    Run run_script;
    DynamicOutput output;
    std::vector<Tensor> constants;
  };
};

/// A chain x -> s0 -> s1 ... of scripted steps over f32[64]; step i uses the artifact bytes scripts[i].
inline RealisedPlan scripted_chain(const std::vector<std::string>& scripts, std::size_t workspace = 0,
                                   bool dynamic_end = false) {
  Graph graph;
  ValueId value = add_input(graph, "x", {64});
  Cover cover;
  std::vector<Artifact> made;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    value = add_op(graph, "Op", {value}, {64});
    if (dynamic_end && i + 1 == scripts.size()) graph.value(value).type.shape->front() = Dim{};
    made.push_back(
        {.bytes = scripts[i], .compatibility = "1", .constants = {}, .in_place = {}, .workspace_bytes = workspace});
  }
  graph.outputs = {value};
  const Uses uses = uses_of(graph);
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    NodeSet nodes(graph.nodes.size());
    nodes.insert(i);
    const Variant variant{"direct", {plain()}, {plain()}};
    cover.steps.push_back({.backend = "scripted", .work = CoverKernel{make_region(graph, uses, nodes), variant}});
  }
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &cover;
  for (const Artifact& artifact : made) request.artifacts.push_back(&artifact);
  request.header.backends = {{"scripted", "1", "b"}};
  request.header.threads = 3;
  return realise(request).value();
}

}  // namespace collage
