// The plan: which steps run, in which order, on which bytes. An immutable value that contains everything the runtime
// needs. A control-flow operator whose bodies are placed separately is one step, with the bodies' values and steps
// inside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"
#include "ir/tensor.h"
#include "plan/plan_report.h"
#include "plan/plan_step.h"
#include "region/place.h"

namespace collage {

inline constexpr std::string_view kPlanSchema = "collage.plan/1";
/// Of plans with held values (strings, sequences, optionals, maps), which readers of the first number do not know; the
/// same in all else.
inline constexpr std::string_view kHeldPlanSchema = "collage.plan/2";

enum class Storage : std::uint8_t {
  kInput,     ///< in the caller's buffer for model input `buffer`
  kOutput,    ///< in the caller's buffer for model output `buffer`
  kArena,     ///< at `offset` in the context's arena
  kDevice,    ///< at `offset` in the context's arena of the device at the value's location
  kConstant,  ///< at `offset` in weights.bin
  /// In memory of the call that makes it: a tensor whose extents are known after the step, or a held value (strings, a
  /// sequence, an optional, a map). Plain, at home. A held model input is kInput without bytes; an input of a body
  /// whose extents are known only during the run is kDynamic, with its position in `buffer`.
  kDynamic
};

/// One value in one place. Values may share bytes: views with what they show, parts of a concatenation with the whole,
/// and values that live one after the other.
struct PlanValue {
  std::string name;  ///< the graph value's name
  ValueType type;
  Place place;  ///< away from home for kDevice only
  Storage storage = Storage::kArena;
  /// kInput, kOutput, kDynamic as a body's input: position in inputs or outputs. kConstant in a body: the value around
  /// the body with these bytes.
  std::uint32_t buffer = 0;
  std::size_t offset = 0;  ///< bytes, 64-byte aligned; from the start of the arena, the buffer or weights.bin
  std::size_t bytes = 0;
  /// kConstant outside bodies, of a plan that was saved: hash_bytes() of its bytes.
  std::optional<std::uint64_t> checksum = {};
  bool operator==(const PlanValue&) const = default;
};

/// What runs on which bytes: a model's, or those of one body of a control-flow operator. A body's arena lies at the
/// start of its step's workspace; weights and artifacts are the plan's.
struct PlanBody {
  std::string name;  ///< of the graph; "" for a model's
  std::vector<PlanValue> values;
  std::vector<PlanIndex> inputs;  ///< in the graph's order; a body's captured values come last
  /// In the graph's order; kOutput, kDynamic, which may repeat, and of a model held inputs, which may repeat, too.
  std::vector<PlanIndex> outputs;
  std::vector<PlanIndex> captures;  ///< values around the body: what its last inputs are
  std::vector<PlanStep> steps;
  std::size_t arena_bytes = 0;
  bool operator==(const PlanBody&) const = default;
};

inline bool PlanControl::operator==(const PlanControl&) const = default;
inline bool PlanStep::operator==(const PlanStep&) const = default;

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

/// The path of a model that was given as bytes: there is no file to read it from again.
inline constexpr const char* kModelInMemory = "model in memory";
/// A plan is for at least one thread, and for at most so many.
inline constexpr int kMostThreads = 1024;

struct Plan : PlanBody {
  std::string model_path;  ///< as given to tune, kModelInMemory for bytes; may have moved
  std::string model_hash;
  std::string weights_hash;
  std::map<std::string, std::string> shapes;  ///< the --shape bindings
  std::string machine;                        ///< machine print
  std::string accuracy = "standard";
  std::set<std::string> passes_off;  ///< that did not simplify the graph: the user switched them off
  int threads = 1;
  std::vector<PlanBackend> backends;
  std::vector<PlanArtifact> artifacts;                    ///< sorted by hash, each once
  std::map<std::string, std::size_t> device_arena_bytes;  ///< by location; bodies lie at home
  std::size_t weights_bytes = 0;                          ///< size of weights.bin
  std::string shipped = "cover";                          ///< "cover" or the rival's name
  std::optional<PlanReport> report;  ///< what `explain` shows; nothing for a plan that was not tuned
  bool operator==(const Plan&) const = default;
};

/// Name of an artifact: content hash over its bytes and its compatibility string.
[[nodiscard]] std::string artifact_hash(std::string_view bytes, std::string_view compatibility);

/// Name of a storage in text and JSON: input, output, arena, device, constant, dynamic.
[[nodiscard]] std::string_view name_of(Storage storage);
/// Name of the operator in ONNX: If, Loop, Scan.
[[nodiscard]] std::string_view name_of(ControlOperator op);

/// Steps, those inside bodies included.
[[nodiscard]] std::size_t step_count(const PlanBody& plan);

/// Instances whose modules the steps need (needs_backend), those inside bodies included.
[[nodiscard]] std::set<std::string> backends_of(const PlanBody& plan);

/// Whose steps they are: what every report counts.
struct StepCounts {
  std::size_t steps = 0;                        ///< those inside bodies included
  std::size_t views = 0;                        ///< of these: nothing runs
  std::map<std::string, std::size_t> backends;  ///< name -> steps; they add up to `steps`
};
[[nodiscard]] StepCounts count_steps(const PlanBody& plan);

/// Checks what a session relies on: indices are in range; extents lie inside their storage, are large enough and
/// aligned; every read follows the write with no other write to these bytes in between; model inputs and outputs are
/// consistent; the same for bodies, with the ports that their operator requires. Error plan/damaged; where = value or
/// step.
[[nodiscard]] Result<void> verify(const Plan& plan);

}  // namespace collage
