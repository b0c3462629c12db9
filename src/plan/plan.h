// The immutable plan: what runs, in which order, on which bytes. Everything a session needs and nothing it computes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"
#include "ir/tensor.h"
#include "region/format.h"
#include "search/cover.h"

namespace collage {

inline constexpr std::string_view kPlanSchema = "collage.plan/1";

enum class Storage : std::uint8_t {
  kInput,     ///< in the caller's buffer for model input `buffer`
  kOutput,    ///< in the caller's buffer for model output `buffer`
  kArena,     ///< at `offset` in the context's arena
  kConstant,  ///< at `offset` in weights.bin
  kDynamic    ///< made by the kernel, shape known after the run; graph outputs only
};

/// One value in one format.
struct PlanValue {
  std::string name;  ///< the graph value's name
  ValueType type;
  Format format;
  Storage storage = Storage::kArena;
  std::uint32_t buffer = 0;  ///< kInput, kOutput: position in Plan::inputs or Plan::outputs
  std::size_t offset = 0;    ///< bytes, 64-byte aligned; from the start of the arena, the buffer or weights.bin
  std::size_t bytes = 0;
  bool operator==(const PlanValue&) const = default;
};

using PlanIndex = std::uint32_t;

struct PlanStep {
  StepKind kind = StepKind::kKernel;
  std::string backend;
  std::string variant;
  std::vector<std::string> nodes;  ///< names of the graph's nodes it computes
  std::string structure;           ///< structure_key() of their region: what the step was chosen for; "" without nodes
  std::vector<PlanIndex> inputs;   ///< plan values
  std::vector<PlanIndex> outputs;
  std::string artifact;              ///< content hash, "" for views
  std::vector<PlanIndex> constants;  ///< plan constants the artifact is loaded with, in its order
  std::size_t workspace_offset = 0;
  std::size_t workspace_bytes = 0;
  std::int64_t cost_ns = 0;  ///< median measured alone
  std::int64_t cost_low_ns = 0;
  std::int64_t cost_high_ns = 0;
  std::string runner_up;
  bool operator==(const PlanStep&) const = default;
};

/// What load() needs beside the bytes of artifacts/<hash>.
struct PlanArtifact {
  std::string hash;           ///< artifact_hash() of bytes and compatibility
  std::string compatibility;  ///< Artifact::compatibility
  bool operator==(const PlanArtifact&) const = default;
};

struct PlanBackend {
  std::string name;  ///< instance
  std::string version;
  std::string build;
  bool operator==(const PlanBackend&) const = default;
};

struct Plan {
  std::string model_path;  ///< as given to tune; may have moved
  std::string model_hash;
  std::string weights_hash;
  std::map<std::string, std::string> shapes;  ///< the --shape bindings
  std::string machine;                        ///< machine print
  std::string accuracy = "standard";
  int threads = 1;
  std::vector<PlanBackend> backends;
  std::vector<PlanValue> values;
  std::vector<PlanIndex> inputs;   ///< in the model's order
  std::vector<PlanIndex> outputs;  ///< in the model's order; kOutput, or kDynamic (which alone may repeat)
  std::vector<PlanStep> steps;
  std::vector<PlanArtifact> artifacts;  ///< sorted by hash, each once
  std::size_t arena_bytes = 0;
  std::size_t weights_bytes = 0;  ///< size of weights.bin
  std::string shipped = "cover";  ///< "cover" or the rival's name
  /// A JSON object (compact, keys sorted) with what `explain` shows: search, refusals, rivals. Its keys become
  /// top-level keys of plan.json, so they must not be keys that plan.json has itself.
  std::string report_json = "{}";
  bool operator==(const Plan&) const = default;
};

/// Index of a plan's value by name and format; nothing when the plan has none. Linear; for tools and tests.
[[nodiscard]] std::optional<PlanIndex> find_value(const Plan& plan, std::string_view name, const Format& format);

/// Name of an artifact: content hash over its bytes and its compatibility string.
[[nodiscard]] std::string artifact_hash(std::string_view bytes, std::string_view compatibility);

/// Name of a storage in text and JSON: input, output, arena, constant, dynamic.
[[nodiscard]] std::string_view name_of(Storage storage);
/// Name of a step kind in text and JSON: kernel, convert, view.
[[nodiscard]] std::string_view plan_name_of(StepKind kind);

/// Checks what a session relies on: indices in range, extents inside their storage and large enough, alignment, every
/// read after the write, model inputs and outputs consistent. Error plan/damaged; where = value or step.
[[nodiscard]] Result<void> verify(const Plan& plan);

}  // namespace collage
