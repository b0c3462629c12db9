// Reads ONNX's official operator tests: FOLDER/test_NAME/{model.onnx, test_data_set_0/{input,output}_I.pb}.
// Each test gives up to two cases: as written, and "test_NAME+const", where all inputs but the first are constants, as
// weights and shapes are in models. A test with sequences, optionals or strings at its border also gives
// "test_NAME+inside", of FOLDER/test_NAME/inside: a model that makes them of tensors and takes them apart. ONNX Runtime
// alone runs these.
// A test that gives no case to run has an outcome that says why:
//   import/*, tensor/*        import or the reader of tensors refused it
//   conformance/folded        nothing is left to run: import made the official outputs
//   conformance/folded-wrong  import made others
//   conformance/open-border   an input or output that neither has a known shape nor is a held value
//   conformance/random        it draws random numbers: the official output is one of many
//   conformance/ties          its official output orders equal values, which a backend may do otherwise
//   conformance/disputed      its official output contradicts the operator's description
#pragma once

#include <string>
#include <vector>

#include "tests/conformance/expectations.h"

namespace collage::conformance {

struct OfficialCases {
  std::vector<Case> cases;
  Outcomes read;  ///< per test and form: passed, or why there is no case
};

/// All tests of one family; empty when the folder is not there.
[[nodiscard]] OfficialCases read_official_cases(const std::string& folder, const std::string& family);

/// Which cases stand for all, for backends that are slow to compile: the first of each form. A form is the graph's
/// operators in order, each with the element types of its inputs and outputs and which inputs are constants; ranks,
/// extents and attributes are no part of it. A "_expanded" case, which spells out another case's operator in operators
/// that have cases of their own, stands for nothing.
[[nodiscard]] std::vector<bool> representatives(const std::vector<Case>& cases);

}  // namespace collage::conformance
