// If, Loop and Scan by the steps of their bodies, in host kernels and in scripted ones.
#include "runtime_fixture.h"

namespace collage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph graph_of(const std::string& text) {
  auto graph = parse_graph(text);
  EXPECT_TRUE(graph) << to_string(graph.error());
  return graph ? std::move(*graph) : Graph{};
}

/// A plan of host steps, loaded, with one context.
class Ready {
 public:
  explicit Ready(const std::string& text) : graph_(graph_of(text)) {
    for (const Node& node : graph_.nodes)
      if (const auto refusal = control_operator_of(node) ? refuse_bodies(graph_, node) : std::nullopt)
        ADD_FAILURE() << refusal->detail;
    auto executable = Executable::load(all_plain(graph_), host_only, {});
    EXPECT_TRUE(executable) << to_string(executable.error());
    executable_ = std::move(*executable);
    context_.emplace(executable_->make_context().value());
  }

  template <class T>
  void set(std::size_t input, std::vector<T> values) {
    ASSERT_EQ(context_->input(input).size(), values.size() * sizeof(T));
    std::memcpy(context_->input(input).data(), values.data(), values.size() * sizeof(T));
  }
  void set_bool(std::size_t input, bool value) { context_->input(input)[0] = std::byte{value}; }

  std::vector<std::vector<float>> run() {
    const auto done = context_->run();
    EXPECT_TRUE(done) << to_string(done.error());
    std::vector<std::vector<float>> outputs;
    for (std::size_t i = 0; i < executable_->outputs().size(); ++i) outputs.push_back(floats_in(context_->output(i)));
    return outputs;
  }

  ExecutionContext& context() { return *context_; }
  const Executable& executable() { return *executable_; }

 private:
  Graph graph_;
  std::optional<Executable> executable_;
  std::optional<ExecutionContext> context_;
};

const char* const kIf = R"(graph g(%cond: bool[], %x: f32[4]) -> (%y, %z) {
  opset ai.onnx 26
  constant %two = f32[]{2.0}
  %a: f32[4] = Add(%x, %x) "Add_0"
  %b: f32[4], %z: f32[4] = If(%cond) captures(%a, %two, %x) {else_branch=graph other() -> (%q, %x) {
      capture %x: f32[4]
      capture %a: f32[4]
      %q: f32[4] = Sub(%x, %a) "Sub_0"
    }, then_branch=graph same() -> (%t, %r) {
      capture %a: f32[4]
      capture %two: f32[]
      constant %w = f32[4]{1.0,10.0,100.0,1000.0}
      %s: f32[4] = Mul(%a, %two) "Mul_0"
      %t: f32[4] = Add(%s, %w) "Add_1"
      %r: f32[4] = Relu(%s) "Relu_2"
    }} "If_1"
  %y: f32[4] = Add(%b, %two) "Add_2"
}
)";

TEST(ControlSteps, IfRunsTheBranchOfItsCondition) {
  Ready plan(kIf);
  plan.set<float>(1, {1, -2, 3, 4});
  plan.set_bool(0, true);
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{7, 4, 114, 1018}, std::vector<float>{4, 0, 12, 16}));
  plan.set_bool(0, false);
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{1, 4, -1, -2}, std::vector<float>{1, -2, 3, 4}));
  EXPECT_EQ(kind_name(plan.executable().plan().steps[1]), "control");
}

TEST(ControlSteps, ReadAndWriteTheCallersBuffers) {
  Ready plan(kIf);
  plan.set_bool(0, true);
  alignas(64) float x[16] = {2, 2, 2, 2};
  alignas(64) float z[16] = {};
  ASSERT_TRUE(plan.context().bind_input(1, x));
  ASSERT_TRUE(plan.context().bind_output(1, z));
  ASSERT_TRUE(plan.context().run());
  EXPECT_THAT(std::vector<float>(z, z + 4), ElementsAre(8, 8, 8, 8));
  EXPECT_THAT(floats_in(plan.context().output(0)), ElementsAre(11, 20, 110, 1010));
}

TEST(ControlSteps, TimesOfAProfiledRunIncludeTheBodies) {
  Ready plan(kIf);
  std::vector<std::int64_t> times(plan.executable().plan().steps.size());
  ASSERT_TRUE(plan.context().run_profiled(times));
  EXPECT_GT(times[1], 0);
}

/// Type and elements of an output of open shape.
std::pair<Extents, std::vector<float>> open_output(const ExecutionContext& context, std::size_t i) {
  const auto made = context.output_tensor(i);
  EXPECT_TRUE(made) << to_string(made.error());
  if (!made) return {};
  const auto* const values = static_cast<const float*>(made->data);
  return {made->extents, std::vector<float>(values, values + element_count(made->extents))};
}

TEST(ControlSteps, PassOnValuesWhoseExtentsTheRunDecides) {
  using Seen = std::pair<Extents, std::vector<float>>;
  Ready plan(kOpenControl);
  EXPECT_FALSE(plan.context().output_tensor(0)) << "before a run";
  plan.set<float>(1, {1, 2, 3, 4});
  for (const bool condition : {true, false, true}) {
    const Seen chosen = condition ? Seen{{2}, {1, 10}} : Seen{{4}, {2, 4, 6, 8}};
    for (const std::int64_t count : {3, 0, 2}) {
      SCOPED_TRACE(testing::Message() << condition << ", " << count << " iterations");
      plan.set_bool(0, condition);
      plan.set<std::int64_t>(2, {count});
      const auto ran = plan.context().run();
      ASSERT_TRUE(ran) << to_string(ran.error());
      EXPECT_EQ(open_output(plan.context(), 0), chosen);
      const auto [extents, stack] = open_output(plan.context(), 2);
      EXPECT_THAT(extents, ElementsAre(count, 4));
      for (std::size_t i = 0; i < stack.size(); ++i)
        EXPECT_EQ(stack[i], static_cast<float>((i % 4 + 1) * (std::size_t{2} << i / 4)));
      const Seen x = {{4}, {1, 2, 3, 4}};
      EXPECT_EQ(open_output(plan.context(), 3), count % 2 == 0 ? x : chosen);
      EXPECT_EQ(open_output(plan.context(), 4), count % 2 == 0 ? chosen : x);
    }
  }
}

TEST(ControlSteps, OfOpenShapeThatPlansGetWrongAreDamage) {
  const RealisedPlan whole = all_plain(graph_of(kOpenControl));
  ASSERT_TRUE(verify(whole.plan));
  const auto refusal = [&](std::size_t step, const std::function<void(PlanBody&)>& change) {
    Plan plan = whole.plan;
    change(std::get<PlanControl>(plan.steps[step].work).bodies.back());
    const auto checked = verify(plan);
    return checked ? std::string() : checked.error().where + checked.error().saw + ", " + checked.error().allowed;
  };
  const auto input = [](PlanBody& body, std::size_t i) -> PlanValue& { return body.values[body.inputs[i]]; };
  EXPECT_THAT(refusal(2, [&](PlanBody& body) { input(body, 2).buffer = 3; }), HasSubstr("the start of its input"));
  EXPECT_THAT(refusal(2, [&](PlanBody& body) { input(body, 2).type = f32({4}); }),
              HasSubstr("plain tensors of known rank"));
  EXPECT_THAT(refusal(2, [&](PlanBody& body) { input(body, 2).type.element = ElementType::kInt64; }),
              HasSubstr("f32[4]"));
  EXPECT_THAT(refusal(2, [&](PlanBody& body) { input(body, 2).type.shape->emplace_back(); }), HasSubstr("f32[4]"));
  EXPECT_THAT(refusal(2, [&](PlanBody& body) { body.outputs[1] = body.inputs[0]; }), HasSubstr("i64"));
  EXPECT_THAT(refusal(1, [&](PlanBody& body) { body.steps[0].outputs[0] = body.inputs[0]; }), HasSubstr("read-only"));
}

const char* const kNestedIfs = R"(graph g(%p: bool[], %q: bool[], %x: f32[2]) -> (%y) {
  opset ai.onnx 26
  %y: f32[2] = If(%p) captures(%q, %x) {else_branch=graph no() -> (%n) {
      capture %x: f32[2]
      %n: f32[2] = Sub(%x, %x) "Sub_0"
    }, then_branch=graph yes() -> (%o) {
      capture %x: f32[2]
      capture %q: bool[]
      constant %w = f32[2]{3.0,4.0}
      %d: f32[2] = Add(%x, %x) "Add_0"
      %o: f32[2] = If(%q) captures(%d, %w, %x) {else_branch=graph inner_no() -> (%e) {
          capture %w: f32[2]
          %e: f32[2] = Add(%w, %w) "Add_0"
        }, then_branch=graph inner_yes() -> (%f) {
          capture %d: f32[2]
          capture %x: f32[2]
          capture %w: f32[2]
          %g: f32[2] = Mul(%d, %x) "Mul_0"
          %f: f32[2] = Add(%g, %w) "Add_1"
        }} "If_0"
    }} "If_0"
}
)";

TEST(ControlSteps, IfsInsideIfsReadValuesAndConstantsOfEveryLevel) {
  Ready plan(kNestedIfs);
  plan.set<float>(2, {5, 6});
  plan.set_bool(0, true);
  plan.set_bool(1, true);
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{53, 76}));
  plan.set_bool(1, false);
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{6, 8}));
  plan.set_bool(0, false);
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{0, 0}));
}

const char* const kLoop = R"(graph g(%trips: i64[], %x: f32[3]) -> (%y) {
  opset ai.onnx 26
  %y: f32[3], %last: f32[3] = Loop(%trips, _, %x, %x) captures(%x) {body=graph body(%i: i64[], %c: bool[], %s: f32[3], %p: f32[3]) -> (%c, %t, %s) {
      capture %x: f32[3]
      %u: f32[3] = Add(%s, %p) "Add_0"
      %t: f32[3] = Add(%u, %x) "Add_1"
    }} "Loop_0"
}
)";

TEST(ControlSteps, LoopCarriesValuesAsOftenAsItIsTold) {
  Ready plan(kLoop);
  plan.set<float>(1, {1, 2, -1});
  const auto by_hand = [](int trips, float x) {
    float s = x;
    float p = x;
    for (int i = 0; i < trips; ++i) {
      const float t = s + p + x;
      p = s;
      s = t;
    }
    return s;
  };
  for (const int trips : {0, 1, 2, 7, -3}) {
    plan.set<std::int64_t>(0, {trips});
    EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{by_hand(trips, 1), by_hand(trips, 2), by_hand(trips, -1)}))
        << trips;
  }
}

const char* const kStacking = R"(graph g(%x: f32[2]) -> (%y, %stack) {
  opset ai.onnx 26
  constant %trips = i64[]{3}
  constant %always = bool[]{1}
  %y: f32[2], %stack: f32[3,2] = Loop(%trips, %always, %x) {body=graph body(%i: i64[], %c: bool[], %s: f32[2]) -> (%d, %t, %t) {
      %d: bool[] = Identity(%c) "Identity_0"
      %t: f32[2] = Add(%s, %s) "Add_1"
    }} "Loop_0"
}
)";

TEST(ControlSteps, LoopOfKnownTripCountStacksItsScanOutputs) {
  Ready plan(kStacking);
  plan.set<float>(0, {1, 5});
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{8, 40}, std::vector<float>{2, 10, 4, 20, 8, 40}));
}

TEST(ControlSteps, LoopThatStopsBeforeItsStackIsFullIsAnError) {
  auto realised = all_plain(graph_of(kStacking));
  // The trip count that the plan was laid out for is another one than the loop sees.
  for (auto& [index, tensor] : realised.constants)
    if (realised.plan.values[index].name == "trips")
      tensor = make_tensor<std::int64_t>(ElementType::kInt64, {}, std::vector<std::int64_t>{2});
  const auto executable = Executable::load(realised, host_only, {});
  ASSERT_TRUE(executable) << to_string(executable.error());
  auto context = executable->make_context();
  const auto done = context->run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "runtime/trip-count");
  EXPECT_THAT(done.error().where, HasSubstr("step 0"));
}

const char* const kScan = R"(graph g(%init: f32[2], %a: f32[3,2], %b: f32[2,3]) -> (%last, %sums, %columns) {
  opset ai.onnx 26
  %last: f32[2], %sums: f32[3,2], %columns: f32[2,3] = Scan(%init, %a, %b) captures(%init) {body=graph body(%s: f32[2], %p: f32[2], %q: f32[2]) -> (%t, %t, %u) {
      capture %init: f32[2]
      %u: f32[2] = Sub(%p, %q) "Sub_0"
      %v: f32[2] = Add(%s, %u) "Add_1"
      %t: f32[2] = Add(%v, %init) "Add_2"
    }, num_scan_inputs=2, scan_input_axes=[0,-1], scan_input_directions=[0,1], scan_output_axes=[0,1], scan_output_directions=[0,1]} "Scan_0"
}
)";

TEST(ControlSteps, ScanSlicesAlongAxesInBothDirections) {
  Ready plan(kScan);
  const std::vector<float> init = {1, 2};
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> b = {10, 20, 30, 40, 50, 60};
  plan.set(0, init);
  plan.set(1, a);
  plan.set(2, b);
  std::vector<float> last = init;
  std::vector<float> sums(6);
  std::vector<float> columns(6);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 2; ++k) {
      const float u = a[2 * i + k] - b[3 * k + 2 - i];
      last[k] += u + init[k];
      sums[2 * i + k] = last[k];
      columns[3 * k + 2 - i] = u;
    }
  EXPECT_THAT(plan.run(), ElementsAre(last, sums, columns));
  EXPECT_THAT(plan.run(), ElementsAre(last, sums, columns)) << "again: nothing is left of the run before";
}

const char* const kLoopInScan = R"(graph g(%init: f32[2], %a: f32[4,2]) -> (%stack) {
  opset ai.onnx 26
  %last: f32[2], %stack: f32[4,2] = Scan(%init, %a) {body=graph outer(%s: f32[2], %p: f32[2]) -> (%t, %t) {
      constant %two = i64[]{2}
      %t: f32[2] = Loop(%two, _, %s) captures(%p) {body=graph inner(%i: i64[], %c: bool[], %r: f32[2]) -> (%c, %n) {
          capture %p: f32[2]
          %n: f32[2] = Add(%r, %p) "Add_0"
        }} "Loop_0"
    }, num_scan_inputs=1} "Scan_0"
}
)";

TEST(ControlSteps, LoopsRunInsideScans) {
  Ready plan(kLoopInScan);
  plan.set<float>(0, {1, 0});
  plan.set<float>(1, {1, 1, 2, 2, 3, 3, 4, 4});
  EXPECT_THAT(plan.run(), ElementsAre(std::vector<float>{3, 2, 7, 6, 13, 12, 21, 20}));
}

TEST(ControlSteps, ErrorInsideABodySaysWhere) {
  ScriptedBackend scripted;
  scripted.scripts["good"] = [](const Buffers& buffers) -> Result<void> {
    std::memset(buffers.outputs[0], 0, 64 * 4);
    return {};
  };
  scripted.scripts["bad"] = [](const Buffers&) -> Result<void> {
    return fail(ExitCode::kBug, "test/failed", "kernel", "a failure");
  };
  const Graph graph = graph_of(R"(graph g(%x: f32[64], %a: f32[3,64]) -> (%y) {
  opset ai.onnx 26
  %y: f32[64] = Scan(%x, %a) {body=graph inside(%s: f32[64], %p: f32[64]) -> (%t) {
      %u: f32[64] = Op(%s) "first"
      %t: f32[64] = Op(%u) "second"
    }, num_scan_inputs=1} "Scan_0"
}
)");
  const Graph body = free_bodies(graph, graph.nodes[0])[0];
  const auto region_of = [](const Graph& of, std::size_t node) {
    NodeSet nodes(of.nodes.size());
    nodes.insert(node);
    return make_region(of, uses_of(of), nodes);
  };
  const auto kernel = [&](std::size_t node) {
    return CoverStep{.backend = "scripted",
                     .work = CoverKernel{region_of(body, node), {"direct", {plain()}, {plain()}}}};
  };
  CoverControl scan{.region = region_of(graph, 0)};
  scan.bodies = {{.steps = {kernel(0), kernel(1)}, .cost_ns = 0}};
  const Cover cover{.steps = {{.backend = std::string(kControlBackend), .work = std::move(scan)}}};
  const Artifact good{.bytes = "good", .compatibility = "1"};
  const Artifact bad{.bytes = "bad", .compatibility = "1"};
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &cover;
  request.artifacts = {nullptr, &good, &bad};
  request.header.backends = {{"scripted", "1", "b"}};
  const auto source = [&](const std::string&) -> Result<Backend*> { return &scripted; };
  const auto executable = Executable::load(realise(request).value(), source, {});
  ASSERT_TRUE(executable) << to_string(executable.error());
  const auto done = executable->make_context()->run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "test/failed");
  EXPECT_THAT(done.error().where, HasSubstr("inside: step 1 (scripted second): kernel"));
}

/// The host backend, which counts the kernels that it loads.
class CountingHost final : public test::LoadOnlyBackend {
 public:
  CountingHost() : LoadOnlyBackend(host().info()) {}
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    ++loads;
    return host().load(request);
  }
  int loads = 0;
};

TEST(ControlSteps, EqualStepsInsideAndOutsideBodiesShareAKernel) {
  const Graph graph = graph_of(R"(graph g(%cond: bool[], %x: f32[4]) -> (%y) {
  opset ai.onnx 26
  %a: f32[4] = Relu(%x) "Relu_0"
  %y: f32[4] = If(%cond) captures(%a) {else_branch=graph other() -> (%q) {
      capture %a: f32[4]
      %q: f32[4] = Relu(%a) "Relu_0"
    }, then_branch=graph same() -> (%r) {
      capture %a: f32[4]
      %r: f32[4] = Relu(%a) "Relu_0"
    }} "If_1"
}
)");
  CountingHost counting;
  ASSERT_TRUE(
      Executable::load(all_plain(graph), [&](const std::string&) -> Result<Backend*> { return &counting; }, {}));
  EXPECT_EQ(counting.loads, 1);
}

}  // namespace
}  // namespace collage
