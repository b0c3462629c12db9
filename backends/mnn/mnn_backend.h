// The backend of MNN: convolutions, products, poolings and element-wise operators in f32, alone and in longer regions
// with plain ports or, around convolutions and poolings, in channels_last. The library converts to blocks of channels
// inside.
// In:  regions found by the rules in rules.cpp. Out: artifacts (a net without weights, artifact.h) and kernels.
// How: each way in which the library computes convolutions is a variant: directly, with Strassen's method alone
//       ("winograd=0"), with Winograd's method for two pixels at once ("winograd=1"), and in accuracy class fast for as
//       many as it likes ("winograd=3"), which errs by a thousandth of the largest output.
// Source: MNN 3.3.0.
#pragma once

#include "backend/backend.h"
#include "backends/mnn/artifact.h"

namespace collage::mnn {

/// Thread safety: all functions may be called from many threads.
class MnnBackend final : public Backend {
 public:
  /// `problem` says what is wrong with the options; empty when nothing is.
  MnnBackend(std::string instance_name, std::string problem);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  /// Creates a session of each net.
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  /// Errors backend/incompatible-artifact, backend/bad-artifact, backend/other-threads.
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;

 private:
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options) const;

  BackendInfo info_;
  std::string compatibility_;
};

}  // namespace collage::mnn
