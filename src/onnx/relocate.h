// Changes the offsets in a model whose external tensors all lie in one file, after the parts of that file were moved.
// In:  a serialised ModelProto; the new offset for each old one. Out: the same model with the new offsets.
// Cost: parsing and writing the message.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/error.h"

namespace collage {

/// Errors import/malformed for bytes that are no model, import/external-data for an offset that is not among `moved`.
[[nodiscard]] Result<std::string> relocate_external_data(std::string_view model,
                                                         const std::map<std::size_t, std::size_t>& moved);

}  // namespace collage
