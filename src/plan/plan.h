// The immutable plan: what runs, in which order, on which bytes. Everything a session needs and nothing it computes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/buffer.h"
#include "ir/tensor.h"
#include "region/format.h"
#include "search/cover.h"

namespace collage {

inline constexpr std::string_view kPlanSchema = "collage.plan/1";

enum class Storage : std::uint8_t {
  kInput,    ///< bound by the caller
  kOutput,   ///< bound by the caller
  kArena,    ///< at `offset` in the context's arena
  kConstant, ///< at `offset` in weights.bin
  kDynamic   ///< made by the kernel, shape known after the run; graph outputs only
};

/// One value in one format.
struct PlanValue {
  std::string name;    ///< the graph value's name
  ValueType type;
  Format format;
  Storage storage = Storage::kArena;
  std::size_t offset = 0;  ///< bytes; 64-byte aligned
  std::size_t bytes = 0;
  bool operator==(const PlanValue&) const = default;
};

using PlanIndex = std::uint32_t;

struct PlanStep {
  StepKind kind = StepKind::kKernel;
  std::string backend;
  std::string variant;
  std::vector<std::string> nodes;       ///< names of the graph's nodes it computes
  std::vector<PlanIndex> inputs;        ///< plan values
  std::vector<PlanIndex> outputs;
  std::string artifact;                 ///< content hash, "" for views
  std::vector<PlanIndex> constants;     ///< plan constants the artifact is loaded with, in its order
  std::size_t workspace_offset = 0;
  std::size_t workspace_bytes = 0;
  std::int64_t cost_ns = 0;             ///< median measured alone
  std::int64_t cost_low_ns = 0;
  std::int64_t cost_high_ns = 0;
  std::string runner_up;
  bool operator==(const PlanStep&) const = default;
};

struct PlanBackend {
  std::string name;   ///< instance
  std::string version;
  std::string build;
  bool operator==(const PlanBackend&) const = default;
};

struct Plan {
  std::string model_path;      ///< as given to tune; may have moved
  std::string model_hash;
  std::string weights_hash;
  std::map<std::string, std::string> shapes;  ///< the --shape bindings
  std::string machine;         ///< machine print
  std::string accuracy = "standard";
  int threads = 1;
  std::vector<PlanBackend> backends;
  std::vector<PlanValue> values;
  std::vector<PlanIndex> inputs;   ///< in the model's order
  std::vector<PlanIndex> outputs;  ///< in the model's order; a graph input passed through keeps Storage::kInput
  std::vector<PlanStep> steps;
  std::size_t arena_bytes = 0;
  std::string shipped = "cover";           ///< "cover" or the rival's name
  std::string report_json = "{}";          ///< search, refusals, rivals: what explain shows
  bool operator==(const Plan&) const = default;
};

}  // namespace collage
