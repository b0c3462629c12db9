// One candidate in a worker: its artifact, loaded, and bound to new buffers that hold the recorded inputs. It can be
// run and checked: outputs equal the record, inputs are unchanged, nothing is written outside of the buffers. Compiling
// is in price_job.h, timing in timing/sampling.h.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/device_place.h"
#include "backend/held_value.h"
#include "base/pages.h"
#include "numbers/format_converter.h"
#include "numbers/guarded_bytes.h"
#include "numbers/input_sets.h"
#include "timing/displacer.h"

namespace collage {

/// A port and what the record holds for it: the input, or the expected output, in plain format. An input of open shape
/// has the extents of the record.
struct TrialPort {
  Port port;
  Tensor recorded;
  double slack = 0;              ///< of an output: what rounding inside leaves open (numbers/rounding_slack.h)
  std::optional<Choice> choice;  ///< an output of indices, with what they were chosen from in the record
};

struct TrialSpec {
  Backend* backend = nullptr;
  std::optional<ArtifactView> artifact;  ///< nothing for a transfer between the locations of the ports
  std::vector<Tensor> constants;         ///< for Artifact::constants
  std::vector<TrialPort> inputs;
  std::vector<TrialPort> outputs;
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;
  bool exact = false;  ///< outputs must be bit-equal: conversions
};

/// Why a trial failed, and whether its process may be harmed: something was written where it must not be, or a library
/// threw.
struct TrialFailure {
  Refusal refusal;
  bool harmful = false;
  bool device_lost = false;  ///< nothing on the device works any more in this process
};

class Trial {
 public:
  /// Loads and binds. A failure of the backend is kCompile, of a port kFormat or kShape. The converter and what the
  /// spec points to outlive the trial, the artifact need not.
  [[nodiscard]] static std::expected<Trial, TrialFailure> create(TrialSpec spec, FormatConverter& converter);

  /// One run to its end, as it is timed.
  Result<void> run() {
    auto done = call_->run();
    return done && device_ ? device_->place.queue->wait() : done;
  }

  /// Whether its runs are work in the queue of a device, which tells how long they take.
  [[nodiscard]] bool is_queued() const { return device_ != nullptr && kernel_ != nullptr; }
  /// Nanoseconds that the device takes for so many runs. Precondition: is_queued().
  Result<std::int64_t> time_queued(std::int64_t runs) { return device_->place.queue->time(*call_, runs); }

  /// Evicts what the kernel reads besides its ports, as the rest of the model does between two runs.
  void displace(Displacer& displacer) const;
  /// Reads all ports at home, inputs last: in a plan they were just written.
  void touch() const;

  /// Poisons the outputs, runs once on the recorded inputs, or on those of a set, and judges everything. Nothing when
  /// all is right. Runs after the check are on the same inputs; the set outlives the next check.
  [[nodiscard]] std::optional<TrialFailure> check(FormatConverter& converter, const InputSet* set = nullptr);
  /// From the next check on outputs may differ by so much, by output, where that is more than their ports say.
  void widen(const std::vector<double>& slacks);
  /// Back to the recorded inputs after a check on a set.
  [[nodiscard]] std::optional<TrialFailure> restore(FormatConverter& converter);
  /// Nanoseconds of the run inside the last check.
  [[nodiscard]] std::int64_t checked_ns() const { return checked_ns_; }

 private:
  struct Slot {
    TrialPort port;
    ValueType type;      ///< the port's, an input's with the extents of what the buffer holds
    GuardedBytes bytes;  ///< none for an output of unknown shape; of a port at a device a copy at home
    std::uint64_t hash = 0;
    std::byte* address = nullptr;            ///< where the kernel reads or writes
    std::unique_ptr<const PlainValue> held;  ///< an input of a held type, in place of bytes
  };
  /// Memory for all ports and the workspace at a device, with a guard behind each.
  struct AtDevice {
    DevicePlace place;
    std::byte* workspace = nullptr;
    std::vector<std::byte*> guards = {};
  };

  explicit Trial(TrialSpec spec) : spec_(std::move(spec)) {}
  std::optional<TrialFailure> prepare(FormatConverter& converter);
  [[nodiscard]] static const void* address_of(const Slot& input);
  std::optional<TrialFailure> load_and_bind();
  [[nodiscard]] std::optional<TrialFailure> bind();
  /// After inputs of open shape got other buffers: as the runtime does it.
  [[nodiscard]] std::optional<TrialFailure> move_inputs();
  [[nodiscard]] Result<void> place_slots();
  [[nodiscard]] std::unique_ptr<Call> make_transfer();
  /// Between the copies at home and the device, where there is one.
  [[nodiscard]] Result<void> copy_ports(Direction direction);
  /// Writes the guards at the device.
  [[nodiscard]] Result<void> set_guards();
  /// Whether they are as they were written. Errors of the device.
  [[nodiscard]] Result<bool> device_guards_hold();
  [[nodiscard]] std::optional<TrialFailure> judge_memory();
  [[nodiscard]] std::optional<TrialFailure> load_inputs(const InputSet* set, FormatConverter& converter);
  /// What is at home to the device, where there is one.
  [[nodiscard]] std::optional<TrialFailure> send();
  [[nodiscard]] std::optional<TrialFailure> judge_output(std::size_t index, FormatConverter& converter) const;
  [[nodiscard]] Comparison compared(std::size_t index, const Tensor& seen) const;
  [[nodiscard]] Result<Tensor> seen_output(std::size_t index, FormatConverter& converter) const;

  TrialSpec spec_;
  std::vector<Slot> inputs_;
  std::vector<Slot> outputs_;
  GuardedBytes workspace_;
  std::unique_ptr<AtDevice> device_;  ///< null when all ports lie at home
  std::unique_ptr<Kernel> kernel_;
  std::unique_ptr<Call> call_;
  std::optional<ConstantBytes> constants_;  ///< of the kernel, with those of the spec; nothing if it has others
  std::int64_t checked_ns_ = 0;
  const InputSet* loaded_ = nullptr;  ///< whose inputs the buffers hold; null for the recorded ones
};

}  // namespace collage
