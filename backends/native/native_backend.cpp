// The native backend: our tensor compiler. Regions become tensor code, tensor code becomes machine code, and the
// kernels run without any compiler. This module loads and runs; compiling is behind compiler_interface.h.
#include <algorithm>
#include <mutex>
#include <optional>

#include "backend/extensions/code_generator.h"
#include "backend/extensions/constants_extension.h"
#include "backend/extensions/export_extension.h"
#include "backend/extensions/open_compiler.h"
#include "backend/extensions/portability_extension.h"
#include "backend/extensions/strategy_extension.h"
#include "backend/extensions/tuning_extension.h"
#include "backend/registry.h"
#include "base/buffer.h"
#include "base/hash.h"
#include "blas_call.h"
#include "compiler_library.h"
#include "export_kernels.h"
#include "kernel.h"
#include "link_kernels.h"
#include "unit_cache.h"

namespace collage::native {
namespace {

constexpr const char* kBuild = "native-5";  // part of cost keys: to be raised when kernels become faster or slower

/// Operators that often occur between a product and the following quantiser.
constexpr std::string_view kElementNames =
    "Relu|Clip|LeakyRelu|PRelu|Sigmoid|HardSigmoid|HardSwish|Swish|Tanh|Gelu|Add|Sub|Mul|Div|Min|Max";

std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

class Native final : public Backend,
                     public CodeGenerator,
                     public ConstantsExtension,
                     public ExportExtension,
                     public LinkExtension,
                     public OpenCompiler,
                     public PortabilityExtension,
                     public StrategyExtension,
                     public TuningExtension {
 public:
  Native(const std::string& name, const BackendOptions& options) {
    const InstructionSet& least = baseline_instruction_set();
    set_ = best_instruction_set();
    info_ = {
        .name = name, .kind = "native", .version = "1", .is_compiler = true, .takes_pool = true, .takes_open = true};
    libraries_ = libraries_of_strategies();
    for (const auto& [key, value] : options) read_option(key, value);
    if (set_ == nullptr && info_.unusable.empty()) info_.unusable = "a processor without AVX2";
    if (set_ != nullptr && set_->name != least.name && runs_here(least))
      baseline_instance_ = "native:isa=" + std::string(least.name);
    info_.build = std::string(kBuild) + (set_ != nullptr ? " " + std::string(set_->name) : "") + print_of(libraries_);
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<CodeGenerator, ConstantsExtension, ExportExtension, LinkExtension, OpenCompiler,
                            PortabilityExtension, StrategyExtension, TuningExtension>(*this, kind);
  }

  /// Single operators, and operators that exporters write as several nodes, each with the chain that follows it;
  /// diamonds and trees of element-wise work, by the growth.
  [[nodiscard]] PartitionRules rules() const override {
    // A product of bytes waits for several dequantisers: no single seed grows to it.
    const std::string product = "Conv|MatMul|Gemm(DequantizeLinear, DequantizeLinear, ";
    const std::string tail = ") -> " + std::string(kElementNames) + "* -> QuantizeLinear?";
    PartitionRules rules{
        .patterns = {{"bytes", product + "*?" + tail}, {"bytes-bias", product + "DequantizeLinear" + tail}},
        .growth = Growth::kLikeNative};
    const PartitionRule written = any_of(
        {pattern_rule("group-norm", "Reshape -> InstanceNormalization -> Reshape"),
         pattern_rule("group-norm-gated", "Reshape -> InstanceNormalization -> Reshape -> Mul|Add* -> Sigmoid -> Mul"),
         pattern_rule("gated", "Conv|GroupNormalization|InstanceNormalization -> Sigmoid -> Mul"),
         pattern_rule(
             "attention",
             "MatMul(Transpose?(Reshape?(*)), Transpose?(Reshape?(*))) -> Mul|Div|Add|Where|Cast|Reshape|Flatten* "
             "-> Softmax -> IsNaN|Where|Reshape* -> MatMul")});
    rules.more = {follow(written, rules.max_region_nodes)};
    rules.repeats = RepeatStyle::kCheap;
    return rules;
  }

  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override {
    const auto ready = toolchain();
    if (!ready) return refuse(RefusalReason::kMissing, ready.error().saw);
    return ready->table->support(graph, region, options, {*set_, ready->families});
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override {
    const auto ready = toolchain();
    if (ready) return ready->table->compile(requests, options, {*set_, ready->families});
    return {requests.size(), refuse(RefusalReason::kMissing, ready.error().saw)};
  }

  [[nodiscard]] std::optional<TuningSpace> tuning_space(const Graph& graph, const Region& region,
                                                        const Variant& variant,
                                                        const CompileOptions& options) const override {
    const auto ready = toolchain();
    if (!ready) return std::nullopt;
    return ready->table->tuning_space(graph, region, variant, options, {*set_, ready->families});
  }

  [[nodiscard]] Result<std::vector<StrategyLine>> strategies() const override {
    COLLAGE_TRY(const Toolchain ready, toolchain());
    return ready.table->strategies(ready.families);
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> codegen(std::span<const TensorCode> codes,
                                                                      const CompileOptions& options) override {
    const auto table = compiler();
    if (table) return (*table)->codegen(codes, options, *set_);
    return {codes.size(), refuse(RefusalReason::kMissing, table.error().saw)};
  }

  [[nodiscard]] std::expected<std::vector<std::string>, Refusal> candidates(
      const OpenRequest& request, const CompileOptions& options) const override {
    const auto ready = toolchain();
    if (!ready) return refuse(RefusalReason::kMissing, ready.error().saw);
    return ready->table->set_candidates(request, options, {*set_, ready->families});
  }

  [[nodiscard]] std::expected<Artifact, Refusal> compile_set(const OpenRequest& request,
                                                             std::span<const std::string> kernels,
                                                             std::span<const KernelCase> cases,
                                                             const CompileOptions& options) override {
    const auto ready = toolchain();
    if (!ready) return refuse(RefusalReason::kMissing, ready.error().saw);
    return ready->table->compile_set(request, kernels, cases, options, {*set_, ready->families});
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    COLLAGE_TRY(const std::size_t code, code_for(request.artifact.compatibility));
    if (!request.artifact.entry.empty()) return load_linked(request, code);
    COLLAGE_TRY(const StoredProgram stored, checked_program(request));
    COLLAGE_TRY(std::shared_ptr<const LoadedObject> object,
                load_object(stored.codes[code].shared_object, stored.program.library));
    return load_kernel(stored.program, code, request, std::move(object));
  }

  [[nodiscard]] std::string baseline_instance() const override { return baseline_instance_; }

  [[nodiscard]] Result<std::string> judge(std::string_view compatibility) const override {
    COLLAGE_TRY(const std::size_t code, code_for(compatibility));
    if (code == 0) return std::string();
    COLLAGE_TRY(const Needs needs, needs_of(compatibility));
    return "kernels for " + std::string(needs.sets[code]->name) + " instead of " + std::string(needs.sets[0]->name);
  }

  [[nodiscard]] Result<LinkedKernels> link(std::span<const LoadRequest> kernels) override {
    COLLAGE_TRY(const CompilerTable* table, compiler());
    return link_kernels(kernels, table->link);
  }

  [[nodiscard]] Result<ExportedArtifact> exported(const ArtifactView& artifact,
                                                  const std::string& prefix) const override {
    return export_kernels(artifact, prefix);
  }

  [[nodiscard]] std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) override {
    std::vector<MaybePrepared> all;
    for (const LoadRequest& kernel : kernels) all.push_back(prepare_one(kernel));
    return all;
  }

 private:
  Result<std::unique_ptr<Kernel>> load_linked(const LoadRequest& request, std::size_t code) {
    COLLAGE_TRY(const std::shared_ptr<const Unit> unit, units_.get(request.artifact.bytes, code));
    const auto found = unit->programs.find(request.artifact.entry);
    if (found == unit->programs.end()) return bad("no kernel " + std::string(request.artifact.entry));
    COLLAGE_TRY_VOID(check(found->second, request));
    // The kernel keeps the unit, so that the next one of the plan finds it.
    return load_kernel(found->second, code, request, {unit, unit->object.get()});
  }

  [[nodiscard]] MaybePrepared prepare_one(const LoadRequest& request) const {
    COLLAGE_TRY_VOID(code_for(request.artifact.compatibility));
    COLLAGE_TRY(StoredProgram stored, checked_program(request));
    std::vector<ConstantPart>& parts = stored.program.constants;
    if (std::ranges::all_of(
            parts, [](const ConstantPart& part) { return part.is_packed || part.packing.kind == PackingKind::kNone; }))
      return std::nullopt;
    PreparedArtifact prepared;
    for (std::uint32_t i = 0; i < parts.size(); ++i) {
      ConstantPart& part = parts[i];
      if (part.source >= request.constants.size()) return bad("too few constants");
      if (part.is_packed || part.packing.kind == PackingKind::kNone) {
        prepared.constants.emplace_back(std::size_t{part.source});
      } else {
        COLLAGE_TRY(Buffer bytes, pack(part.packing, request.constants[part.source]));
        prepared.constants.emplace_back(std::move(bytes));
      }
      part.is_packed = true;
      part.source = i;
    }
    prepared.bytes = to_bytes(stored.program, stored.codes);
    return std::optional(std::move(prepared));
  }

  /// The compiler and the rows of its tables, opened when first needed.
  struct Toolchain {
    const CompilerTable* table = nullptr;
    const Families* families = nullptr;
  };

  Result<Toolchain> toolchain() const {
    COLLAGE_TRY(const CompilerTable* table, compiler());
    std::call_once(families_made_, [&] {
      if (!libraries_.empty()) families_ = table->families_with(libraries_);
    });
    if (!families_) return std::unexpected(families_.error());
    return Toolchain{.table = table, .families = families_->get()};
  }

  void read_option(const std::string& key, const std::string& value) {
    if (key == "strategies") return add_library(value);
    if (key != "isa") {
      info_.unusable = "unknown option " + key + "; allowed isa, strategies";
      return;
    }
    set_ = instruction_set_of(value);
    if (set_ == nullptr)
      info_.unusable = "isa " + value + "; allowed " + names_of_sets();
    else if (!runs_here(*set_))
      info_.unusable = "isa " + value + ", which this processor does not have";
  }

  /// A file that the user names must fit; one in a folder is checked when something is compiled.
  void add_library(const std::string& file) {
    const std::string library = whole_path(file);
    if (std::ranges::find(libraries_, library) == libraries_.end()) libraries_.push_back(library);
    if (const auto ready = toolchain(); !ready) info_.unusable = to_string(ready.error());
  }

  /// Part of the build: what other libraries add makes other kernels. Empty without any.
  static std::string print_of(const std::vector<std::string>& libraries) {
    std::string prints;
    for (const std::string& library : libraries) {
      const auto bytes = Buffer::map_file(library);
      prints += '+' + (bytes ? hash_hex(bytes->text()) : "unreadable");
    }
    return prints;
  }

  static std::string names_of_sets() {
    std::string names;
    for (const InstructionSet& set : all_instruction_sets())
      names += (names.empty() ? "" : ", ") + std::string(set.name);
    return names;
  }

  static std::unexpected<Error> bad(std::string saw) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", std::move(saw), "an artifact of this backend");
  }

  /// The best code of an artifact that this processor runs, given the library that it calls is here; of those that are
  /// no better than this instance, when there is one.
  Result<std::size_t> code_for(std::string_view compatibility) const {
    COLLAGE_TRY(const Needs needs, needs_of(compatibility));
    if (!needs.library.empty() && !blas_library(needs.library))
      return fail(ExitCode::kUnsupported, "backend/missing-library", "native", blas_library(needs.library).error(),
                  "the library that the kernel calls");
    const std::vector<const InstructionSet*>& sets = needs.sets;
    std::string names;
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      names += (i == 0 ? "" : " and ") + std::string(sets[i]->name);
      if (!runs_here(*sets[i])) continue;
      // Sets are rows of one table, best first.
      if (sets[i] >= set_) return i;
      if (!best) best = i;
    }
    if (best) return *best;
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", "native", "a kernel for " + names + " alone",
                "instructions that this processor has");
  }

  /// A program of this build for this many threads.
  static Result<StoredProgram> checked_program(const LoadRequest& request) {
    COLLAGE_TRY(StoredProgram stored, program_of(request.artifact.bytes));
    COLLAGE_TRY_VOID(check(stored.program, request));
    return stored;
  }

  static Result<void> check(const Program& program, const LoadRequest& request) {
    if (request.artifact.compatibility != compatibility_of(program))
      return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", "native",
                  std::string(request.artifact.compatibility), "an artifact of this build");
    if (program.threads != request.threads)
      return fail(ExitCode::kBadInput, "backend/other-threads", "native", std::to_string(request.threads) + " threads",
                  std::to_string(program.threads) + ", as compiled");
    if (program.workspace_bytes() > request.artifact.workspace_bytes)
      return bad("scratch of " + std::to_string(request.artifact.workspace_bytes) + " bytes");
    return {};
  }

  BackendInfo info_;
  std::string baseline_instance_;  ///< empty: this is it
  const InstructionSet* set_ = nullptr;
  std::vector<std::string> libraries_;  ///< that add strategies
  UnitCache units_;
  mutable std::once_flag families_made_;
  mutable Result<std::shared_ptr<const Families>> families_ = std::shared_ptr<const Families>();
};

Backend* create(const std::string& name, const BackendOptions& options) { return new Native(name, options); }

constexpr BackendModule kModule = {
    .struct_size = sizeof(BackendModule), .abi_version = kModuleVersion, .kind = "native", .create = create};

}  // namespace
}  // namespace collage::native

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() { return &collage::native::kModule; }
