#include "blas_backend.h"

#include <algorithm>

#include "backend/registry.h"
#include "kernel.h"
#include "lower.h"
#include "rules.h"

namespace collage::blas {
namespace {

constexpr const char* kBuild = "1";  // part of cost keys: to be raised when kernels become faster or slower

/// One way to run a region.
struct Way {
  Variant variant;
  Program program;
  Lowered lowered;
};

std::string name_of_way(Method method, const Format& format) {
  return std::string(name_of(method)) + '.' + format.name;
}

/// All formats and routines in which the region is a product.
std::expected<std::vector<Way>, Refusal> ways_of(const Graph& graph, const Region& region) {
  const auto analysis = analyse(graph, region);
  if (!analysis) return std::unexpected(analysis.error());
  std::vector<Format> formats = {plain()};
  if (analysis->head == Head::kConvolution && can_be_channels_last(graph.value(analysis->product).type))
    formats.push_back(channels_last());
  std::vector<Way> ways;
  Refusal why{RefusalReason::kStructure, "a factor with neither rows nor columns dense, or longer than 32 bits count"};
  for (const Format& format : formats) {
    auto lowered = lower(graph, region, *analysis, format);
    if (!lowered) {
      why = lowered.error();
      continue;
    }
    for (const Method method : {Method::kGemm, Method::kGemv}) {
      auto product = turned_for(lowered->product, method);
      if (!product) continue;
      Variant variant{.name = name_of_way(method, format),
                      .input_formats = lowered->input_formats,
                      .output_formats = {lowered->output_format}};
      ways.push_back({std::move(variant), Program{method, std::move(*product)}, *lowered});
    }
  }
  if (ways.empty()) return std::unexpected(why);
  return ways;
}

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  std::string name = library_names().front();
  std::string path;
  std::string problem;
  for (const auto& [key, value] : options) {
    if (key == "lib")
      name = value;
    else if (key == "path")
      path = value;
    else
      problem = "unknown option '" + key + "'; allowed lib, path";
  }
  const std::vector<std::string> known = library_names();
  if (problem.empty() && std::ranges::find(known, name) == known.end()) {
    problem = "unknown library '" + name + "'; allowed";
    for (const std::string& one : known) problem += ' ' + one;
  }
  std::expected<Library, std::string> library = std::unexpected(problem);
  if (problem.empty()) library = open_library(name, path);
  return new BlasBackend(instance_name, name, std::move(library));
}

}  // namespace

BlasBackend::BlasBackend(std::string instance_name, const std::string& library_name,
                         std::expected<Library, std::string> library)
    : compatibility_("blas/1+" + library_name) {
  info_ = {.name = std::move(instance_name), .kind = "blas", .version = "", .build = kBuild};
  if (!library) {
    info_.unusable = library.error();
    return;
  }
  library_ = *std::move(library);
  info_.version = library_.version;
  info_.build = std::string(kBuild) + '+' + library_.build;
}

PartitionRules BlasBackend::rules() const { return partition_rules(); }

std::expected<std::vector<Variant>, Refusal> BlasBackend::support(const Graph& graph, const Region& region,
                                                                  const CompileOptions&) const {
  auto ways = ways_of(graph, region);
  if (!ways) return std::unexpected(ways.error());
  std::vector<Variant> variants;
  for (Way& way : *ways) variants.push_back(std::move(way.variant));
  return variants;
}

std::expected<Artifact, Refusal> BlasBackend::compile_one(const CompileRequest& request) const {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  auto ways = ways_of(*request.graph, request.region);
  if (!ways) return std::unexpected(ways.error());
  const auto named = [&](const Way& way) { return way.variant.name == request.variant.name; };
  const auto way = std::ranges::find_if(*ways, named);
  if (way == ways->end()) return refuse(RefusalReason::kStructure, "no variant " + request.variant.name);
  if (way->variant != request.variant) return refuse(RefusalReason::kFormat, "the variant has other formats");
  return Artifact{.bytes = to_json(way->program),
                  .compatibility = compatibility_,
                  .constants = std::move(way->lowered.constants),
                  .in_place = std::move(way->lowered.in_place),
                  .workspace_bytes = 0};
}

std::vector<std::expected<Artifact, Refusal>> BlasBackend::compile(std::span<const CompileRequest> requests,
                                                                   const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> BlasBackend::load(const LoadRequest& request) {
  if (!info_.unusable.empty()) return fail(ExitCode::kUnsupported, "backend/unusable", info_.name, info_.unusable);
  if (request.artifact.compatibility != compatibility_)
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility), compatibility_);
  COLLAGE_TRY(Program program, read_program(request));
  return make_kernel(library_, std::move(program), request);
}

}  // namespace collage::blas

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "blas", .create = collage::blas::create};
  return &module;
}
