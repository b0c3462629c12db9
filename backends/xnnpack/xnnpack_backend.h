// The XNNPACK backend: regions of f32 operators as one subgraph each, activations plain or with channels last.
// In:  regions found by the rules in rules.cpp. Out: artifacts (programs as JSON) and kernels.
// Cost: support() examines shapes only; compile() makes the library's objects once, to see whether it takes them.
#pragma once

#include <memory>
#include <string>

#include "backend/extensions/constants_extension.h"
#include "pools.h"
#include "program.h"

namespace collage::xnnpack {

/// Thread safety: all functions may be called from many threads.
class XnnpackBackend final : public Backend, public ConstantsExtension {
 public:
  /// `problem` says what is wrong with the options; empty when nothing is.
  XnnpackBackend(std::string instance_name, const std::string& problem);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;
  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<ConstantsExtension>(*this, kind);
  }
  [[nodiscard]] std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) override;

 private:
  /// Errors backend/unusable, backend/incompatible-artifact, backend/bad-artifact.
  [[nodiscard]] Result<Program> program_of(const LoadRequest& request) const;
  [[nodiscard]] MaybePrepared prepare_one(const LoadRequest& request) const;

  BackendInfo info_;
  Pools pools_;
};

}  // namespace collage::xnnpack
