// Hand-made graphs and covers with fake artifacts.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "plan/control.h"
#include "plan/realise.h"
#include "region/region.h"
#include "tests/support/find_value.h"
#include "tests/support/scratch_folder.h"

namespace collage {

/// Grows a graph and a cover of it side by side, one step at a time.
struct Sketch {
  Graph graph;
  Cover cover;
  std::vector<Artifact> made;       ///< by step; a view's is unused
  std::vector<std::size_t> copies;  ///< steps counted by the copy artifacts asked for

  static ValueType type(const Extents& extents) { return ValueType::tensor(ElementType::kFloat32, extents); }

  ValueId input(const std::string& name, const Extents& extents = {1, 16, 4, 4}) {
    graph.inputs.push_back(add_value(graph, name, type(extents)));
    return graph.inputs.back();
  }
  ValueId constant(const std::string& name, const Extents& extents, float value) {
    return add_constant(graph, name,
                        make_tensor(ElementType::kFloat32, extents,
                                    std::vector<float>(static_cast<std::size_t>(element_count(extents)), value)));
  }

  struct Options {
    bool is_view = false;
    Format in = plain();
    Format out = plain();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place = {};
    std::size_t workspace = 0;
    std::string bytes = {};  ///< of the artifact; default: unique
    Extents extents = {1, 16, 4, 4};
    bool dynamic = false;
  };

  /// Adds a node with its step; constants among `in` become the artifact's.
  ValueId step(const std::string& name, std::vector<ValueId> in, const Options& options) {
    return steps(name, std::move(in), 1, options).front();
  }
  ValueId step(const std::string& name, std::vector<ValueId> in) { return step(name, std::move(in), Options{}); }

  std::vector<ValueId> steps(const std::string& name, std::vector<ValueId> in, std::size_t outputs,
                             const Options& options) {
    Node node;
    node.name = name;
    node.op_type = "Op";
    node.inputs = in;
    ValueType out_type = type(options.extents);
    if (options.dynamic) out_type.shape->front() = Dim{};
    for (std::size_t i = 0; i < outputs; ++i)
      node.outputs.push_back(add_value(graph, outputs == 1 ? name : name + std::to_string(i), out_type));
    const std::vector<ValueId> out = node.outputs;
    const NodeId id = add_node(graph, std::move(node));
    CoverStep step{.backend = "fake",
                   .cost = Measured{.median_ns = 100, .low_ns = 90, .high_ns = 120, .samples = 5},
                   .runner_up = "other/direct +12%"};
    Region region;
    region.nodes = NodeSet(1000);
    region.nodes.insert(id.index);
    Artifact artifact;
    for (const ValueId value : in) {
      std::vector<ValueId>& list = graph.value(value).constant ? region.constants : region.inputs;
      if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    }
    region.outputs = out;
    const Variant variant{options.is_view ? "view" : "direct", std::vector<Format>(region.inputs.size(), options.in),
                          std::vector<Format>(outputs, options.out)};
    artifact.bytes = options.bytes.empty() ? "artifact of " + name : options.bytes;
    artifact.compatibility = "fake/1";
    artifact.constants = region.constants;
    artifact.in_place = options.in_place;
    artifact.workspace_bytes = options.workspace;
    made.push_back(artifact);
    if (options.is_view)
      step.work = CoverView{region, variant};
    else
      step.work = CoverKernel{region, variant};
    cover.steps.push_back(std::move(step));
    return out;
  }

  void convert(ValueId value, const Format& from, const Format& to) {
    made.push_back({.bytes = "convert " + from.name + " " + to.name, .compatibility = "fake/1"});
    cover.steps.push_back({.backend = "host", .work = CoverConversion{.value = value, .from = from, .to = to}});
  }
  void rename(ValueId value, const Format& from, const Format& to) {
    made.emplace_back();
    cover.steps.push_back({.backend = "host", .work = CoverRename{.value = value, .from = from, .to = to}});
  }

  void output(ValueId id) { graph.outputs.push_back(id); }

  Result<RealisedPlan> realise(const std::vector<ValueId>& kept = {}) {
    RealiseRequest request;
    request.kept_constants = kept;
    request.graph = &graph;
    request.cover = &cover;
    for (std::size_t i = 0; i < made.size(); ++i)
      request.artifacts.push_back(is_view(cover.steps[i]) ? nullptr : &made[i]);
    request.format_bytes = [](const ValueType& value, const Format&) -> Result<std::size_t> {
      return byte_count(value.element, value.extents()) * 2;
    };
    request.copy_artifact = [this](const Conversion& conversion) -> Result<Artifact> {
      EXPECT_TRUE(conversion.from.format.is_plain() && conversion.to.format.is_plain());
      copies.push_back(copies.size());
      return Artifact{.bytes = "copy " + to_string(conversion.type), .compatibility = "host/1"};
    };
    request.header.model_path = "models/x.onnx";
    request.header.model_hash = "abc";
    request.header.machine = "test machine";
    request.header.shapes = {{"N", "1"}, {"x", "1x16x4x4"}};
    request.header.backends = {{"fake", "1.0", "b1"}, {"host", "1", "b2"}};
    request.header.report = PlanReport{.search = {.measured_us = 3.5}, .rivals = {}, .plans = {}};
    return collage::realise(request);
  }
};

inline const PlanValue& value_of(const Plan& plan, const std::string& name, const Format& format = plain()) {
  const auto index = find_value(plan, name, format);
  EXPECT_TRUE(index) << name;
  return plan.values[index.value_or(0)];
}

/// A plan with everything in it: constants, views, a conversion, in-place, workspace, copies, a dynamic output.
inline Sketch rich_sketch() {
  Sketch s;
  const ValueId x = s.input("x");
  const ValueId w = s.constant("w", {3, 7}, 1.5F);
  const ValueId b = s.constant("b", {5}, -2.0F);
  const ValueId a = s.step("a", {x, w, b}, {.out = channels_last(), .workspace = 1000});
  s.convert(a, channels_last(), plain());
  const ValueId v = s.step("v", {a}, {.is_view = true, .extents = {256}});
  const ValueId c = s.step("c", {v, w}, {.in_place = {{0, 0}}, .extents = {256}});
  const ValueId d = s.step("d", {c, x}, {.out = {"fake:blocked"}});
  const ValueId e = s.step("e", {d}, {.in = {"fake:blocked"}});
  const ValueId dynamic = s.step("dynamic", {e}, {.dynamic = true});
  s.output(e);
  s.output(e);
  s.output(x);
  s.output(b);
  s.output(dynamic);
  return s;
}

/// A cover of one fake step per node, control-flow nodes by their bodies, with a fake artifact per step in the order
/// that realise() wants.
struct FakeCover {
  Cover cover;
  std::vector<std::optional<Artifact>> made;

  explicit FakeCover(const Graph& graph) {
    const Uses uses = uses_of(graph);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
      NodeSet nodes(graph.nodes.size());
      nodes.insert(n);
      const Region region = make_region(graph, uses, nodes);
      const Variant variant{"direct", std::vector<Format>(region.inputs.size()),
                            std::vector<Format>(region.outputs.size())};
      made.emplace_back(Artifact{.bytes = "artifact of " + graph.nodes[n].op_type, .compatibility = "fake/1"});
      made.back()->constants = region.constants;
      CoverStep step{.backend = "fake", .work = CoverKernel{region, variant}};
      if (control_operator_of(graph.nodes[n])) {
        step.backend = kControlBackend;
        step.work = CoverControl{region, variant, bodies_for(graph, graph.nodes[n])};
      }
      cover.steps.push_back(std::move(step));
    }
  }

 private:
  std::vector<Cover> bodies_for(const Graph& graph, const Node& node) {
    std::vector<Cover> bodies;
    made.back().reset();
    for (const Graph& body : free_bodies(graph, node)) {
      FakeCover inside(body);
      bodies.push_back(std::move(inside.cover));
      made.insert(made.end(), inside.made.begin(), inside.made.end());
    }
    return bodies;
  }
};

/// Makes a view of a kernel step.
inline void make_view(CoverStep& step) {
  CoverKernel kernel = std::get<CoverKernel>(step.work);
  kernel.variant.name = "view";
  step.work = CoverView{std::move(kernel.region), std::move(kernel.variant), std::move(kernel.location)};
}

inline Result<RealisedPlan> realise_fake(const Graph& graph, const FakeCover& fake) {
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &fake.cover;
  for (const auto& artifact : fake.made) request.artifacts.push_back(artifact ? &*artifact : nullptr);
  request.copy_artifact = [](const Conversion& conversion) -> Result<Artifact> {
    return Artifact{.bytes = "copy " + to_string(conversion.type), .compatibility = "host/1"};
  };
  request.header.model_path = "models/x.onnx";
  request.header.backends = {{"fake", "1.0", "b1"}, {"host", "1", "b2"}};
  return realise(request);
}

/// An If inside a Scan, with constants of every level and a result that nobody asks for.
inline Graph nested_graph() {
  return parse_graph(R"(graph g(%cond: bool[], %init: f32[2,3], %a: f32[2,5,3]) -> (%y) {
  opset ai.onnx 26
  constant %shared = f32[2,3]{1.0,2.0,3.0,4.0,5.0,6.0}
  _, %stack: f32[2,5,3] = Scan(%init, %a) captures(%cond, %shared) {body=graph body(%s: f32[2,3], %p: f32[2,3]) -> (%t, %p) {
      capture %cond: bool[]
      capture %shared: f32[2,3]
      constant %own = f32[2,3]{6.0,5.0,4.0,3.0,2.0,1.0}
      %o: f32[2,3] = Fma(%s, %own, %shared) "Fma_0"
      %t: f32[2,3] = If(%cond) captures(%o, %own, %p, %shared) {else_branch=graph no() -> (%q) {
          capture %o: f32[2,3]
          capture %own: f32[2,3]
          %r: f32[2,3] = Add(%o, %own) "Add_0"
          %q: f32[2,3] = Neg(%r) "Neg_1"
        }, then_branch=graph yes() -> (%r) {
          capture %p: f32[2,3]
          capture %shared: f32[2,3]
          constant %inner = f32[2,3]{1.0,1.0,1.0,2.0,2.0,2.0}
          %r: f32[2,3] = Fma(%p, %shared, %inner) "Fma_0"
        }} "If_1"
    }, num_scan_inputs=1, scan_input_axes=[1], scan_output_axes=[1], scan_output_directions=[1]} "Scan_0"
  %y: f32[2,5,3] = Scale(%stack, %shared) "Scale_1"
}
)")
      .value();
}
inline Result<RealisedPlan> realise_nested() {
  const Graph graph = nested_graph();
  return realise_fake(graph, FakeCover(graph));
}

/// A folder of this test, removed at the end.
using Folder = test::ScratchFolder;

/// A step that looks up by an input, and one that divides by one.
inline Plan checked_plan() {
  const Graph graph = parse_graph(
                          "graph(%x: i64[3,4], %i: i64[2], %b: i64[4]) -> (%y) { opset ai.onnx 26 %r: i64[2,4] = "
                          "Gather(%x, %i) \"pick\" %y: i64[2,4] = Div(%r, %b) \"share\" }")
                          .value();
  return realise_fake(graph, FakeCover(graph)).value().plan;
}

}  // namespace collage
