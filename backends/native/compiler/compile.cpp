// The compiler's side of the interface: regions in, artifacts out.
#include "compiler/added_strategies.h"
#include "compiler/choices.h"
#include "compiler/codegen.h"
#include "compiler/opened_code.h"
#include "compiler/strategy.h"
#include "compiler/strategy_module.h"
#include "compiler_interface.h"

namespace collage::native {
namespace {

std::expected<Site, Refusal> site_of(const Graph& graph, const Region& region, const CompileOptions& options,
                                     const Target& target) {
  auto site = dissect(graph, region, options, target.set);
  if (site) site->families = rows_of(target.families);
  return site;
}

std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                     const CompileOptions& options, const Target& target) {
  const auto site = site_of(graph, region, options, target);
  if (!site) return std::unexpected(site.error());
  return variants_of(*site);
}

std::optional<TuningSpace> tuning_space(const Graph& graph, const Region& region, const Variant& variant,
                                        const CompileOptions& options, const Target& target) {
  const auto site = site_of(graph, region, options, target);
  return site ? tuning_space_of(*site, variant) : std::nullopt;
}

std::expected<Artifact, Refusal> artifact_of(const TensorCode& code, const CompiledCode& compiled,
                                             const CompileOptions& options, const InstructionSet& set) {
  const Program program{.symbol = code.name,
                        .instruction_set = std::string(set.name),
                        .threads = options.threads,
                        .arguments = code.arguments,
                        .constants = code.parts,
                        .serial_bytes = compiled.scratch[0].serial,
                        .per_thread_bytes = compiled.scratch[0].per_thread};
  return Artifact{.bytes = to_bytes(program, compiled.shared_object),
                  .compatibility = compatibility_of(set.name),
                  .constants = code.constants,
                  .workspace_bytes = program.workspace_bytes()};
}

std::expected<Artifact, Refusal> compile_one(const CompileRequest& request, const CompileOptions& options,
                                             const Target& target) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "a whole model: native is no engine");
  const InstructionSet& set = target.set;
  const auto site = site_of(*request.graph, request.region, options, target);
  if (!site) return std::unexpected(site.error());
  const auto code = tensor_code_of(*site, request.variant, "kernel");
  if (!code) return std::unexpected(code.error());
  const auto compiled = compile_codes({*code}, set);
  if (!compiled) return refuse(RefusalReason::kCompile, to_string(compiled.error()));
  return artifact_of(*code, *compiled, options, set);
}

std::expected<Artifact, Refusal> artifact_of_code(const collage::TensorCode& given, const CompileOptions& options,
                                                  const InstructionSet& set) {
  const auto code = opened_code(given, "kernel");
  if (!code) return std::unexpected(code.error());
  const auto compiled = compile_codes({*code}, set, given.libraries);
  if (!compiled) return refuse(RefusalReason::kCompile, to_string(compiled.error()));
  return artifact_of(*code, *compiled, options, set);
}

/// Halide's errors are no standard exceptions: their words go on in one.
template <class Work>
auto with_words(Work&& work) {
  try {
    return work();
  } catch (const Halide::Error& error) {
    throw std::runtime_error(error.what());
  }
}

/// One result for each item; what Halide throws is a refusal.
template <class Item, class Make>
std::vector<std::expected<Artifact, Refusal>> each(std::span<const Item> items, Make&& make) {
  std::vector<std::expected<Artifact, Refusal>> out;
  for (const Item& item : items) {
    auto made = guard([&] { return with_words([&] { return make(item); }); });
    if (made)
      out.push_back(*std::move(made));
    else
      out.emplace_back(refuse(RefusalReason::kCompile, made.error()));
  }
  return out;
}

std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                      const CompileOptions& options, const Target& target) {
  return each(requests, [&](const CompileRequest& request) { return compile_one(request, options, target); });
}

std::vector<std::expected<Artifact, Refusal>> codegen(std::span<const collage::TensorCode> codes,
                                                      const CompileOptions& options, const InstructionSet& set) {
  return each(codes, [&](const collage::TensorCode& code) { return artifact_of_code(code, options, set); });
}

std::string operators_of(const Family& family) {
  if (family.known == nullptr) return std::string(family.operators);
  std::string operators;
  for (const std::string& name : family.known()) operators += (operators.empty() ? "" : "|") + name;
  return operators;
}

std::vector<StrategyLine> strategies(const Families* families) {
  std::vector<StrategyLine> lines;
  for (const Family* family : rows_of(families))
    for (const Implementation& one : family->implementations)
      lines.push_back({.family = std::string(family->name),
                       .implementation = std::string(one.name),
                       .condition = one.condition.empty() ? "always" : std::string(one.condition),
                       .priority = one.priority,
                       .operators = operators_of(*family),
                       .choices = std::string(one.choices),
                       .source = std::string(one.source)});
  return lines;
}

constexpr CompilerTable kTable = {.version = kCompilerVersion,
                                  .support = support,
                                  .compile = compile,
                                  .codegen = codegen,
                                  .strategies = strategies,
                                  .tuning_space = tuning_space,
                                  .families_with = families_with};

}  // namespace
}  // namespace collage::native

extern "C" const collage::native::CompilerTable* collage_native_compiler();
extern "C" const collage::native::CompilerTable* collage_native_compiler() { return &collage::native::kTable; }
