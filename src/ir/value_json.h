// Values as JSON: tensors as nested lists, sequences as lists, an optional as its value or null, a map as an object
// whose keys are the map's (whole numbers in text form). Numbers that JSON lacks are "nan", "inf" and "-inf". In:  a
// value, or JSON and the type it is meant for. Out: the other. Example: str[2,2] is [["a","b"],["c","d"]]; seq(f32[?])
// is [[1,2],[3]]; map(str,f32[]) is {"a":0.5,"b":2}.
#pragma once

#include <string>

#include "base/json.h"
#include "ir/tensor.h"

namespace collage {

/// Extents come from the lists. A type that is unknown stands for strings where the first element is text, else for
/// f64. Errors, bad input: tensor/malformed for lists of different lengths or the wrong depth, for elements that the
/// type does not have; tensor/unsupported-type for complex numbers and elements below 8 bits or of 8-bit floats. where
/// = `where` and the position: "x.json, [1][3]".
[[nodiscard]] Result<Tensor> value_from_json(const Json& json, const ValueType& type, const std::string& where);

/// Errors, unsupported: tensor/unsupported-type as above; tensor/not-utf8.
[[nodiscard]] Result<Json> value_to_json(const Tensor& value, const std::string& where);

}  // namespace collage
