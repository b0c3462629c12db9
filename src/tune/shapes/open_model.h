// Measures the kernels that a backend compiles for a region with open dimensions, and makes one artifact of the best
// ones.
// In:  a graph, the domain, a backend with an OpenCompiler. Out: an artifact, and what was measured.
// How: all kernels are compiled into one artifact and run at sampled shapes on generated numbers; a kernel whose
//       results differ from the others' is excluded. Runs in a worker, because third-party code computes.
// Cost: a second of compiling for each ten kernels, then some milliseconds for each kernel and point.
#pragma once

#include <memory>

#include "base/pages.h"
#include "tune/shapes/kernel_choice.h"

namespace collage {

/// Buffers for one point: inputs with numbers in them, room for the workspace, no outputs.
struct PointMemory {
  std::vector<Pages> pages;
  Buffers buffers;
  /// Another buffer. Error tune/out-of-memory.
  [[nodiscard]] Result<void*> add(std::size_t bytes);
};

/// Several kernels, loaded and timed at any point of the domain.
class KernelBench {
 public:
  /// `backend` loads the artifact. Errors of load(), backend/bad-artifact when it is no MultiKernel.
  [[nodiscard]] static Result<KernelBench> create(Backend& backend, const OpenRequest& request,
                                                  const Artifact& artifact, const CompileOptions& options);

  [[nodiscard]] const MultiKernel& kernels() const { return *kernels_; }
  /// Nanoseconds of each kernel asked for, timed in turns; infinity for the others and for one that does not take the
  /// shape or is wrong. Errors of runs.
  [[nodiscard]] Result<KernelTimes> time(const ShapePoint& point, const std::vector<bool>& asked) const;
  [[nodiscard]] std::vector<Extents> extents_at(const ShapePoint& point) const;
  [[nodiscard]] Result<PointMemory> memory_at(const ShapePoint& point) const;

 private:
  KernelBench() = default;
  OpenRequest request_;
  CompileOptions options_;
  std::size_t workspace_bytes_ = 0;
  std::shared_ptr<const Kernel> kernel_;
  const MultiKernel* kernels_ = nullptr;
};

struct OpenModelArtifact {
  Artifact artifact;
  std::vector<std::string> kernels;  ///< in it
  KernelChoice choice;
};

/// Errors: backend/refused with the backend's reason, and those of loading and running.
[[nodiscard]] Result<OpenModelArtifact> compile_open(Backend& backend, const OpenRequest& request,
                                                     const CompileOptions& options,
                                                     const KernelChoiceOptions& choice = {});

}  // namespace collage
