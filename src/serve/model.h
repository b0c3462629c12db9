// A loaded plan with its queue and its workers, each with a session.
// In:  a plan file; requests. Out: requests with outputs or errors.
// Threads: submit() and wait() of the queue from any thread.
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/run/loaded_plan.h"
#include "serve/batch_rule.h"
#include "serve/metrics.h"
#include "serve/request_queue.h"

namespace collage {

struct ModelOptions {
  int sessions = 0;  ///< runs at once; 0 = as many as the processors are enough for, divided by `models`
  int models = 1;    ///< how many models share the processors
  std::size_t queue_limit = 256;
  std::chrono::microseconds batch_delay{0};
  std::chrono::microseconds run_limit{0};   ///< of a run; 0 = as long as it takes
  bool joins = true;                        ///< requests may be run together
  std::vector<std::string> backend_places;  ///< empty = default_module_folders()
  Signers signers;                          ///< one of them must have signed the plan; empty = any plan
};

class Model {
 public:
  /// Loads the plan and starts the workers. Errors: those of LoadedPlan::load(); serve/unsupported-type for inputs or
  /// outputs that the protocol cannot carry.
  [[nodiscard]] static Result<std::shared_ptr<Model>> load(const std::string& path, const ModelOptions& options,
                                                           ModelMetrics& metrics);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  /// Ends as close() does.
  ~Model();

  [[nodiscard]] const LoadedPlan& plan() const { return plan_; }
  [[nodiscard]] const std::optional<BatchRule>& batch_rule() const { return rule_; }
  [[nodiscard]] std::size_t sessions() const { return sessions_.size(); }
  [[nodiscard]] RequestQueue& queue() { return queue_; }

  /// Takes in no more requests, finishes those it has, ends the workers. By one thread.
  void close();

 private:
  Model(std::unique_ptr<Registry> registry, LoadedPlan plan, const ModelOptions& options, ModelMetrics& metrics);
  [[nodiscard]] Result<void> make_sessions();
  void start();
  void work(Session& session);
  [[nodiscard]] JoinPolicy join_policy() const;

  std::unique_ptr<Registry> registry_;
  LoadedPlan plan_;
  ModelOptions options_;
  ModelMetrics& metrics_;
  std::optional<BatchRule> rule_;
  RequestQueue queue_;
  std::vector<Session> sessions_;
  std::vector<std::thread> workers_;
};

/// Processors that this process may use.
[[nodiscard]] int usable_processors();

}  // namespace collage
