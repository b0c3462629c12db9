// A model that makes an empty sequence, or an optional without a value: some engines have no other way to make one.
#pragma once

#include <string>

#include "ir/type.h"

namespace collage {

/// A serialised model without inputs whose only output, "y", is an empty sequence of tensors or an optional without a
/// value of this type.
[[nodiscard]] std::string empty_value_model(const ValueType& type);

}  // namespace collage
