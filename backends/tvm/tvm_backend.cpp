#include "backends/tvm/tvm_backend.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "backend/registry.h"
#include "backends/tvm/kernel.h"
#include "backends/tvm/lowering/lower.h"
#include "backends/tvm/rules.h"
#include "base/number_text.h"

namespace collage::tvm {
namespace {

/// Part of cost keys: to be raised when the same description becomes faster or slower code.
constexpr const char* kLowering = "1";

/// How much longer than its trials a request may take: starting the process, compiling, linking.
constexpr std::chrono::seconds kPatience{20};

/// Processors that code is made for, the best first; LLVM's names, which GCC knows too.
struct Processor {
  const char* name;
  bool is_here;
};

std::array<Processor, 3> processors() {
  return {{{"x86-64-v4", __builtin_cpu_supports("x86-64-v4") != 0},
           {"x86-64-v3", __builtin_cpu_supports("x86-64-v3") != 0},
           {"x86-64-v2", __builtin_cpu_supports("x86-64-v2") != 0}}};
}

std::string best_processor() {
  for (const Processor& one : processors())
    if (one.is_here) return one.name;
  return "x86-64";
}

std::string compatibility_of(const std::string& processor) { return "tvm/1+" + processor; }

bool runs_here(std::string_view compatibility) {
  if (compatibility == compatibility_of("x86-64")) return true;
  return std::ranges::any_of(
      processors(), [&](const Processor& one) { return one.is_here && compatibility == compatibility_of(one.name); });
}

/// Where records of schedules are kept from tune to tune; empty where the user has no such place.
std::string records_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return std::string(cache) + "/collage/tvm";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return std::string(home) + "/.cache/collage/tvm";
  return {};
}

const char* name_of(Layout layout) { return layout == Layout::kPlain ? "plain" : "channels_last"; }

/// The settings of a layout: how many trials.
TuningSpace space_of(Layout layout, const Options& options, std::int64_t elements) {
  const std::int64_t least = options.trials;
  const std::vector<std::int64_t> values =
      least == 0 ? std::vector<std::int64_t>{0} : std::vector<std::int64_t>{least, 4 * least, 16 * least};
  std::vector<Settings> seeds;
  for (const std::int64_t value : values) seeds.push_back({value});
  return {.way = name_of(layout),
          .choices = {{.name = "trials", .values = values}},
          .is_legal = [](const Settings&) { return true; },
          .seeds = std::move(seeds),
          .shape = {{"elements", elements}}};
}

std::int64_t elements_of(const Graph& graph, const Region& region) {
  std::int64_t elements = 0;
  for (const ValueId id : region.outputs) elements += element_count(graph.value(id).type.extents());
  return elements;
}

struct Way {
  Layout layout;
  Lowered lowered;
};

/// The region in both layouts; with channels last only where that is another one.
std::expected<std::vector<Way>, Refusal> ways_of(const Graph& graph, const Region& region) {
  std::vector<Way> ways;
  std::optional<Refusal> why;
  for (const Layout layout : {Layout::kChannelsLast, Layout::kPlain}) {
    auto lowered = lower(graph, region, layout);
    if (!lowered) {
      // The format is rather a consequence than a reason.
      if (!why || why->reason == RefusalReason::kFormat) why = lowered.error();
      continue;
    }
    ways.push_back({layout, std::move(*lowered)});
  }
  const auto has_same_ports = [](const Way& a, const Way& b) {
    return a.lowered.input_formats == b.lowered.input_formats && a.lowered.output_formats == b.lowered.output_formats;
  };
  if (ways.size() == 2 && has_same_ports(ways[0], ways[1])) ways.erase(ways.begin());
  if (ways.empty()) return std::unexpected(*why);
  return ways;
}

Variant variant_of(const Way& way, const std::string& name) {
  return {.name = name, .input_formats = way.lowered.input_formats, .output_formats = way.lowered.output_formats};
}

std::expected<std::string, Refusal> bytes_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return refuse(RefusalReason::kCompile, "no file " + path);
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

std::string take_number(const BackendOptions& given, const std::string& key, std::int64_t most, std::int64_t& number) {
  const auto found = given.find(key);
  if (found == given.end()) return {};
  std::string_view rest = found->second;
  const auto value = collage::take_number<std::int64_t>(rest);
  if (!value || !rest.empty() || *value < 0 || *value > most)
    return key + "=" + found->second + "; allowed 0 to " + std::to_string(most);
  number = *value;
  return {};
}

Backend* create(const std::string& instance_name, const BackendOptions& given) {
  Options options;
  std::string problem = take_number(given, "trials", 1000, options.trials);
  if (problem.empty()) problem = take_number(given, "seconds", 3600, options.seconds);
  for (const auto& [key, value] : given) {
    if (!problem.empty() || key == "trials" || key == "seconds") continue;
    options.keeps_process = value == "kept";
    if (key != "process") problem = "unknown option " + key + "; allowed trials, seconds, process";
    if (key == "process" && value != "kept" && value != "each") problem = "process=" + value + "; allowed each, kept";
  }
  return new TvmBackend(instance_name, options, problem);
}

}  // namespace

TvmBackend::TvmBackend(std::string instance_name, const Options& options, std::string problem) : options_(options) {
  info_ = {.name = std::move(instance_name),
           .kind = "tvm",
           .version = COLLAGE_TVM_VERSION,
           .build = std::string(kLowering) + "+" + COLLAGE_TVM_VERSION + "+" + best_processor(),
           .is_compiler = true,
           .takes_pool = true,
           .unusable = std::move(problem)};
}

PartitionRules TvmBackend::rules() const { return partition_rules(); }

std::expected<std::vector<Variant>, Refusal> TvmBackend::support(const Graph& graph, const Region& region,
                                                                 const CompileOptions& options) const {
  if (options.linkable) return refuse(RefusalReason::kStructure, "calls another library");
  if (const auto toolchain = find_toolchain(); !toolchain) return refuse(RefusalReason::kMissing, toolchain.error());
  const auto ways = ways_of(graph, region);
  if (!ways) return std::unexpected(ways.error());
  std::vector<Variant> variants;
  for (const Way& way : *ways)
    variants.push_back(variant_of(
        way, collage::name_of(space_of(way.layout, options_, elements_of(graph, region)), {options_.trials})));
  return variants;
}

std::optional<TuningSpace> TvmBackend::tuning_space(const Graph& graph, const Region& region, const Variant& variant,
                                                    const CompileOptions& options) const {
  if (options.linkable) return std::nullopt;
  for (const Layout layout : {Layout::kChannelsLast, Layout::kPlain}) {
    TuningSpace space = space_of(layout, options_, elements_of(graph, region));
    if (settings_of(space, variant.name)) return space;
  }
  return std::nullopt;
}

std::expected<Artifact, Refusal> TvmBackend::compile_lowered(Lowered lowered, std::int64_t trials, int threads) {
  const auto toolchain = find_toolchain();
  if (!toolchain) return refuse(RefusalReason::kMissing, toolchain.error());
  const std::lock_guard lock(mutex_);
  if (process_ == nullptr || !process_->is_alive() || process_->threads() != threads) {
    process_.reset();
    auto started = CompilerProcess::start(*toolchain, threads);
    if (!started) return refuse(RefusalReason::kCompile, started.error().saw);
    process_ = std::move(*started);
  }
  const Json request = {{"description", to_json(lowered.description)},
                        {"folder", process_->folder().path()},
                        {"cpu", best_processor()},
                        {"threads", threads},
                        {"trials", trials},
                        {"seconds", options_.seconds},
                        {"records", records_folder()},
                        {"seed", 1}};
  const auto plan = process_->ask(request, std::chrono::seconds(options_.seconds) + kPatience);
  const auto object = plan ? bytes_in(process_->folder().file("kernels.so"))
                           : std::expected<std::string, Refusal>(std::unexpected(plan.error()));
  if (!options_.keeps_process) process_.reset();
  if (!object) return std::unexpected(object.error());
  const auto program = program_of(*plan, std::move(lowered.description.constants), threads);
  if (!program) return refuse(RefusalReason::kCompile, program.error().saw);
  return Artifact{.bytes = to_bytes(*program, *object),
                  .compatibility = compatibility_of(best_processor()),
                  .constants = std::move(lowered.constants),
                  .in_place = {},
                  .workspace_bytes = program->scratch_bytes};
}

std::expected<Artifact, Refusal> TvmBackend::compile_one(const CompileRequest& request, const CompileOptions& options) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  auto ways = ways_of(*request.graph, request.region);
  if (!ways) return std::unexpected(ways.error());
  for (Way& way : *ways) {
    const TuningSpace space = space_of(way.layout, options_, elements_of(*request.graph, request.region));
    const auto settings = settings_of(space, request.variant.name);
    if (!settings) continue;
    if (variant_of(way, request.variant.name) != request.variant)
      return refuse(RefusalReason::kFormat, "the variant has other formats");
    return compile_lowered(std::move(way.lowered), settings->front(), options.threads);
  }
  return refuse(RefusalReason::kStructure, "no variant " + request.variant.name);
}

std::vector<std::expected<Artifact, Refusal>> TvmBackend::compile(std::span<const CompileRequest> requests,
                                                                  const CompileOptions& options) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request, options));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> TvmBackend::load(const LoadRequest& request) {
  if (!runs_here(request.artifact.compatibility))
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility), compatibility_of(best_processor()));
  COLLAGE_TRY(const StoredProgram stored, parse_program(request.artifact.bytes));
  return load_kernel(stored, request);
}

std::vector<MaybePrepared> TvmBackend::prepare_constants(std::span<const LoadRequest> kernels) {
  std::vector<MaybePrepared> all;
  for (const LoadRequest& kernel : kernels) {
    auto stored = parse_program(kernel.artifact.bytes);
    if (!stored) {
      all.emplace_back(std::unexpected(stored.error()));
    } else if (stored->program.is_prepared || kernel.constants.empty()) {
      all.emplace_back(std::nullopt);
    } else {
      auto prepared = prepare(*stored, kernel);
      if (prepared)
        all.emplace_back(std::optional(std::move(*prepared)));
      else
        all.emplace_back(std::unexpected(prepared.error()));
    }
  }
  return all;
}

}  // namespace collage::tvm

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "tvm", .create = collage::tvm::create};
  return &module;
}
