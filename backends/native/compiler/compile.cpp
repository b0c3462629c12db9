// The compiler's side of the interface: regions in, artifacts out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "base/hash.h"
#include "base/json_numbers.h"
#include "compiler/codegen/codegen.h"
#include "compiler/codegen/in_child.h"
#include "compiler/codegen/opened_code.h"
#include "compiler/cuda/regions.h"
#include "compiler/kernel_sets.h"
#include "compiler/selection/added_strategies.h"
#include "compiler/selection/choices.h"
#include "compiler/selection/strategy.h"
#include "compiler/selection/strategy_module.h"
#include "compiler_interface.h"
#include "kernel_set_json.h"

namespace collage::native {
namespace {

using nlohmann::json;

std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                     const CompileOptions& options, const Target& target) {
  if (is_open(graph, region)) return open_variants(graph, region, options, target);
  const auto site = site_of(graph, region, options, target);
  if (!site) return std::unexpected(site.error());
  return variants_of(*site);
}

std::optional<TuningSpace> tuning_space(const Graph& graph, const Region& region, const Variant& variant,
                                        const CompileOptions& options, const Target& target) {
  const auto site = site_of(graph, region, options, target);
  return site ? tuning_space_of(*site, variant) : std::nullopt;
}

/// The symbol of the kernel that is compiled of this description. The kernels of a plan are linked together, so other
/// code needs another symbol; threads and accuracy are the same in all of a plan.
std::string symbol_for(std::string_view description) { return "kernel_" + hash_hex(description); }

std::string symbol_for(const CompileRequest& request) {
  std::string formats;
  for (const auto* list : {&request.variant.input_formats, &request.variant.output_formats})
    for (const Format& format : *list) formats += ' ' + format.name;
  return symbol_for(structure_key(*request.graph, request.region) + ' ' + request.variant.name + formats);
}

/// Of code that was given: its loops, and the arrays that they run over.
std::string symbol_for(const collage::TensorCode& given) {
  json text = {{"pipeline", hash_hex(given.pipeline)}, {"parameters", given.parameters}};
  for (const TensorArgument& argument : given.arguments) text["arguments"].push_back(to_json(argument));
  return symbol_for(text.dump());
}

/// The tensor code for each of these sets in one artifact. Schedules and packed constants are those chosen for the
/// first, for sets with shorter vectors too: what is wider than their registers takes several.
std::expected<Artifact, Refusal> artifact_of(const TensorCode& code, std::span<const InstructionSet* const> sets,
                                             const CompileOptions& options,
                                             const std::vector<std::string>& libraries = {}) {
  Program program{.symbol = code.name,
                  .threads = options.threads,
                  .arguments = code.arguments,
                  .constants = code.parts,
                  .library = code.library};
  std::vector<CompiledCode> compiled;
  std::vector<CodeBytes> bytes;
  for (const InstructionSet* set : sets) {
    auto made = compile_codes({code}, *set, libraries);
    if (!made) return refuse(RefusalReason::kCompile, to_string(made.error()));
    program.codes.push_back({std::string(set->name), made->scratch[0].serial, made->scratch[0].per_thread});
    compiled.push_back(*std::move(made));
  }
  for (const CompiledCode& one : compiled)
    bytes.push_back({one.shared_object, std::vector<std::string_view>(one.objects.begin(), one.objects.end())});
  return Artifact{.bytes = to_bytes(program, bytes),
                  .compatibility = compatibility_of(program),
                  .constants = code.constants,
                  .workspace_bytes = program.workspace_bytes()};
}

std::expected<Artifact, Refusal> compile_one(const CompileRequest& request, const CompileOptions& options,
                                             const Target& target) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "a whole model: native is no engine");
  if (is_open(*request.graph, request.region)) return compile_open(request, options, target);
  const auto site = site_of(*request.graph, request.region, options, target);
  if (!site) return std::unexpected(site.error());
  const auto code = tensor_code_of(*site, request.variant, symbol_for(request));
  if (!code) return std::unexpected(code.error());
  return artifact_of(*code, sets_of(options, target.set), options);
}

std::expected<Artifact, Refusal> artifact_of_code(const collage::TensorCode& given, const CompileOptions& options,
                                                  const InstructionSet& set) {
  const auto code = opened_code(given, symbol_for(given));
  if (!code) return std::unexpected(code.error());
  return artifact_of(*code, sets_of(options, set), options, given.libraries);
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

using Outcome = std::expected<Artifact, Refusal>;

json to_json(const Refusal& refusal) { return {{"reason", name_of(refusal.reason)}, {"detail", refusal.detail}}; }

bool is_refusal(const json& text) { return text.contains("reason"); }

std::unexpected<Refusal> refusal_of(const json& text) {
  return refuse(refusal_reason_of(text["reason"].get<std::string>()).value_or(RefusalReason::kCompile),
                text["detail"].get<std::string>());
}

std::string to_bytes(const Outcome& outcome) {
  json text;
  if (!outcome) {
    text = to_json(outcome.error());
  } else {
    text = {{"bytes", outcome->bytes},
            {"compatibility", outcome->compatibility},
            {"workspace", outcome->workspace_bytes},
            {"constants", json::array()}};
    for (const ValueId id : outcome->constants) text["constants"].push_back(id.index);
  }
  std::string bytes;
  json::to_msgpack(text, bytes);
  return bytes;
}

Outcome outcome_of(const std::string& bytes) {
  const json text = json::from_msgpack(bytes);
  if (is_refusal(text)) return refusal_of(text);
  Artifact artifact{.bytes = text["bytes"].get<std::string>(),
                    .compatibility = text["compatibility"].get<std::string>(),
                    .workspace_bytes = text["workspace"].get<std::size_t>()};
  for (const json& index : text["constants"]) artifact.constants.push_back(ValueId{index.get<std::uint32_t>()});
  return artifact;
}

/// Made in a process of its own; what Halide throws is a refusal.
template <class Make>
Outcome made_apart(Make&& make) {
  const auto made = in_child([&] {
    auto tried = guard([&] { return with_words(make); });
    return to_bytes(tried ? *std::move(tried) : Outcome(refuse(RefusalReason::kCompile, tried.error())));
  });
  return made ? outcome_of(*made) : Outcome(refuse(RefusalReason::kCrashed, made.error()));
}

/// One result for each item.
template <class Item, class Make>
std::vector<Outcome> each(std::span<const Item> items, Make&& make) {
  std::vector<Outcome> out;
  for (const Item& item : items) out.push_back(made_apart([&] { return make(item); }));
  return out;
}

std::vector<Outcome> compile(std::span<const CompileRequest> requests, const CompileOptions& options,
                             const Target& target) {
  return each(requests, [&](const CompileRequest& request) { return compile_one(request, options, target); });
}

std::vector<Outcome> codegen(std::span<const collage::TensorCode> codes, const CompileOptions& options,
                             const InstructionSet& set) {
  return each(codes, [&](const collage::TensorCode& code) { return artifact_of_code(code, options, set); });
}

Result<std::string> link(std::span<const std::string_view> objects) {
  auto tried = guard([&] { return link_objects(objects); });
  if (tried) return *std::move(tried);
  return fail(ExitCode::kUnsupported, "native/link-failed", "ld", tried.error());
}

std::expected<std::vector<std::string>, Refusal> candidates(const OpenRequest& request, const CompileOptions& options,
                                                            const Target& target) {
  // Apart: code that was written changes the names, so the bytes, of code that is written later.
  const auto made = in_child([&] {
    const auto tried = guard([&] { return with_words([&] { return set_candidates(request, options, target); }); });
    if (!tried) return to_json(Refusal{RefusalReason::kCompile, tried.error()}).dump();
    return (*tried ? json::object({{"names", **tried}}) : to_json(tried->error())).dump();
  });
  if (!made) return refuse(RefusalReason::kCrashed, made.error());
  const json text = json::parse(*made);
  if (is_refusal(text)) return refusal_of(text);
  return text["names"].get<std::vector<std::string>>();
}

Outcome compile_kernels(const OpenRequest& request, std::span<const std::string> kernels,
                        std::span<const KernelCase> cases, const CompileOptions& options, const Target& target) {
  return made_apart([&] { return native::compile_set(request, kernels, cases, options, target); });
}

std::expected<CudaProgram, Refusal> cuda_program(const CompileRequest& request, const CompileOptions& options) {
  auto tried =
      guard([&] { return with_words([&] { return cuda::program_of(request, options, symbol_for(request)); }); });
  if (!tried) return refuse(RefusalReason::kCompile, tried.error());
  return *std::move(tried);
}

/// Operators separated by '|', each once, also of chains.
std::string operators_of(const Family& family) {
  std::vector<std::string> names;
  if (family.known != nullptr) names = family.known();
  for (const auto& word : std::views::split(family.operators, std::string_view("|")))
    for (const auto& part : std::views::split(std::string_view(word), std::string_view("+")))
      if (const std::string name(std::string_view{part});
          !name.empty() && std::ranges::find(names, name) == names.end())
        names.push_back(name);
  return fmt::format("{}", fmt::join(names, "|"));
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
                                  .set_candidates = candidates,
                                  .compile_set = compile_kernels,
                                  .link = link,
                                  .strategies = strategies,
                                  .tuning_space = tuning_space,
                                  .families_with = families_with,
                                  .cuda_variants = cuda::variants_of,
                                  .cuda_program = cuda_program};

}  // namespace
}  // namespace collage::native

extern "C" const collage::native::CompilerTable* collage_native_compiler();
extern "C" const collage::native::CompilerTable* collage_native_compiler() { return &collage::native::kTable; }
