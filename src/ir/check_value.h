// Checks a value that came from outside, or from an engine, against a type.
// In:  a type, a value. Out: nothing, or what is wrong and where in it.
#pragma once

#include <string>

#include "base/error.h"
#include "ir/tensor.h"

namespace collage {

/// What may come in from outside: beyond it a value is refused before it is copied.
struct ValueLimits {
  std::int64_t most_bytes = std::int64_t{4} << 30;  ///< of all elements and strings together
  std::int64_t most_items = 16'000'000;             ///< strings, and tensors in sequences
};

/// The value is of this type at every depth: kind, element type, extents that fit (whatever the type leaves open), as
/// many bytes or strings as extents say, one item in an optional at most, as many keys in a map as values. Strings are
/// UTF-8. Errors, all bad input: input/wrong-type, input/wrong-shape, input/not-utf8, input/malformed, input/too-large
/// (a limit); where = `where`, with the position in sequences: "input x, item 3, string 7".
[[nodiscard]] Result<void> check_value(const std::string& where, const ValueType& type, const Tensor& value,
                                       const ValueLimits& limits = {});

}  // namespace collage
