// Reads our own cases: files cases/FAMILY.txt in the graph text form.
//   case NAME (%INPUT=LO..HI)*      the range of an input's elements, where N(0,1) will not do
//   graph(...) -> (...) { ... }
// NAME becomes FAMILY/NAME. An input whose name begins with 'w' is a weight: it becomes a constant with the same seeded
// elements an input would get. Types of computed values are left out, import infers them; an output that is not f32 is
// written with its element type, as in "%y: i64[*] = ArgMax(%x)". '#' begins a comment line.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "tests/conformance/case.h"

namespace collage::conformance {

/// Names of the families in a folder, sorted.
[[nodiscard]] std::vector<std::string> own_families(const std::string& folder);

/// The cases of one family. Error with the case's name in `where` when one cannot be read: they are ours, all must be.
[[nodiscard]] Result<std::vector<Case>> read_own_cases(const std::string& folder, const std::string& family);

}  // namespace collage::conformance
