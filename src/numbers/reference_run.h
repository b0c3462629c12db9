// A small graph compiled and loaded on one backend, to be run repeatedly with different inputs. It computes expected
// outputs.
// In:  a graph whose inputs and outputs are tensors of known rank, of open shape if the backend takes that. Out: its
//      outputs.
// Cost: a compilation and a load when it is made; for each run, copies of inputs and outputs.
// Not here: the record of the whole model (record_job.h).
#pragma once

#include <memory>

#include "backend/backend.h"
#include "numbers/guarded_bytes.h"

namespace collage {

class ReferenceRun {
 public:
  /// Errors of the backend; measure/reference when it refuses or throws. The graph and the backend outlive the run.
  [[nodiscard]] static Result<ReferenceRun> create(Backend& backend, const Graph& graph);

  /// One tensor per distinct output of the graph, in order. `inputs` as the graph's. Errors as above.
  [[nodiscard]] Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs);
  /// Nanoseconds of the last run.
  [[nodiscard]] std::int64_t run_ns() const { return run_ns_; }

 private:
  ReferenceRun() = default;
  [[nodiscard]] Result<void> load(Backend& backend, const Graph& graph);
  /// For inputs of open shape: a call for these extents.
  [[nodiscard]] Result<void> bind_at(const std::vector<Tensor>& inputs);
  [[nodiscard]] Result<Tensor> output(std::size_t o);

  std::vector<GuardedBytes> inputs_;
  std::vector<GuardedBytes> outputs_;
  std::vector<ValueType> types_;  ///< of the outputs
  GuardedBytes workspace_;
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Call> call_;
  std::int64_t run_ns_ = 0;
  bool is_open_ = false;  ///< some input or output has extents that only a run decides
};

}  // namespace collage
