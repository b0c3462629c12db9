#include "compiler/cuda/write_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "compiler/analysis/site.h"
#include "compiler/cuda/expression_text.h"
#include "compiler/cuda/prelude.h"
#include "compiler/cuda/stages.h"
#include "compiler/cuda/tables.h"
#include "compiler/expressions/expression.h"

namespace collage::native::cuda {
namespace {

using Halide::Expr;
using Halide::Internal::Call;
using Halide::Internal::Definition;

/// Threads of a block. Those that join numbers are a power of two.
constexpr std::uint32_t kThreads = 256;
constexpr std::uint32_t kJoiningThreads = 128;
/// Numbers from which on a block may join them.
constexpr std::int64_t kNumbersForABlock = 64;
/// What the code counts to.
constexpr std::int64_t kMostNumbers = std::numeric_limits<std::int32_t>::max();

/// Memory that kernels read and write: a buffer of the program, or values of a stage in the workspace.
struct Memory {
  CudaBuffer buffer;
  std::string name;  ///< of the parameter
  Halide::Type type;
  std::vector<std::int64_t> strides;  ///< elements, innermost argument first
  std::vector<std::int64_t> least;    ///< the index that lies at the start
};

/// The places of memory by what tensor code calls them: inputs by name, Funcs by name and result.
using Memories = std::map<std::pair<std::string, int>, Memory>;

std::vector<std::int64_t> reversed(const Extents& list) { return {list.rbegin(), list.rend()}; }

Memory memory_of(const Argument& argument, std::size_t index, std::string name) {
  return {.buffer = {CudaBufferKind::kArgument, index},
          .name = std::move(name),
          .type = stored_type(argument.type),
          .strides = reversed(argument.strides),
          .least = std::vector<std::int64_t>(argument.extents.size(), 0)};
}

std::int64_t places_of(const std::vector<Span>& domain) {
  std::int64_t count = 1;
  for (const Span& span : domain) count *= span.extent;
  return count;
}

/// Elements from the first to the last.
std::int64_t reach_of(const Argument& argument) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < argument.extents.size(); ++i) last += (argument.extents[i] - 1) * argument.strides[i];
  return last + 1;
}

/// Memory in the workspace for each result of a stage.
void add_scratch(const Stage& stage, std::uint64_t& bytes, Memories& memories) {
  constexpr std::uint64_t kAlignment = 256;
  const std::string& name = stage.function.name();
  for (int i = 0; i < stage.function.outputs(); ++i) {
    const Halide::Type type = stage.function.output_types()[static_cast<std::size_t>(i)];
    Memory memory{.buffer = {CudaBufferKind::kScratch, bytes},
                  .name = fmt::format("between{}", memories.size()),
                  .type = type.is_bool() ? Halide::UInt(8) : type,
                  .strides = {},
                  .least = {}};
    std::int64_t stride = 1;
    for (const Span& span : stage.domain) {
      memory.strides.push_back(stride);
      memory.least.push_back(span.least);
      stride *= span.extent;
    }
    bytes += static_cast<std::uint64_t>(stride * memory.type.bytes());
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    memories.emplace(std::pair(name, i), std::move(memory));
  }
}

std::string index_text(const Memory& memory, const std::vector<std::string>& at) {
  std::string sum;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (memory.strides[i] == 0) continue;
    const std::string place =
        memory.least[i] == 0
            ? at[i]
            : fmt::format("({} - {})", at[i], number_text(Halide::Int(32), static_cast<double>(memory.least[i])));
    if (!sum.empty()) sum += " + ";
    sum += memory.strides[i] == 1 ? place : fmt::format("{} * {}", place, memory.strides[i]);
  }
  return sum.empty() ? "0" : sum;
}

/// One way of joining numbers whose order does not matter but for rounding.
struct Joining {
  std::string sign;      ///< "+", "*"; empty: a function
  std::string function;  ///< "larger<float>"
  std::string neutral;
  Expr number;  ///< what is joined to the value before

  [[nodiscard]] std::string joined(const std::string& a, const std::string& b) const {
    return sign.empty() ? fmt::format("{}({}, {})", function, a, b) : fmt::format("{} {} {}", a, sign, b);
  }
};

class FindsCalls final : public Halide::Internal::IRVisitor {
 public:
  explicit FindsCalls(std::string name) : name_(std::move(name)) {}
  using Halide::Internal::IRVisitor::visit;
  void visit(const Call* op) override {
    IRVisitor::visit(op);
    found |= op->call_type == Call::Halide && op->name == name_;
  }
  bool found = false;

 private:
  std::string name_;
};

bool calls(const Expr& expression, const std::string& name) {
  FindsCalls finder(name);
  expression.accept(&finder);
  return finder.found;
}

bool is_variable(const Expr& expression, const std::string& name) {
  const auto* const variable = expression.as<Halide::Internal::Variable>();
  return variable != nullptr && variable->name == name;
}

/// A read of the place that is written.
bool is_before(const Expr& expression, const Stage& stage) {
  const auto* const call = expression.as<Call>();
  if (call == nullptr || call->call_type != Call::Halide || call->name != stage.function.name()) return false;
  for (std::size_t i = 0; i < call->args.size(); ++i)
    if (!is_variable(call->args[i], stage.function.args()[i])) return false;
  return true;
}

/// The greatest or least number of a type as a text.
std::string limit_text(const Halide::Type& type, bool greatest) {
  if (type.is_float()) return number_text(type, (greatest ? 1 : -1) * std::numeric_limits<double>::infinity());
  const Expr limit = greatest ? type.max() : type.min();
  if (const auto number = Halide::Internal::as_const_int(limit)) {
    if (*number == std::numeric_limits<std::int64_t>::min()) return "(-9223372036854775807LL - 1)";
    return type.bits() == 64 ? std::to_string(*number) + "LL" : number_text(type, static_cast<double>(*number));
  }
  return std::to_string(*Halide::Internal::as_const_uint(limit)) + "ULL";
}

/// How the update joins a number to the value before; nothing when it does something else.
std::optional<Joining> joining_of(const Definition& update, const Stage& stage) {
  namespace ir = Halide::Internal;
  if (stage.function.outputs() != 1) return std::nullopt;
  const Expr& value = update.values()[0];
  const Halide::Type type = value.type();
  const auto with = [&](const Expr& a, const Expr& b, Joining joining) -> std::optional<Joining> {
    const bool is_left = is_before(a, stage);
    if (!is_left && !is_before(b, stage)) return std::nullopt;
    joining.number = is_left ? b : a;
    if (calls(joining.number, stage.function.name())) return std::nullopt;
    return joining;
  };
  if (const auto* op = value.as<ir::Add>())
    return with(op->a, op->b, {.sign = "+", .function = {}, .neutral = number_text(type, 0), .number = {}});
  if (const auto* op = value.as<ir::Mul>())
    return with(op->a, op->b, {.sign = "*", .function = {}, .neutral = number_text(type, 1), .number = {}});
  const auto chosen = [&](const char* name, bool greatest) {
    return Joining{.sign = {},
                   .function = name + ('<' + type_text(type) + '>'),
                   .neutral = limit_text(type, greatest),
                   .number = {}};
  };
  if (const auto* op = value.as<ir::Max>()) return with(op->a, op->b, chosen("larger", false));
  if (const auto* op = value.as<ir::Min>()) return with(op->a, op->b, chosen("smaller", true));
  return std::nullopt;
}

/// Writes one kernel.
class KernelWriter {
 public:
  KernelWriter(const Stage& stage, const Memories& memories, Tables& tables, CudaKernel& kernel, Sums sums)
      : stage_(stage), memories_(memories), tables_(tables), kernel_(kernel), sums_(sums) {}

  std::expected<std::string, Refusal> write() {
    const std::int64_t places = places_of(stage_.domain);
    if (places > kMostNumbers) return refuse(RefusalReason::kShape, "2^31 elements");
    for (std::size_t i = 0; i < stage_.domain.size(); ++i)
      add_range(ranges_, stage_.function.args()[i], stage_.domain[i]);
    const auto joining = block_joining();
    std::string body = joining ? by_block(*joining) : by_thread(places);
    kernel_.threads = joining ? kJoiningThreads : kThreads;
    kernel_.blocks = static_cast<std::uint32_t>(joining ? places : (places + kThreads - 1) / kThreads);
    return fmt::format("extern \"C\" __global__ void {}({}) {{\n{}}}\n", kernel_.name, parameters(), body);
  }

 private:
  /// What the one update joins when a block is worth it.
  std::optional<Joining> block_joining() {
    if (sums_ != Sums::kByBlocks || stage_.function.updates().size() != 1) return std::nullopt;
    const Definition& update = stage_.function.updates()[0];
    if (!writes_own_place(update)) return std::nullopt;
    const auto spans = spans_of(update.schedule().rvars());
    if (!spans || places_of(*spans) < kNumbersForABlock || places_of(*spans) > kMostNumbers) return std::nullopt;
    return joining_of(update, stage_);
  }

  [[nodiscard]] bool writes_own_place(const Definition& update) const {
    for (std::size_t i = 0; i < update.args().size(); ++i)
      if (!is_variable(update.args()[i], stage_.function.args()[i])) return false;
    return true;
  }

  /// The indices of the place with this number, as variables of the kernel.
  std::string place_text(const std::string& number) {
    std::string text;
    std::string rest = number;
    for (std::size_t i = 0; i < stage_.domain.size(); ++i) {
      const Span& span = stage_.domain[i];
      const std::string name = fmt::format("i{}", i);
      const bool is_last = i + 1 == stage_.domain.size();
      std::string value = is_last ? rest : fmt::format("{} % {}", rest, span.extent);
      if (span.extent == 1) value = "0";
      if (span.least != 0) value += fmt::format(" + ({})", span.least);
      text += fmt::format("  const int {} = {};\n", name, value);
      if (!is_last && span.extent != 1) {
        text += fmt::format("  const int rest{} = {} / {};\n", i, rest, span.extent);
        rest = fmt::format("rest{}", i);
      }
      names_[stage_.function.args()[i]] = name;
    }
    return text;
  }

  std::string read(const Call& call, const std::vector<std::string>& at) {
    if (call.name == stage_.function.name()) {
      for (std::size_t i = 0; i < at.size(); ++i)
        if (at[i] != names_.at(stage_.function.args()[i]))
          throw CannotWrite("a function that reads another place of itself");
      return fmt::format("value{}", call.value_index);
    }
    if (call.call_type == Call::Image && call.image.defined()) return tables_.element(call, at);
    const auto found = memories_.find({call.name, call.value_index});
    if (found == memories_.end()) throw CannotWrite("a read of " + call.name);
    const Memory& memory = used(found->second);
    const std::string element = fmt::format("{}[{}]", memory.name, index_text(memory, at));
    return call.type.is_bool() ? element + " != 0" : element;
  }

  const Memory& used(const Memory& memory) {
    if (std::ranges::find(used_, &memory) == used_.end()) used_.push_back(&memory);
    return memory;
  }

  [[nodiscard]] ExpressionWriter writer(const std::string& indent) {
    return {[this](const Call& call, const std::vector<std::string>& at) { return read(call, at); }, names_, ranges_,
            indent};
  }

  /// "const float* in0, float* out0": what is written last.
  std::string parameters() {
    std::vector<std::string> texts;
    for (const Memory* memory : used_) {
      const bool is_written = std::ranges::find(written_, memory) != written_.end();
      texts.push_back(
          fmt::format("{}{}* __restrict__ {}", is_written ? "" : "const ", type_text(memory->type), memory->name));
      kernel_.parameters.push_back(memory->buffer);
    }
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  /// Statements that set the values of this place from these expressions.
  std::string values_text(const std::vector<Expr>& values, const std::string& indent, bool declares) {
    ExpressionWriter expressions = writer(indent);
    std::vector<std::string> results;
    for (const Expr& value : values)
      results.push_back(expressions.write(Halide::Internal::common_subexpression_elimination(value)));
    std::string text = expressions.statements();
    for (std::size_t i = 0; i < results.size(); ++i) {
      const std::string type = declares ? type_text(values[i].type()) + ' ' : "";
      text += fmt::format("{}{}value{} = {};\n", indent, type, i, results[i]);
    }
    return text;
  }

  std::string stores_text(const std::string& indent) {
    std::string text;
    std::vector<std::string> at;
    for (const std::string& argument : stage_.function.args()) at.push_back(names_.at(argument));
    for (int i = 0; i < stage_.function.outputs(); ++i) {
      const Memory& memory = used(memories_.at({stage_.function.name(), i}));
      written_.push_back(&memory);
      text += fmt::format("{}{}[{}] = {}(value{});\n", indent, memory.name, index_text(memory, at),
                          type_text(memory.type), i);
    }
    return text;
  }

  /// One place for each thread.
  std::string by_thread(std::int64_t places) {
    std::string text =
        fmt::format("  const int at = blockIdx.x * {} + threadIdx.x;\n  if (at >= {}) return;\n", kThreads, places);
    text += place_text("at");
    text += values_text(stage_.function.values(), "  ", true);
    for (const Definition& update : stage_.function.updates()) text += update_text(update);
    return text + stores_text("  ");
  }

  std::string update_text(const Definition& update) {
    if (!writes_own_place(update)) throw CannotWrite("an update of some places");
    const auto spans = spans_of(update.schedule().rvars());
    if (!spans) throw CannotWrite(spans.error().detail);
    std::string text;
    std::string indent = "  ";
    for (std::size_t i = spans->size(); i-- > 0;) {
      const std::string name = variable(update, i, (*spans)[i]);
      const Span& span = (*spans)[i];
      text += fmt::format("{}for (int {} = {}; {} < {}; ++{}) {{\n", indent, name, span.least, name,
                          span.least + span.extent, name);
      indent += "  ";
    }
    text +=
        guarded(update, indent, [&](const std::string& inner) { return values_text(update.values(), inner, false); });
    for (std::size_t i = 0; i < spans->size(); ++i) {
      indent.resize(indent.size() - 2);
      text += indent + "}\n";
    }
    return text;
  }

  /// A name for the reduction variable; what is known of it.
  std::string variable(const Definition& update, std::size_t i, const Span& span) {
    const std::string& own = update.schedule().rvars()[i].var;
    add_range(ranges_, own, span);
    return names_[own] = fmt::format("r{}", i);
  }

  /// What `body` writes, behind the update's condition.
  template <class Body>
  std::string guarded(const Definition& update, const std::string& indent, Body&& body) {
    const Expr condition = Halide::Internal::simplify(update.predicate());
    if (Halide::Internal::is_const_one(condition)) return body(indent);
    ExpressionWriter expressions = writer(indent);
    const std::string holds = expressions.write(condition);
    return fmt::format("{}{}if ({}) {{\n{}{}}}\n", expressions.statements(), indent, holds, body(indent + "  "),
                       indent);
  }

  /// One place for each block.
  std::string by_block(const Joining& joining) {
    const Definition& update = stage_.function.updates()[0];
    const auto spans = *spans_of(update.schedule().rvars());
    const std::string type = type_text(update.values()[0].type());
    std::string text = place_text("blockIdx.x");
    text += fmt::format("  __shared__ {} shared[{}];\n  {} part = {};\n", type, kJoiningThreads, type, joining.neutral);
    text += fmt::format("  for (int number = threadIdx.x; number < {}; number += {}) {{\n", places_of(spans),
                        kJoiningThreads);
    std::string rest = "number";
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const std::string name = variable(update, i, spans[i]);
      const bool is_last = i + 1 == spans.size();
      text += fmt::format("    const int {} = {} + ({});\n", name,
                          is_last ? rest : fmt::format("{} % {}", rest, spans[i].extent), spans[i].least);
      if (!is_last) text += fmt::format("    const int after{} = {} / {};\n", i, rest, spans[i].extent);
      rest = fmt::format("after{}", i);
    }
    text += guarded(update, "    ", [&](const std::string& indent) {
      ExpressionWriter expressions = writer(indent);
      const std::string number = expressions.write(Halide::Internal::common_subexpression_elimination(joining.number));
      return expressions.statements() + fmt::format("{}part = {};\n", indent, joining.joined("part", number));
    });
    text += "  }\n  shared[threadIdx.x] = part;\n  __syncthreads();\n";
    text += fmt::format("  for (int half = {}; half > 0; half /= 2) {{\n", kJoiningThreads / 2);
    text += fmt::format("    if (threadIdx.x < half) shared[threadIdx.x] = {};\n    __syncthreads();\n  }}\n",
                        joining.joined("shared[threadIdx.x]", "shared[threadIdx.x + half]"));
    text += "  if (threadIdx.x != 0) return;\n";
    text += values_text(stage_.function.values(), "  ", true);
    text += fmt::format("  value0 = {};\n", joining.joined("value0", "shared[0]"));
    return text + stores_text("  ");
  }

  const Stage& stage_;
  const Memories& memories_;
  Tables& tables_;
  CudaKernel& kernel_;
  Sums sums_;
  Ranges ranges_;
  std::map<std::string, std::string> names_;
  std::vector<const Memory*> used_;
  std::vector<const Memory*> written_;
};

/// Memory of inputs, outputs and what lies between stages; its size.
Memories memories_of(const TensorCode& code, const std::vector<Stage>& stages, std::uint64_t& workspace_bytes) {
  Memories memories;
  std::size_t next = 0;
  for (const Halide::Argument& input : code.inputs) {
    memories.emplace(std::pair(input.name, 0), memory_of(code.arguments[next], next, fmt::format("in{}", next)));
    ++next;
  }
  for (const Halide::Func& output : code.pipeline.outputs())
    for (int i = 0; i < output.outputs(); ++i, ++next)
      memories.emplace(std::pair(output.name(), i), memory_of(code.arguments[next], next, fmt::format("out{}", next)));
  for (const Stage& stage : stages)
    if (!stage.is_output) add_scratch(stage, workspace_bytes, memories);
  return memories;
}

}  // namespace

std::expected<CudaProgram, Refusal> write_program(const TensorCode& code, Sums sums) {
  if (!code.library.empty() || !code.micro_products.empty())
    return refuse(RefusalReason::kStructure, "calls of other code");
  for (const Argument& argument : code.arguments)
    if (reach_of(argument) > kMostNumbers) return refuse(RefusalReason::kShape, "2^31 elements");
  const auto stages = stages_of(code);
  if (!stages) return std::unexpected(stages.error());
  CudaProgram program{.source = kPrelude,
                      .kernels = {},
                      .arguments = code.arguments,
                      .constants = code.parts,
                      .graph_constants = code.constants};
  const Memories memories = memories_of(code, *stages, program.workspace_bytes);
  Tables tables;
  std::string kernels;
  try {
    for (const Stage& stage : *stages) {
      CudaKernel kernel{.name = fmt::format("{}_{}", code.name, program.kernels.size())};
      auto text = KernelWriter(stage, memories, tables, kernel, sums).write();
      if (!text) return std::unexpected(text.error());
      kernels += *text;
      program.kernels.push_back(std::move(kernel));
    }
  } catch (const CannotWrite& what) {
    return refuse(RefusalReason::kCompile, std::string("no kernel of a GPU: ") + what.what());
  }
  program.source += tables.text() + kernels;
  return program;
}

}  // namespace collage::native::cuda
