#include "compiler/cuda/stages.h"

#include <algorithm>
#include <map>

#include "compiler/analysis/site.h"

namespace collage::native::cuda {
namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Definition;
using Halide::Internal::Function;
using Halide::Internal::Interval;
using Halide::Internal::simplify;

/// Calls of Funcs and reads of inputs, with the arguments of each.
class CollectCalls final : public Halide::Internal::IRVisitor {
 public:
  using Halide::Internal::IRVisitor::visit;
  void visit(const Call* op) override {
    IRVisitor::visit(op);
    if (op->call_type == Call::Halide) calls.emplace_back(op->name, op->args);
    if (op->call_type == Call::Image) reads.push_back(op);
  }
  std::vector<std::pair<std::string, std::vector<Expr>>> calls;
  std::vector<const Call*> reads;  ///< parts of what was visited
};

/// What names stand for in place of the names: bounds look at expressions without their surroundings.
class WithoutLets final : public Halide::Internal::IRGraphMutator {
 public:
  using Halide::Internal::IRGraphMutator::visit;
  Expr visit(const Halide::Internal::Let* op) override {
    values_[op->name] = mutate(op->value);
    return mutate(op->body);
  }
  Expr visit(const Halide::Internal::Variable* op) override {
    const auto found = values_.find(op->name);
    return found != values_.end() ? found->second : Expr(op);
  }

 private:
  std::map<std::string, Expr> values_;
};

/// Other expressions in place of variables, all at once.
class Replace final : public Halide::Internal::IRGraphMutator {
 public:
  explicit Replace(const std::map<std::string, Expr>& values) : values_(values) {}
  using Halide::Internal::IRGraphMutator::visit;
  Expr visit(const Halide::Internal::Variable* op) override {
    const auto found = values_.find(op->name);
    return found != values_.end() ? found->second : Expr(op);
  }

 private:
  const std::map<std::string, Expr>& values_;
};

/// What a Func computes in place of its calls, whatever its schedule says.
class Inline final : public Halide::Internal::IRGraphMutator {
 public:
  explicit Inline(const Function& function) : function_(function) {}
  using Halide::Internal::IRGraphMutator::visit;
  Expr visit(const Call* op) override {
    const Expr call = IRGraphMutator::visit(op);
    op = call.as<Call>();
    if (op == nullptr || op->call_type != Call::Halide || op->name != function_.name()) return call;
    std::map<std::string, Expr> arguments;
    for (std::size_t i = 0; i < op->args.size(); ++i) arguments.emplace(function_.args()[i], op->args[i]);
    return Replace(arguments).mutate(function_.values()[static_cast<std::size_t>(op->value_index)]);
  }

 private:
  const Function& function_;
};

std::vector<Definition> definitions_of(const Function& function) {
  std::vector<Definition> all = {function.definition()};
  all.insert(all.end(), function.updates().begin(), function.updates().end());
  return all;
}

/// What a function calls but itself, in order of the calls: names count, and would change the order from run to run.
std::vector<std::string> called_by(const Function& one) {
  CollectCalls found;
  one.accept(&found);
  std::vector<std::string> names;
  for (const auto& [name, arguments] : found.calls)
    if (name != one.name()) names.push_back(name);
  return names;
}

using Functions = std::map<std::string, Function>;

/// Callees before callers.
void add_in_order(const Function& one, const Functions& all, std::vector<std::string>& order) {
  if (std::ranges::find(order, one.name()) != order.end()) return;
  for (const std::string& name : called_by(one))
    if (const auto found = all.find(name); found != all.end()) add_in_order(found->second, all, order);
  order.push_back(one.name());
}

std::optional<std::int64_t> constant_in(const Expr& expression) {
  const auto value = Halide::Internal::as_const_int(simplify(expression));
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

void join(std::optional<Span>& whole, const Span& part) {
  if (!whole) {
    whole = part;
    return;
  }
  const std::int64_t end = std::max(whole->least + whole->extent, part.least + part.extent);
  whole->least = std::min(whole->least, part.least);
  whole->extent = end - whole->least;
}

using Spans = std::vector<std::optional<Span>>;

/// Extents of inputs by name, innermost first.
using Inputs = std::map<std::string, Extents>;

/// Of a table of numbers in the code.
Extents extents_of(const Halide::Buffer<>& table) {
  Extents extents;
  for (int i = 0; i < table.dimensions(); ++i) extents.push_back(table.dim(i).min() == 0 ? table.dim(i).extent() : 0);
  return extents;
}

/// Both sides of a choice are computed, so every read must lie inside of its input.
bool lies_inside(const std::vector<Expr>& arguments, const Extents& extents, const Ranges& ranges) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto span = span_of(arguments[i], ranges);
    if (!span || span->least < 0 || span->least + span->extent > extents[i]) return false;
  }
  return true;
}

/// Widens the domains of what a definition of a stage calls by what it reads there.
std::expected<void, Refusal> widen(const Definition& definition, const Stage& stage, const Inputs& inputs,
                                   std::map<std::string, Spans>& domains) {
  const auto variables = spans_of(definition.schedule().rvars());
  if (!variables) return std::unexpected(variables.error());
  Ranges ranges;
  for (std::size_t i = 0; i < stage.domain.size(); ++i) add_range(ranges, stage.function.args()[i], stage.domain[i]);
  for (std::size_t i = 0; i < variables->size(); ++i)
    add_range(ranges, definition.schedule().rvars()[i].var, (*variables)[i]);
  CollectCalls found;
  definition.accept(&found);
  for (const Call* const read : found.reads) {
    const auto input = inputs.find(read->name);
    if (input == inputs.end() && !read->image.defined())
      return refuse(RefusalReason::kStructure, "a read of what is no input");
    if (!lies_inside(read->args, input == inputs.end() ? extents_of(read->image) : input->second, ranges))
      return refuse(RefusalReason::kShape, "a read of " + read->name + " that may lie outside of it");
  }
  for (const auto& [name, arguments] : found.calls) {
    if (name == stage.function.name()) continue;
    Spans& domain = domains[name];
    domain.resize(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const auto span = span_of(arguments[i], ranges);
      if (!span) return refuse(RefusalReason::kShape, "reads of " + name + " without known bounds");
      join(domain[i], *span);
    }
  }
  return {};
}

std::expected<Stage, Refusal> stage_of(const Function& function, const Spans& domain, bool is_output) {
  Stage stage{.function = function, .domain = {}, .is_output = is_output};
  for (const auto& span : domain) {
    if (!span) return refuse(RefusalReason::kStructure, "a function that nothing reads");
    stage.domain.push_back(*span);
  }
  return stage;
}

/// Of the outputs by name: those of the arguments, which come behind the inputs.
std::map<std::string, Spans> output_domains(const TensorCode& code) {
  std::map<std::string, Spans> domains;
  std::size_t next = code.inputs.size();
  for (const Halide::Func& output : code.pipeline.outputs()) {
    const Extents& extents = code.arguments[next].extents;
    Spans& domain = domains[output.name()];
    for (std::size_t i = extents.size(); i-- > 0;) domain.emplace_back(Span{.least = 0, .extent = extents[i]});
    next += static_cast<std::size_t>(output.outputs());
  }
  return domains;
}

}  // namespace

std::optional<Span> span_of(const Expr& expression, const Ranges& ranges) {
  const Interval bounds = Halide::Internal::bounds_of_expr_in_scope(expression, ranges);
  if (!bounds.is_bounded()) return std::nullopt;
  const auto least = constant_in(bounds.min);
  const auto most = constant_in(bounds.max);
  if (!least || !most) return std::nullopt;
  return Span{.least = *least, .extent = std::max<std::int64_t>(*most - *least + 1, 1)};
}

void add_range(Ranges& ranges, const std::string& name, const Span& span) {
  ranges.push(name, Interval(Expr(static_cast<int>(span.least)), Expr(static_cast<int>(span.least + span.extent - 1))));
}

std::expected<std::vector<Span>, Refusal> spans_of(const std::vector<Halide::Internal::ReductionVariable>& variables) {
  std::vector<Span> spans;
  for (const auto& variable : variables) {
    const auto least = constant_in(variable.min);
    const auto extent = constant_in(variable.extent);
    if (!least || !extent) return refuse(RefusalReason::kShape, "a reduction over a domain that is not constant");
    spans.push_back({.least = *least, .extent = *extent});
  }
  return spans;
}

std::expected<std::vector<Stage>, Refusal> stages_of(const TensorCode& code) {
  std::vector<Function> outputs;
  for (const Halide::Func& output : code.pipeline.outputs()) outputs.push_back(output.function());
  Functions all = Halide::Internal::build_environment(outputs);
  for (auto& [name, function] : all) {
    WithoutLets writes_out;
    function.mutate(&writes_out);
  }
  std::vector<std::string> order;
  for (const Function& output : outputs) add_in_order(output, all, order);
  std::map<std::string, Spans> domains = output_domains(code);
  const auto is_output = [&](const std::string& name) {
    return std::ranges::any_of(outputs, [&](const Function& one) { return one.name() == name; });
  };
  // Callees come first: what is inlined into a reader has nothing left to inline itself.
  std::vector<std::string> kept;
  for (const std::string& name : order) {
    const Function& function = all.at(name);
    if (function.has_extern_definition()) return refuse(RefusalReason::kStructure, "calls of other code");
    if (!function.is_pure() || is_output(name)) {
      kept.push_back(name);
      continue;
    }
    Inline writes_out(function);
    for (auto& [reader, its_function] : all)
      if (reader != name) its_function.mutate(&writes_out);
  }
  Inputs inputs;
  for (std::size_t i = 0; i < code.inputs.size(); ++i)
    inputs[code.inputs[i].name] = {code.arguments[i].extents.rbegin(), code.arguments[i].extents.rend()};
  std::vector<Stage> stages;
  for (auto name = kept.rbegin(); name != kept.rend(); ++name) {
    auto stage = stage_of(all.at(*name), domains[*name], is_output(*name));
    if (!stage) return std::unexpected(stage.error());
    for (const Definition& definition : definitions_of(stage->function))
      if (auto done = widen(definition, *stage, inputs, domains); !done) return std::unexpected(done.error());
    stages.push_back(*std::move(stage));
  }
  std::ranges::reverse(stages);
  return stages;
}

}  // namespace collage::native::cuda
