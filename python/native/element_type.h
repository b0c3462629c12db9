// Element types of ONNX, of NumPy and of the buffer protocol.
// In:  a number of collage.h (COLLAGE_FLOAT32 ...). Out: its name in NumPy, the formats under which buffers show it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace collage::python {

struct ElementFacts {
  std::int32_t type = 0;
  const char* name = "";     ///< NumPy's, or that of the package ml_dtypes
  const char* formats = "";  ///< characters of the struct module that mean it here, each alone; after a 'Z' together;
                             ///< "" when NumPy has no such type
};

/// Of an unknown number: the facts of COLLAGE_UNDEFINED.
[[nodiscard]] const ElementFacts& facts_of(std::int32_t type);

/// Is a buffer of this format (null means bytes) one of such elements?
[[nodiscard]] bool has_format(const ElementFacts& facts, const char* format);

}  // namespace collage::python
