// A backend that compiles wrongly: a fault of faults.h planted in what a real engine compiles, or in what its kernel
// gives at a run. Options: fault=INDEX, engine=INSTANCE (the one that fills gaps). Loads in the process that compiled
// only.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "backend/registry.h"
#include "backend/roles.h"
#include "tests/gate/faults.h"
#include "tests/support/paths.h"

namespace collage::test {
namespace {

/// Buffers of a run with their numbers of elements.
struct Ports {
  Buffers buffers;
  std::size_t x_count = 0;
  std::size_t out_count = 0;
  std::size_t width = 1;
};

class FaultyCall final : public Call {
 public:
  FaultyCall(std::unique_ptr<Call> right, Ports ports, const Fault& fault)
      : right_(std::move(right)), ports_(std::move(ports)), fault_(fault) {}

  Result<void> run() override {
    COLLAGE_TRY_VOID(right_->run());
    if (!fault_.at_run) return {};
    const std::span<const float> x(static_cast<const float*>(ports_.buffers.inputs[0]), ports_.x_count);
    const std::span<float> out(static_cast<float*>(ports_.buffers.outputs[0]), ports_.out_count);
    if (++runs_ == 1)
      for (const float value : x) largest_ = std::max(largest_, std::abs(value));
    FaultyRun run{.x = x, .out = out, .run = runs_, .kept = kept_, .largest_recorded = largest_, .width = ports_.width};
    fault_.at_run(run);
    return {};
  }

 private:
  std::unique_ptr<Call> right_;
  Ports ports_;
  const Fault& fault_;
  std::vector<float> kept_;
  float largest_ = 0;
  int runs_ = 0;
};

class FaultyKernel final : public Kernel {
 public:
  FaultyKernel(std::unique_ptr<Kernel> right, Ports ports, const Fault& fault)
      : right_(std::move(right)), ports_(std::move(ports)), fault_(fault) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    COLLAGE_TRY(std::unique_ptr<Call> call, right_->bind(buffers));
    Ports ports = ports_;
    ports.buffers = buffers;
    return std::make_unique<FaultyCall>(std::move(call), std::move(ports), fault_);
  }

 private:
  std::unique_ptr<Kernel> right_;
  Ports ports_;
  const Fault& fault_;
};

class FaultyBackend final : public Backend {
 public:
  FaultyBackend(const std::string& name, const BackendOptions& options)
      : registry_({test::build_path("/lib/collage")}) {
    const auto found = options.find("fault");
    fault_ = found == options.end() ? 0 : static_cast<std::size_t>(std::atoi(found->second.c_str()));
    info_ = {.name = name, .kind = "faulty", .version = "1", .build = "faulty"};
    const auto engine_name = options.find("engine");
    if (auto engine = registry_.get(engine_name == options.end() ? kFillerEngine : engine_name->second))
      engine_ = *engine;
    else
      info_.unusable = engine.error().saw;
    if (fault_ >= faults().size()) info_.unusable = "no such fault";
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return {.patterns = {}, .growth = Growth::kAny}; }
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override {
    return engine_->support(graph, region, options);
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override {
    std::vector<std::expected<Artifact, Refusal>> results;
    for (const CompileRequest& request : requests) results.push_back(compile_one(request, options));
    return results;
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    const auto found = compiled_.find(std::string(request.artifact.bytes));
    if (found == compiled_.end())
      return fail(ExitCode::kBadInput, "backend/bad-artifact", "faulty", "another process's", "its own");
    const auto& [graph, artifact] = found->second;
    LoadRequest inner{.artifact = artifact, .inputs = request.inputs, .outputs = request.outputs, .threads = 1};
    for (const ValueId id : artifact.constants) inner.constants.push_back(*graph.value(id).constant);
    COLLAGE_TRY(std::unique_ptr<Kernel> kernel, engine_->load(inner));
    const Extents in = request.inputs.front().type.extents();
    const Extents out = request.outputs.front().type.extents();
    Ports ports{.x_count = static_cast<std::size_t>(element_count(in)),
                .out_count = static_cast<std::size_t>(element_count(out)),
                .width = out.empty() ? 1 : static_cast<std::size_t>(out.back())};
    return std::make_unique<FaultyKernel>(std::move(kernel), std::move(ports), faults()[fault_]);
  }

 private:
  std::expected<Artifact, Refusal> compile_one(const CompileRequest& request, const CompileOptions& options) {
    Graph part = extract(*request.graph, request.region);
    const Fault& fault = faults()[fault_];
    if (fault.in_graph && !fault.in_graph(part))
      return std::unexpected(Refusal{.reason = RefusalReason::kStructure, .detail = "no place for " + fault.name});
    CompileRequest inner{.graph = &part, .region = whole_region(part, uses_of(part)), .variant = request.variant};
    inner.region.inputs = part.inputs;
    inner.region.outputs = part.outputs;
    auto results = engine_->compile({&inner, 1}, options);
    if (!results[0]) return results[0];
    const std::string key = info_.name + " " + std::to_string(compiled_.size());
    const std::size_t workspace = results[0]->workspace_bytes;
    compiled_.emplace(key, std::pair(std::move(part), std::move(*results[0])));
    return Artifact{.bytes = key, .compatibility = info_.build, .workspace_bytes = workspace};
  }

  BackendInfo info_;
  Registry registry_;
  Backend* engine_ = nullptr;
  std::size_t fault_ = 0;
  std::map<std::string, std::pair<Graph, Artifact>> compiled_;
};

Backend* create(const std::string& name, const BackendOptions& options) { return new FaultyBackend(name, options); }

}  // namespace
}  // namespace collage::test

extern "C" __attribute__((visibility("default"))) const collage::BackendModule* collage_backend_module();

const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module = {.kind = "faulty", .create = collage::test::create};
  return &module;
}
