#include "backends/cublaslt/cublaslt_backend.h"

#include <fmt/format.h>

#include <array>

#include "backends/blas/analysis.h"
#include "backends/blas/lower.h"
#include "backends/blas/program.h"
#include "backends/blas/rules.h"
#include "backends/common/cuda/gpu_instance.h"
#include "backends/cublaslt/kernel.h"
#include "backends/cublaslt/matmul.h"
#include "base/number_text.h"

namespace collage::cublaslt {
namespace {

constexpr const char* kBuild = "cublaslt-1";  // part of cost keys: to be raised when kernels become faster or slower
constexpr std::array<std::string_view, 1> kOptions = {"library"};
/// Proposals of the library that are measured.
constexpr int kProposals = 3;
/// The most workspace that a proposal may ask for.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;
constexpr std::string_view kWay = "gemm.plain@";

using blas::refuse;

/// The region as one product that the library computes in one call, in plain format.
struct Way {
  blas::Product product;
  blas::Lowered lowered;
  Added added;
};

std::expected<Way, Refusal> way_of(const Graph& graph, const Region& region) {
  const auto analysis = blas::analyse(graph, region);
  if (!analysis) return std::unexpected(analysis.error());
  auto lowered = blas::lower(graph, region, *analysis, plain());
  if (!lowered) return std::unexpected(lowered.error());
  auto product = blas::turned_for(lowered->product, blas::Method::kGemm);
  if (!product) return refuse(RefusalReason::kStructure, "a factor with neither rows nor columns dense");
  const auto added = added_of(*product);
  if (!added) return refuse(RefusalReason::kStructure, "more than one call of the library");
  return Way{.product = *std::move(product), .lowered = *std::move(lowered), .added = *added};
}

Variant variant_of(const Way& way, int rank) {
  return {.name = std::string(kWay) + std::to_string(rank),
          .input_formats = way.lowered.input_formats,
          .output_formats = {way.lowered.output_format}};
}

/// The place in the library's order that a variant names; nothing for other names.
std::optional<int> rank_of(const Variant& variant) {
  if (!variant.name.starts_with(kWay)) return std::nullopt;
  const auto rank = number_in<int>(std::string_view(variant.name).substr(kWay.size()));
  return rank && *rank >= 0 && *rank < kProposals ? rank : std::nullopt;
}

}  // namespace

CublasLtBackend::CublasLtBackend(std::string instance_name, const BackendOptions& options) {
  info_ = {.name = std::move(instance_name), .kind = "cublaslt", .version = "none", .build = kBuild};
  if (const auto ready = open(options); !ready) info_.unusable = ready.error();
}

std::expected<void, std::string> CublasLtBackend::open(const BackendOptions& options) {
  auto device = cuda::open_gpu(options, kOptions, info_);
  if (!device) return std::unexpected(device.error());
  const auto library = open_library(cuda::option_of(options, "library"));
  if (!library) return std::unexpected(library.error());
  library_ = *library;
  info_.version = library_.version_text();
  info_.build = fmt::format("{} {} {}", kBuild, info_.version, (*device)->facts().print());
  // Algorithms are numbers of one version, chosen for one GPU.
  compatibility_ = fmt::format("cublaslt/1 {} {}", info_.version, (*device)->facts().name);
  device_ = *std::move(device);
  return {};
}

PartitionRules CublasLtBackend::rules() const { return blas::partition_rules(); }

Extension* CublasLtBackend::extension(ExtensionKind kind) {
  return device_ ? select_extension<DeviceExtension>(*this, kind) : nullptr;
}

std::expected<std::vector<Variant>, Refusal> CublasLtBackend::support(const Graph& graph, const Region& region,
                                                                      const CompileOptions&) const {
  const auto way = way_of(graph, region);
  if (!way) return std::unexpected(way.error());
  std::vector<Variant> variants;
  for (int rank = 0; rank < kProposals; ++rank) variants.push_back(variant_of(*way, rank));
  return variants;
}

Result<Handle> CublasLtBackend::handle() {
  COLLAGE_TRY_VOID(device_->use());
  const std::scoped_lock lock(mutex_);
  if (handle_ == nullptr) COLLAGE_TRY_VOID(library_.check(library_.create(&handle_), "start"));
  return handle_;
}

std::expected<Artifact, Refusal> CublasLtBackend::compile_one(const CompileRequest& request,
                                                              const CompileOptions& options) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  auto way = way_of(*request.graph, request.region);
  if (!way) return std::unexpected(way.error());
  const auto rank = rank_of(request.variant);
  if (!rank) return refuse(RefusalReason::kStructure, "no variant " + request.variant.name);
  if (variant_of(*way, *rank) != request.variant)
    return refuse(RefusalReason::kFormat, "the variant has other formats");
  const bool uses_tf32 = options.accuracy == Accuracy::kFast;
  const auto proposals = [&]() -> Result<std::vector<Proposal>> {
    COLLAGE_TRY(const Handle own, handle());
    COLLAGE_TRY(const Matmul matmul, Matmul::create(library_, way->product, way->added, uses_tf32));
    return matmul.proposals(own, kProposals, kWorkspaceBytes);
  }();
  if (!proposals) return refuse(RefusalReason::kCompile, to_string(proposals.error()));
  if (static_cast<std::size_t>(*rank) >= proposals->size())
    return refuse(RefusalReason::kStructure, fmt::format("the library proposes {} algorithms", proposals->size()));
  const Proposal& chosen = (*proposals)[static_cast<std::size_t>(*rank)];
  const StoredProduct stored{
      .program = blas::to_json({.method = blas::Method::kGemm, .product = std::move(way->product)}),
      .algorithm = chosen.algorithm,
      .uses_tf32 = uses_tf32,
      .workspace_bytes = chosen.workspace_bytes};
  return Artifact{.bytes = to_bytes(stored),
                  .compatibility = compatibility_,
                  .constants = std::move(way->lowered.constants),
                  .in_place = std::move(way->lowered.in_place),
                  .workspace_bytes = chosen.workspace_bytes};
}

std::vector<std::expected<Artifact, Refusal>> CublasLtBackend::compile(std::span<const CompileRequest> requests,
                                                                       const CompileOptions& options) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request, options));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> CublasLtBackend::load(const LoadRequest& request) {
  if (request.artifact.compatibility != compatibility_)
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility), compatibility_);
  COLLAGE_TRY(const Handle own, handle());
  return make_kernel(*device_, library_, own, request);
}

namespace {

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new CublasLtBackend(instance_name, options);
}

}  // namespace
}  // namespace collage::cublaslt

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "cublaslt", .create = collage::cublaslt::create};
  return &module;
}
