// A kernel set: several kernels in one artifact for one region with open dimensions, and which of them runs for which
// shape.
// In:  extents of inputs.
// Out: the sizes on which shapes depend, the kernel for a shape, extents and strides of its buffers.
// How: every extent and stride is a factor times sizes; a size is an extent of an input, or the number of windows over
//       one. Cases are tried in order; the last one matches all remaining shapes.
// Example: a product f32[n, 32] x f32[32, 48] has one symbol n and one size n; the input's extents are the terms (1 *
// n) and 32. The cases "n in 1..7: kernel 1" and "n in 1..4096: kernel 0" run kernel 1 for short inputs.
// Cost: finding a kernel takes tens of nanoseconds, without allocation.
// Source: the specialisation functions of TVM's operator strategies, as data instead of code.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/tensor_code.h"
#include "base/error.h"
#include "ir/type.h"

namespace collage::native {

/// An open dimension: the input whose axis tells it, and the extents that are served.
struct Symbol {
  std::string name;
  std::uint32_t input = 0;
  std::uint32_t axis = 0;
  std::int64_t low = 1;
  std::int64_t high = 1;
  bool operator==(const Symbol&) const = default;
};

/// floor((extent of the symbol + add) / divide) + plus.
struct Size {
  std::uint32_t symbol = 0;
  std::int64_t add = 0;
  std::int64_t divide = 1;
  std::int64_t plus = 0;
  bool operator==(const Size&) const = default;
  [[nodiscard]] bool is_symbol() const { return add == 0 && divide == 1 && plus == 0; }
  [[nodiscard]] std::int64_t at(std::int64_t extent) const;
};

/// A factor times sizes, which are sorted: an extent, a stride.
struct Term {
  std::int64_t factor = 1;
  std::vector<std::uint32_t> sizes = {};
  bool operator==(const Term&) const = default;
  [[nodiscard]] bool is_open() const { return !sizes.empty(); }
};
[[nodiscard]] Term operator*(const Term& a, const Term& b);

using Terms = std::vector<Term>;

/// A buffer of open extents, outer to inner.
struct OpenView {
  Terms extents;
  Terms strides;  ///< elements; 0 where the extent is always 1
  bool operator==(const OpenView&) const = default;
};

/// What a kernel needs of a shape.
struct Guard {
  Term term;
  std::int64_t least = 0;
  bool operator==(const Guard&) const = default;
};

/// One kernel of a set.
struct Member {
  std::string symbol;                     ///< of the code in each shared object
  std::string variant;                    ///< how it was made
  std::vector<TensorArgument> arguments;  ///< in calling order; extents and strides are in `views`
  std::vector<OpenView> views;            ///< one for each argument
  std::vector<Guard> guards;              ///< none: it serves every shape
  bool operator==(const Member&) const = default;
};

/// Shapes for which a member runs: one range for each symbol.
struct SetCase {
  Extents low;
  Extents high;
  std::uint32_t member = 0;
  bool operator==(const SetCase&) const = default;
};

struct KernelSet {
  std::vector<Symbol> symbols;
  std::vector<Size> sizes;
  std::vector<Terms> inputs;  ///< extents of ports, by ONNX axis
  std::vector<Terms> outputs;
  std::vector<Member> members;
  std::vector<SetCase> cases;  ///< the last one matches every shape and has a member without guards
  bool operator==(const KernelSet&) const = default;
};

/// Why this is no set that can be trusted to stay inside its ports: numbers without what they name, cases that leave a
/// shape out. Empty when it is one.
[[nodiscard]] std::string fault_of(const KernelSet& set);

/// Values of sizes for extents of symbols.
[[nodiscard]] Extents sizes_at(const KernelSet& set, std::span<const std::int64_t> symbols);
[[nodiscard]] std::int64_t value_of(const Term& term, std::span<const std::int64_t> sizes);
[[nodiscard]] Extents values_of(const Terms& terms, std::span<const std::int64_t> sizes);

/// Upper limits of open dimensions, and of sizes made of them; larger sets are refused.
inline constexpr std::size_t kMostSymbols = 8;
inline constexpr std::size_t kMostSizes = 32;

/// Extents of the symbols, as inputs of these extents tell them. Error input/wrong-shape for inputs that do not fit the
/// ports.
[[nodiscard]] Result<Extents> symbols_of(const KernelSet& set, std::span<const Extents> inputs);
/// The same; also error shape/outside for extents that are not served.
[[nodiscard]] Result<Extents> symbols_at(const KernelSet& set, std::span<const Extents> inputs);

/// Whether the member's code may run for these sizes.
[[nodiscard]] bool serves(const Member& member, std::span<const std::int64_t> sizes);

/// The cases and guards of a set in flat arrays.
class Dispatcher {
 public:
  /// Precondition: fault_of(set) is empty.
  explicit Dispatcher(const KernelSet& set);
  /// The member for a shape inside the domain. Allocates nothing.
  [[nodiscard]] std::size_t find(std::span<const std::int64_t> symbols) const;
  /// The same for inputs of these extents; nothing when they fit no shape of the domain.
  [[nodiscard]] std::optional<std::size_t> find(const KernelSet& set, std::span<const Extents> inputs) const;

 private:
  struct Bound {
    std::int64_t factor;
    std::int64_t least;
    std::uint32_t first, last;  ///< of its sizes in sizes_
  };
  struct Row {
    std::uint32_t member;
    std::uint32_t first_guard, last_guard;
  };
  [[nodiscard]] bool holds(const Bound& bound, std::span<const std::int64_t> symbols) const;

  std::size_t symbols_;
  std::vector<std::int64_t> ranges_;  ///< low, high by symbol, by row
  std::vector<Row> rows_;
  std::vector<Bound> guards_;
  std::vector<Size> sizes_;  ///< of guards, in order
};

}  // namespace collage::native
