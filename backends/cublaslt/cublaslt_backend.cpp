#include "backends/cublaslt/cublaslt_backend.h"

#include <fmt/format.h>

#include <array>

#include "backends/blas/analysis.h"
#include "backends/blas/lower.h"
#include "backends/blas/program.h"
#include "backends/blas/rules.h"
#include "backends/common/cuda/gpu_instance.h"
#include "backends/common/cuda/workspace.h"
#include "backends/cublaslt/kernel.h"
#include "backends/cublaslt/matmul.h"

namespace collage::cublaslt {
namespace {

constexpr const char* kBuild = "cublaslt-1";  // part of cost keys: to be raised when kernels become faster or slower
constexpr std::array<std::string_view, 1> kOptions = {"library"};
/// Proposals of the library that are measured.
constexpr int kProposals = 3;
/// The most workspace that a proposal may ask for.
constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

using blas::refuse;

/// The region as one product that the library computes in one call, in one format of images.
struct Way {
  std::string name;  ///< "gemm.plain"
  blas::Product product;
  blas::Lowered lowered;
  Added added;
};

std::expected<Way, Refusal> way_in(const Graph& graph, const Region& region, const blas::Analysis& analysis,
                                   const Format& format) {
  auto lowered = blas::lower(graph, region, analysis, format);
  if (!lowered) return std::unexpected(lowered.error());
  auto product = blas::turned_for(lowered->product, blas::Method::kGemm);
  if (!product) return refuse(RefusalReason::kStructure, "a factor with neither rows nor columns dense");
  const auto added = added_of(*product);
  if (!added) return refuse(RefusalReason::kStructure, "more than one call of the library");
  return Way{.name = format.is_plain() ? "gemm.plain" : "gemm.nhwc",
             .product = *std::move(product),
             .lowered = *std::move(lowered),
             .added = *added};
}

/// Never empty. The bias of a convolution is one for the library where channels come last.
std::expected<std::vector<Way>, Refusal> ways_of(const Graph& graph, const Region& region) {
  const auto analysis = blas::analyse(graph, region);
  if (!analysis) return std::unexpected(analysis.error());
  std::vector<Format> formats = {plain()};
  if (analysis->head == blas::Head::kConvolution && can_be_channels_last(graph.value(analysis->product).type))
    formats.push_back(channels_last());
  std::vector<Way> ways;
  std::optional<Refusal> why;
  for (const Format& format : formats) {
    auto way = way_in(graph, region, *analysis, format);
    if (way)
      ways.push_back(*std::move(way));
    else if (!why)
      why = way.error();
  }
  if (ways.empty()) return std::unexpected(*why);
  return ways;
}

Variant variant_of(const Way& way, int rank) {
  return {.name = fmt::format("{}@{}", way.name, rank),
          .input_formats = way.lowered.input_formats,
          .output_formats = {way.lowered.output_format}};
}

/// A way, and the place in the library's order, that a variant names.
struct Chosen {
  Way way;
  int rank = 0;
};
std::optional<Chosen> chosen_by(const Variant& variant, const std::vector<Way>& ways) {
  for (const Way& way : ways)
    for (int rank = 0; rank < kProposals; ++rank)
      if (variant_of(way, rank) == variant) return Chosen{.way = way, .rank = rank};
  return std::nullopt;
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
  if (std::string fault = cuda::fault_of_version("cuBLASLt", library_.version() / 10000, (*device)->facts());
      !fault.empty())
    return std::unexpected(std::move(fault));
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
  const auto ways = ways_of(graph, region);
  if (!ways) return std::unexpected(ways.error());
  std::vector<Variant> variants;
  for (const Way& way : *ways)
    for (int rank = 0; rank < kProposals; ++rank) variants.push_back(variant_of(way, rank));
  return variants;
}

Result<Handle> CublasLtBackend::handle() {
  COLLAGE_TRY(const cuda::CurrentContext current, device_->use());
  const std::scoped_lock lock(mutex_);
  if (handle_ == nullptr) COLLAGE_TRY_VOID(library_.check(library_.create(&handle_), "start"));
  return handle_;
}

std::expected<Artifact, Refusal> CublasLtBackend::compile_one(const CompileRequest& request,
                                                              const CompileOptions& options) {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  const auto ways = ways_of(*request.graph, request.region);
  if (!ways) return std::unexpected(ways.error());
  auto chosen = chosen_by(request.variant, *ways);
  if (!chosen) return refuse(RefusalReason::kStructure, "no variant " + request.variant.name + " in these formats");
  Way& way = chosen->way;
  const bool uses_tf32 = options.accuracy == Accuracy::kFast;
  const auto proposals = [&]() -> Result<std::vector<Proposal>> {
    COLLAGE_TRY(const cuda::CurrentContext current, device_->use());
    COLLAGE_TRY(const Handle own, handle());
    COLLAGE_TRY(Matmul matmul, Matmul::create(library_, way.product, way.added, uses_tf32));
    return matmul.proposals(own, kProposals, kWorkspaceBytes);
  }();
  if (!proposals) return refuse(RefusalReason::kCompile, to_string(proposals.error()));
  if (static_cast<std::size_t>(chosen->rank) >= proposals->size())
    return refuse(RefusalReason::kStructure, fmt::format("the library proposes {} algorithms", proposals->size()));
  const Proposal& proposal = (*proposals)[static_cast<std::size_t>(chosen->rank)];
  const StoredProduct stored{
      .program = blas::to_json({.method = blas::Method::kGemm, .product = std::move(way.product)}),
      .algorithm = proposal.algorithm,
      .uses_tf32 = uses_tf32,
      .workspace_bytes = proposal.workspace_bytes};
  return Artifact{.bytes = to_bytes(stored),
                  .compatibility = compatibility_,
                  .constants = std::move(way.lowered.constants),
                  .in_place = std::move(way.lowered.in_place),
                  .workspace_bytes = cuda::padded_workspace(proposal.workspace_bytes)};
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
