// Plans whose concatenations, splits and slices share bytes compute what the graph says.
#include <algorithm>

#include <fmt/format.h>

#include "region/containment.h"
#include "runtime_fixture.h"

namespace collage {
namespace {

using Floats = std::vector<float>;

/// Copies the box at `start` of `whole` to `part`, or back.
void move_box(const Extents& whole, const Extents& part, std::size_t axis, std::int64_t start, bool out, Floats& big,
              Floats& small) {
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < whole.size(); ++i) inner *= static_cast<std::size_t>(whole[i]);
  const auto rows = static_cast<std::size_t>(part[axis]) * inner;
  for (std::size_t from = 0, o = 0; from < small.size(); from += rows, ++o) {
    const std::size_t to = o * static_cast<std::size_t>(whole[axis]) * inner + static_cast<std::size_t>(start) * inner;
    for (std::size_t i = 0; i < rows; ++i)
      if (out)
        small[from + i] = big[to + i];
      else
        big[to + i] = small[from + i];
  }
}

/// Every value of a graph of the operators below, computed without any plan.
class ByHand {
 public:
  explicit ByHand(const Graph& graph) : graph_(graph), values_(graph.values.size()) {}

  std::vector<Floats> run(const std::vector<Floats>& inputs) {
    for (std::size_t v = 0; v < graph_.values.size(); ++v) {
      const Value& value = graph_.values[v];
      values_[v].assign(static_cast<std::size_t>(element_count(value.type.extents())), 0.0F);
      if (value.constant && value.type.element == ElementType::kFloat32)
        values_[v].assign(value.constant->data.as<float>().begin(), value.constant->data.as<float>().end());
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) values_[graph_.inputs[i].index] = inputs[i];
    for (const Node& node : graph_.nodes) compute(node);
    std::vector<Floats> outputs;
    for (const ValueId id : graph_.outputs) outputs.push_back(values_[id.index]);
    return outputs;
  }

 private:
  Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  Floats& of(ValueId id) { return values_[id.index]; }

  void compute(const Node& node) {
    Floats& out = of(node.outputs[0]);
    const auto axis = static_cast<std::size_t>(attribute_or<std::int64_t>(node, "axis", 0));
    std::int64_t start = 0;
    if (node.op_type == "Concat") {
      for (const ValueId in : node.inputs) {
        move_box(extents(node.outputs[0]), extents(in), axis, start, false, out, of(in));
        start += extents(in)[axis];
      }
    } else if (node.op_type == "Split") {
      for (const ValueId part : node.outputs) {
        move_box(extents(node.inputs[0]), extents(part), axis, start, true, of(node.inputs[0]), of(part));
        start += extents(part)[axis];
      }
    } else if (node.op_type == "Slice") {
      const auto at = static_cast<std::size_t>(integers_of(*constant_of(graph_, node.inputs[3]))->front());
      start = integers_of(*constant_of(graph_, node.inputs[1]))->front();
      move_box(extents(node.inputs[0]), extents(node.outputs[0]), at, start, true, of(node.inputs[0]), out);
    } else {
      for (std::size_t i = 0; i < out.size(); ++i) {
        const float a = of(node.inputs[0])[i];
        out[i] = node.op_type == "Relu" ? std::max(a, 0.0F) : node.op_type == "Neg" ? -a : a;
        if (node.op_type == "Add") out[i] = a + of(node.inputs[1])[i];
      }
    }
  }

  const Graph& graph_;
  std::vector<Floats> values_;
};

ValueId integers(Graph& graph, const std::vector<std::int64_t>& values) {
  return add_constant(graph, "i" + std::to_string(graph.values.size()),
                      make_tensor(ElementType::kInt64, {static_cast<std::int64_t>(values.size())}, values));
}

/// Grows graphs with many ways for values to lie in each other, possible and impossible ones.
class RandomGraph {
 public:
  explicit RandomGraph(std::uint64_t seed) : dice_(seed) {
    graph_.name = "random";
    graph_.opsets = {{"", 26}};
  }

  Graph make() {
    // 16 elements are 64 bytes: a channel may start anywhere a buffer may. 15 are none.
    const std::int64_t row = dice_.one_in(5) ? 5 : 8;
    const std::int64_t batch = dice_.one_in(3) ? 2 : 1;
    for (std::size_t i = 0; i < 1 + dice_.below(2); ++i)
      pool_.push_back(add_input(graph_, "x" + std::to_string(i), {batch, 1 + below(4), 2, row}));
    if (dice_.one_in(2)) pool_.push_back(add_floats(graph_, {batch, 1 + below(2), 2, row}, dice_.next()));
    const std::size_t nodes = 4 + dice_.below(16);
    while (graph_.nodes.size() < nodes) add_node();
    for (std::size_t i = 0; i < dice_.below(3); ++i)
      graph_.outputs.push_back(graph_.nodes[dice_.below(graph_.nodes.size())].outputs[0]);
    add_unread();
    return std::move(graph_);
  }

 private:
  std::int64_t below(std::size_t bound) { return static_cast<std::int64_t>(dice_.below(bound)); }
  Extents extents(ValueId id) const { return graph_.value(id).type.extents(); }
  ValueId computed() {
    ValueId id = dice_.pick(pool_);
    while (graph_.value(id).constant) id = dice_.pick(pool_);
    return id;
  }

  void add_node() {
    const ValueId a = computed();
    const std::size_t kind = dice_.below(10);
    if (kind < 2) return put(add_op(graph_, dice_.one_in(2) ? "Relu" : "Neg", {a}, extents(a)));
    if (kind < 3) return put(add_op(graph_, "Identity", {a}, extents(a)));
    if (kind < 4) return add_sum(a);
    if (kind < 8) return add_concat(a);
    return kind < 9 ? add_split(a) : add_slice(a);
  }

  /// A node that nobody reads is no step.
  void add_unread() {
    const Uses uses = uses_of(graph_);
    for (const Node& node : graph_.nodes)
      if (std::ranges::all_of(node.outputs, [&](ValueId id) { return uses.consumers[id.index].empty(); }))
        graph_.outputs.push_back(node.outputs[0]);
  }

  void put(ValueId id) { pool_.push_back(id); }

  void add_sum(ValueId a) {
    std::vector<ValueId> same;
    for (const ValueId id : pool_)
      if (extents(id) == extents(a)) same.push_back(id);
    put(add_op(graph_, "Add", {a, dice_.pick(same)}, extents(a)));
  }

  void add_concat(ValueId first) {
    const std::size_t axis = dice_.one_in(4) ? 0 : 1;
    std::vector<ValueId> fitting;
    for (const ValueId id : pool_) {
      Extents other = extents(id);
      other[axis] = extents(first)[axis];
      if (other == extents(first)) fitting.push_back(id);
    }
    std::vector<ValueId> parts = {first};
    for (std::size_t i = 0; i < 1 + dice_.below(3); ++i)
      parts.insert(parts.begin() + below(parts.size() + 1), dice_.pick(fitting));
    Extents all = extents(first);
    all[axis] = 0;
    for (const ValueId part : parts) all[axis] += extents(part)[axis];
    if (all[axis] <= 24) put(add_op(graph_, "Concat", parts, all, {{"axis", static_cast<std::int64_t>(axis)}}));
  }

  void add_split(ValueId whole) {
    const Extents all = extents(whole);
    if (all[1] < 2) return;
    const std::int64_t first = 1 + below(static_cast<std::size_t>(all[1] - 1));
    Node node;
    node.op_type = "Split";
    node.inputs = {whole, integers(graph_, {first, all[1] - first})};
    node.attributes = {{"axis", std::int64_t{1}}};
    for (const std::int64_t channels : {first, all[1] - first}) {
      Extents part = all;
      part[1] = channels;
      node.outputs.push_back(add_value(graph_, "", f32(part)));
    }
    for (const ValueId part : node.outputs) put(part);
    collage::add_node(graph_, std::move(node));
  }

  void add_slice(ValueId whole) {
    const std::size_t axis = dice_.below(2);
    Extents part = extents(whole);
    const std::int64_t first = below(static_cast<std::size_t>(part[axis]));
    const std::int64_t end = first + 1 + below(static_cast<std::size_t>(part[axis] - first));
    part[axis] = end - first;
    put(add_op(graph_, "Slice",
               {whole, integers(graph_, {first}), integers(graph_, {end}),
                integers(graph_, {static_cast<std::int64_t>(axis)})},
               part));
  }

  Graph graph_;
  Dice dice_;
  std::vector<ValueId> pool_;
};

struct Seen {
  std::size_t concatenations = 0;  ///< views of several parts
  std::size_t copies = 0;          ///< of parts
  std::size_t parts = 0;           ///< views of a part of their input
};

void count(const Plan& plan, Seen& seen) {
  for (const PlanStep& step : plan.steps) {
    if (is_conversion(step) && step.variant == "copy" && plan.values[step.outputs[0]].storage == Storage::kArena)
      ++seen.copies;
    if (!is_view(step)) continue;
    seen.concatenations += step.inputs.size() > 1 ? 1 : 0;
    seen.parts += plan.values[step.outputs[0]].bytes < plan.values[step.inputs[0]].bytes ? 1 : 0;
  }
}

void expect_right(const Graph& graph, Sharing sharing, std::uint64_t seed, Seen& seen) {
  Dice dice(seed);
  const auto plan = HostPlanner(
                        graph, [&](std::size_t variants) { return dice.below(variants); }, sharing)
                        .plan();
  ASSERT_TRUE(plan) << to_string(plan.error());
  count(plan->plan, seen);
  const auto executable = Executable::load(*plan, host_only, {});
  ASSERT_TRUE(executable) << to_string(executable.error());
  auto context = executable->make_context();
  ASSERT_TRUE(context);
  for (const std::uint64_t run : {1, 2}) {
    std::vector<Floats> inputs;
    for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
      fill_input(*context, i, seed + run + i);
      inputs.push_back(floats_in(context->input(i)));
    }
    ASSERT_TRUE(context->run());
    const std::vector<Floats> expected = ByHand(graph).run(inputs);
    for (std::size_t o = 0; o < expected.size(); ++o)
      ASSERT_EQ(floats_in(context->output(o)), expected[o]) << "output " << o << " of run " << run;
  }
}

TEST(PartsInPlace, GiveTheNumbersOfTheGraphOnRandomGraphs) {
  Seen offered;
  Seen forced;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Graph graph = RandomGraph(seed).make();
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, to_text(graph)));
    expect_right(graph, Sharing::kOffered, seed, offered);
    expect_right(graph, Sharing::kForced, seed, forced);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(offered.concatenations, 50U);
  EXPECT_GT(offered.parts, 100U);
  EXPECT_GT(forced.concatenations, offered.concatenations);
  EXPECT_GT(forced.copies, 100U);
}

}  // namespace
}  // namespace collage
