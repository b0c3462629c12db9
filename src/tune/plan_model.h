// A plan made ready to run on tensors: a session and one context. One thread at a time.
// In: a plan, tensors. Out: tensors.
// Cost: loading, then the runs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/tensor.h"
#include "runtime/session.h"

namespace collage {

class PlanModel {
 public:
  /// `threads` is the plan's own number, or 0. Error plan/other-threads (usage) for another one.
  [[nodiscard]] static Result<PlanModel> load(const std::string& path, Registry& registry, int threads = 0);
  [[nodiscard]] static Result<PlanModel> load(RealisedPlan plan, Registry& registry, int threads = 0);

  /// Copies inputs in; they must fit the plan's in number, type and shape. A plan whose inputs are open gets a context
  /// for the shapes given, which must come before the first run.
  Result<void> set_inputs(std::span<const Tensor> inputs);
  Result<void> run() { return context_->run(); }
  /// Copies of the outputs of the last run.
  [[nodiscard]] Result<std::vector<Tensor>> outputs() const;
  /// Median nanoseconds of each step over `runs` runs.
  [[nodiscard]] Result<std::vector<std::int64_t>> profile(int runs);

  [[nodiscard]] const Session& session() const { return session_; }

 private:
  explicit PlanModel(Session session) : session_(std::move(session)) {}
  static Result<PlanModel> made_of(Session session);

  Session session_;
  std::optional<Context> context_;  ///< nothing before the inputs of an open plan are known
};

}  // namespace collage
