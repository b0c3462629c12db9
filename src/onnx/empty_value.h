// A model that makes an empty sequence, or an optional without a value: some engines have no other way to make one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/type.h"

namespace collage {

/// A serialised model without inputs whose only output, "y", is an empty sequence of tensors or an optional without a
/// value of this type.
[[nodiscard]] std::string empty_value_model(const ValueType& type);

/// The model with these inputs, optionals of these types, made inside: without a value. Nothing when the bytes are no
/// model.
[[nodiscard]] std::optional<std::string> with_absent_inputs(
    std::string_view model, const std::vector<std::pair<std::string, ValueType>>& inputs);

}  // namespace collage
