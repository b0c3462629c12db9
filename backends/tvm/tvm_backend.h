// The backend of TVM: regions of f32 operators as kernels that its tuner MetaSchedule has found by trying.
// In:  regions found by the rules in rules.cpp. Out: artifacts (machine code and the order of its calls, program.h) and
//       kernels, which need neither TVM nor Python.
// How: a region is described (description.h) to a Python process (compiler_process.h), which tunes each of its kernels
//       by so many trials and returns code. Variants are LAYOUT/trials=N. Those offered take Options::trials; more are
//       settings that a tune's search for schedules may ask for (TuningExtension), which begin where fewer ended.
// Cost: compiling takes one second, and a quarter of a second or more for each trial, at most Options::seconds.
// Source: apache-tvm 0.27.0.post1.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backend/extensions/constants_extension.h"
#include "backend/extensions/tuning_extension.h"
#include "backends/tvm/compiler_process.h"

namespace collage::tvm {

struct Lowered;

struct Options {
  std::int64_t trials = 16;    ///< schedules tried for each kernel of a variant that is offered; 0 = none is tuned
  std::int64_t seconds = 25;   ///< for all trials of a region
  bool keeps_process = false;  ///< one process compiles all regions, instead of one for each
};

/// Thread safety: all functions may be called from many threads; compile() then does one region after the other.
class TvmBackend final : public Backend, public ConstantsExtension, public TuningExtension {
 public:
  /// `problem` says what is wrong with the options; empty when nothing is.
  TvmBackend(std::string instance_name, const Options& options, std::string problem);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  /// Errors backend/incompatible-artifact, backend/bad-artifact, backend/other-threads.
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<ConstantsExtension, TuningExtension>(*this, kind);
  }
  [[nodiscard]] std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) override;
  [[nodiscard]] std::optional<TuningSpace> tuning_space(const Graph& graph, const Region& region,
                                                        const Variant& variant,
                                                        const CompileOptions& options) const override;

 private:
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options);
  [[nodiscard]] std::expected<Artifact, Refusal> compile_lowered(Lowered lowered, std::int64_t trials, int threads);

  BackendInfo info_;
  Options options_;
  std::mutex mutex_;
  std::unique_ptr<CompilerProcess> process_;
};

}  // namespace collage::tvm
