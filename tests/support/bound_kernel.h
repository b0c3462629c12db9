// A kernel bound to memory that shows what it touches.
// In: what it was loaded with, plain tensors. Out: plain tensors.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/held_value.h"
#include "numbers/format_converter.h"
#include "numbers/guarded_bytes.h"

namespace collage::test {

/// An output and the input whose memory it lies in, as in Artifact::in_place.
using SharedPorts = std::pair<std::uint32_t, std::uint32_t>;

class BoundKernel {
 public:
  /// `loaded` has the ports and the scratch, `inputs` one tensor for each input port. The converter knows the formats'
  /// owners. The kernel outlives the object. Errors of conversions and of bind().
  [[nodiscard]] static Result<BoundKernel> create(const Kernel& kernel, const LoadRequest& loaded,
                                                  const std::vector<Tensor>& inputs, FormatConverter& converter,
                                                  std::optional<SharedPorts> shared = std::nullopt);

  /// What one run computes; outputs that lie apart are filled with nonsense first.
  [[nodiscard]] Result<std::vector<Tensor>> run();
  /// Bytes of an input, as the next run reads them.
  [[nodiscard]] std::span<std::byte> input(std::size_t port) const { return inputs_[port].bytes(); }
  /// What the runs wrote and must not have: bytes outside of a buffer, an input that no output shares, padding that is
  /// not zero. "" when nothing.
  [[nodiscard]] Result<std::string> damage() const;

 private:
  explicit BoundKernel(FormatConverter& converter) : converter_(&converter) {}

  Result<void> fill_inputs(const std::vector<Tensor>& tensors);
  Result<void> make_outputs(std::optional<SharedPorts> shared);
  [[nodiscard]] std::span<const std::byte> output(std::size_t port) const;
  [[nodiscard]] Result<Tensor> plain_output(std::size_t port) const;
  [[nodiscard]] Result<Tensor> dynamic_output(std::size_t port) const;
  [[nodiscard]] bool is_shared(std::size_t output) const { return shared_ && shared_->first == output; }
  [[nodiscard]] bool guards_hold() const;
  /// Whether the bytes of an output are all that its format gives its numbers, padding included.
  [[nodiscard]] Result<bool> is_padded(std::size_t port) const;

  FormatConverter* converter_;
  std::vector<Port> input_ports_;
  std::vector<Port> output_ports_;
  std::optional<SharedPorts> shared_;
  std::vector<std::unique_ptr<PlainValue>> held_;  ///< by input; null for tensors of numbers
  std::vector<GuardedBytes> inputs_;
  std::vector<std::vector<std::byte>> originals_;  ///< what the inputs held at first
  std::vector<std::size_t> output_bytes_;
  std::vector<GuardedBytes> outputs_;  ///< none where the output is shared or made by the call
  GuardedBytes workspace_;
  std::unique_ptr<Call> call_;
};

}  // namespace collage::test
