// A reproduction bundle: everything that is needed to reproduce the failure of one candidate, as a small folder that
// can be sent to the backend's developers.
//   region.onnx     the region as a model, weights included; absent for a conversion
//   input_0.npy...  its recorded inputs; output_0.npy... the reference's results (.pb for types that NumPy lacks)
//   repro.json      which backend failed, how, at which stage, with which options and versions (schema collage.repro/1)
//   README.txt      what this is and how to replay it
// In:  a failed candidate. Out: a folder; and back. Reading validates sizes, names and types before it uses them.
// Cost: writing region and arrays once.
// Not here: which failures are kept (repro_keeper.h), replaying (repro_replay.h).
// Source: reproducers of LLVM's crash recovery (https://llvm.org/docs/HowToSubmitABug.html).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "measure/jobs.h"

namespace collage {

inline constexpr std::string_view kReproSchema = "collage.repro/1";

/// What read_bundle gives and write_bundle takes.
struct ReproBundle {
  std::string backend;  ///< instance
  std::string kind;
  std::string version;
  std::string build;
  Variant variant;                       ///< of a region
  std::vector<RegionLabel> labels;       ///< under which its backend got it
  std::optional<Conversion> conversion;  ///< or this, without graph and tensors: its data come from the seed
  Graph graph;                           ///< the region, extracted
  std::vector<Tensor> inputs;            ///< in the graph's order
  std::vector<Tensor> expected;          ///< likewise its outputs
  CompileOptions options;
  std::uint64_t seed = 1;
  std::int64_t displaced_bytes = 0;
  std::chrono::nanoseconds compile_limit = std::chrono::seconds(60);
  std::chrono::nanoseconds run_limit = std::chrono::seconds(10);
  Refusal refusal;
  std::string stage;    ///< that it failed at; empty when nobody can tell
  std::string machine;  ///< machine_print()
  std::string product;  ///< version of Collage that wrote it; set by read_bundle
};

/// Bytes that a bundle will hold in arrays and weights; what else is in it is small.
[[nodiscard]] std::size_t bundle_bytes(const ReproBundle& bundle);

/// Fills `folder`, which exists and is empty. `final_path` is where it will lie, for the command in its files.
/// Errors file/cannot-write, tensor/cannot-write.
[[nodiscard]] Result<void> write_bundle(const std::string& folder, const std::string& final_path,
                                        const ReproBundle& bundle);

/// Error repro/no-folder, repro/damaged (both exit 3) for anything that write_bundle would not have written.
[[nodiscard]] Result<ReproBundle> read_bundle(const std::string& folder);

}  // namespace collage
