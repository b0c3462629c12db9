// One network judged in this process: its record by the reference, then the gate on its candidates.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "backend/roles.h"
#include "measure/price_job.h"
#include "measure/record_job.h"
#include "numbers/graph_file.h"
#include "tests/support/dice.h"
#include "tests/support/long_run.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"

namespace collage::test {

/// Modules of the build and of the tests.
inline std::vector<std::string> all_modules() {
  return {test::build_path("/lib/collage"), test::build_path("/tests/modules")};
}

/// The optional backends of this tree; those that are not here are skipped.
inline std::vector<std::string> optional_backends() { return {"xnnpack", "onednn3", "mnn", "blas", "blas:lib=mkl"}; }

/// "name: why it is not here".
inline std::string absence_of(Registry& registry, const std::string& name) {
  const auto backend = registry.get(name);
  if (!backend) return name + ": " + backend.error().saw;
  const std::string& unusable = (*backend)->info().unusable;
  return unusable.empty() ? "" : name + ": " + unusable;
}

/// Floats in [-2, 2), indices below `limit`, bools.
inline Tensor random_tensor(const ValueType& type, Dice& dice, std::int64_t limit) {
  const Extents extents = type.extents();
  const auto count = static_cast<std::size_t>(element_count(extents));
  if (type.element == ElementType::kFloat32) {
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(dice.below(4000)) / 1000.0F - 2.0F;
    return make_tensor<float>(type.element, extents, values);
  }
  if (type.element == ElementType::kBool) {
    std::vector<std::uint8_t> values(count);
    for (auto& value : values) value = static_cast<std::uint8_t>(dice.below(2));
    return make_tensor<std::uint8_t>(type.element, extents, values);
  }
  std::vector<std::int64_t> values(count);
  for (auto& value : values) value = static_cast<std::int64_t>(dice.below(static_cast<std::size_t>(limit)));
  return make_tensor<std::int64_t>(type.element, extents, values);
}

class GateLab {
 public:
  GateLab() : registry_(all_modules()), bench_(registry_), context_(-1, -1, registry_) {
    std::filesystem::create_directories(folder_.file("artifacts"));
  }

  [[nodiscard]] bool has_reference() { return registry_.get(kReferenceEngine).has_value(); }
  [[nodiscard]] Registry& registry() { return registry_; }

  /// Writes the network with its record for random inputs.
  void set_network(const Graph& graph, std::uint64_t seed) {
    // Names differ, because files are told apart by their stamps.
    const std::string name = "network" + std::to_string(networks_++);
    graph_file_ = folder_.file(name + ".onnx");
    record_file_ = folder_.file(name + ".record");
    ASSERT_TRUE(write_graph_file(graph_file_, graph));
    Dice dice(seed);
    auto writer = RecordWriter::create(folder_.file(name + ".inputs"));
    for (const ValueId id : graph.inputs)
      ASSERT_TRUE(writer->add(graph.value(id).name, random_tensor(graph.value(id).type, dice, 4)));
    ASSERT_TRUE(writer->finish());
    const auto recorded = run_record_job({.graph_file = graph_file_,
                                          .inputs_file = folder_.file(name + ".inputs"),
                                          .record_file = record_file_,
                                          .backend = kReferenceEngine,
                                          .all_values = true,
                                          .model_file = std::nullopt},
                                         bench_, context_);
    ASSERT_TRUE(recorded) << to_string(recorded.error());
  }

  /// The gate's answer for candidates of a region; empty when the job itself failed.
  std::vector<CandidateAnswer> judge(const std::vector<std::uint32_t>& nodes,
                                     const std::vector<CandidateSpec>& candidates, Effort effort = Effort::kPrepare,
                                     bool recorded_only = false) {
    const PriceJob job{.target = {.graph_file = graph_file_, .record_file = record_file_, .nodes = nodes},
                       .candidates = candidates,
                       .options = {},
                       .artifact_folder = folder_.file("artifacts"),
                       .effort = effort,
                       .judging = {.recorded_only = recorded_only}};
    const auto answer = run_price_job(job, bench_, context_);
    EXPECT_TRUE(answer) << to_string(answer.error());
    return answer ? answer->candidates : std::vector<CandidateAnswer>();
  }

 private:
  ScratchFolder folder_;
  Registry registry_;
  Workbench bench_;
  JobContext context_;
  std::string graph_file_;
  std::string record_file_;
  int networks_ = 0;
};

inline const Refusal* refusal_of(const CandidateAnswer& answer) {
  const auto* infeasible = std::get_if<Infeasible>(&answer.cost);
  return infeasible == nullptr ? nullptr : &infeasible->refusal;
}

}  // namespace collage::test
