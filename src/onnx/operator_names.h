// Lists the operators that ONNX itself defines, to tell whether a name is one of them.
// In:  nothing. Out: names as in qualified_name(): "Relu", "ai.onnx.ml::Scaler".
// Cost: a copy of ONNX's table.
// Source: the schemas of ONNX's C++ library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace collage {

/// Of all of ONNX's domains and versions, sorted.
[[nodiscard]] std::vector<std::string> operator_names();
/// Whether operators of this domain are among them.
[[nodiscard]] bool is_onnx_domain(std::string_view domain);

}  // namespace collage
