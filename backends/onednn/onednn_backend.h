// The oneDNN backend: single operators and fused chains as primitives, in three memory layouts, with elements of f32
// or, in accuracy class fast, of bf16. Each implementation of the library is a variant of its own.
// In:  regions found by the rules in rules.cpp. Out: artifacts (programs as JSON) and kernels.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <string>

#include "backend/extensions/constants_extension.h"
#include "backend/extensions/format_extension.h"
#include "program.h"

namespace collage::onednn {

/// Thread safety: support() may be called from many threads; compile() and load() one at a time, because the library
/// takes the thread count of the calling OpenMP context.
class OneDnnBackend final : public Backend, public ConstantsExtension, public FormatExtension {
 public:
  /// `problem` says what is wrong with the options; empty when nothing is.
  OneDnnBackend(std::string instance_name, std::string problem);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;
  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<ConstantsExtension, FormatExtension>(*this, kind);
  }
  [[nodiscard]] std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) override;
  [[nodiscard]] std::optional<std::size_t> format_bytes(const ValueType& type, const Format& format) const override;
  [[nodiscard]] std::expected<Artifact, Refusal> compile_conversion(const Conversion& conversion,
                                                                    const CompileOptions& options) override;

 private:
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options) const;
  [[nodiscard]] MaybePrepared prepare_one(const LoadRequest& request) const;
  /// Error backend/incompatible-artifact.
  [[nodiscard]] Result<void> check_compatibility(const ArtifactView& artifact) const;
  /// The program to load. Errors backend/incompatible-artifact, backend/bad-artifact, backend/other-threads.
  [[nodiscard]] Result<StoredProgram> program_of(const LoadRequest& request) const;

  BackendInfo info_;
  std::string compatibility_;
  dnnl::engine engine_;
};

}  // namespace collage::onednn
