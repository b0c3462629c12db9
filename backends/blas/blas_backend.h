// A backend for any library with the CBLAS interface: matrix products, and operators that can be computed as one.
// In:  regions found by the rules in rules.cpp. Out: artifacts (a product as JSON) and kernels.
// Cost: support() and compile() examine shapes only; the library is opened when the instance is made.
// Source: CBLAS.
#pragma once

#include <string>

#include "backend/backend.h"
#include "library.h"

namespace collage::blas {

/// Thread safety: support(), compile() and load() may be called from many threads. Kernels that run at once on
/// different numbers of threads disturb each other's numbers: OpenBLAS and BLIS have one for the process.
class BlasBackend final : public Backend {
 public:
  /// `library` is what is behind the instance, or why nothing is. `library_name` is part of compatibility.
  BlasBackend(std::string instance_name, const std::string& library_name, std::expected<Library, std::string> library);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;

 private:
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request) const;

  BackendInfo info_;
  std::string compatibility_;
  Library library_;
};

}  // namespace collage::blas
