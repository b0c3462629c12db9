#include "serve/model.h"

#include <sched.h>

#include <algorithm>

#include <fmt/format.h>

#include "serve/batch_run.h"
#include "serve/datatype.h"

namespace collage {
namespace {

double seconds(ServeClock::duration time) { return std::chrono::duration<double>(time).count(); }

Result<void> check_types(const std::vector<TensorPort>& ports, const char* kind) {
  for (const TensorPort& port : ports)
    if (port.type.kind != ValueKind::kTensor || datatype_of(port.type.element).empty())
      return fail(ExitCode::kUnsupported, "serve/unsupported-type", fmt::format("{} {}", kind, port.name),
                  to_string(port.type), fmt::format("tensors of {}", kDatatypes));
  return {};
}

std::int64_t rows_in(const std::vector<PendingRequest*>& batch) {
  std::int64_t rows = 0;
  for (const PendingRequest* pending : batch) rows += pending->rows;
  return rows;
}

}  // namespace

int usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

Model::Model(std::unique_ptr<Registry> registry, LoadedPlan plan, const ModelOptions& options, ModelMetrics& metrics)
    : registry_(std::move(registry)),
      plan_(std::move(plan)),
      options_(options),
      metrics_(metrics),
      queue_(options.queue_limit) {
  if (options_.sessions <= 0)
    options_.sessions = std::max(1, usable_processors() / std::max(1, plan_.threads()) / std::max(1, options_.models));
}

Result<std::shared_ptr<Model>> Model::load(const std::string& path, const ModelOptions& options,
                                           ModelMetrics& metrics) {
  auto registry =
      std::make_unique<Registry>(options.backend_places.empty() ? default_module_folders() : options.backend_places);
  COLLAGE_TRY(LoadedPlan plan, LoadedPlan::load(path, *registry, {.machine = {}, .signers = options.signers}));
  COLLAGE_TRY_VOID(check_types(plan.inputs(), "input"));
  COLLAGE_TRY_VOID(check_types(plan.outputs(), "output"));
  std::shared_ptr<Model> model(new Model(std::move(registry), std::move(plan), options, metrics));
  COLLAGE_TRY_VOID(model->make_sessions());
  model->start();
  return model;
}

Result<void> Model::make_sessions() {
  for (int s = 0; s < options_.sessions; ++s) {
    COLLAGE_TRY(Session session, plan_.make_session());
    sessions_.push_back(std::move(session));
  }
  if (!options_.joins) return {};
  rule_ = batch_rule_of(plan_.cases());
  if (rule_ && !rows_are_independent(plan_, sessions_.front(), *rule_)) rule_.reset();
  return {};
}

void Model::start() {
  workers_.reserve(sessions_.size());
  for (Session& session : sessions_) workers_.emplace_back([this, &session] { work(session); });
}

JoinPolicy Model::join_policy() const {
  if (!rule_) return {};
  return {.joins = [this](const std::vector<PendingRequest*>& taken,
                          const PendingRequest& next) { return may_join(plan_.cases(), *rule_, taken, next); },
          .is_full = [this](const std::vector<PendingRequest*>& taken) { return rows_in(taken) >= rule_->most; },
          .delay = options_.batch_delay};
}

void Model::work(Session& session) {
  const JoinPolicy policy = join_policy();
  for (std::vector<PendingRequest*> batch = queue_.take(policy); !batch.empty(); batch = queue_.take(policy)) {
    const auto begun = ServeClock::now();
    RunOptions options;
    if (options_.run_limit.count() > 0) options.deadline = later(options_.run_limit);
    run_batch(plan_, session, batch, options);
    const auto ended = ServeClock::now();
    metrics_.compute_seconds.add(seconds(ended - begun));
    metrics_.batch_requests.add(static_cast<double>(batch.size()));
    for (PendingRequest* pending : batch) {
      metrics_.queue_seconds.add(seconds(begun - pending->arrived));
      queue_.finish(*pending);
    }
  }
}

void Model::close() {
  queue_.close();
  for (std::thread& worker : workers_) worker.join();
  workers_.clear();
}

Model::~Model() { close(); }

}  // namespace collage
