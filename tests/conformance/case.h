// One conformance case: a graph, what goes in and what must come out. The same for every backend.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace collage::conformance {

struct Case {
  std::string name;  ///< "FAMILY/kebab-name" for our own, "test_..." for the official operator tests
  Graph graph;
  std::vector<Tensor> inputs;                   ///< one per graph input
  std::optional<std::vector<Tensor>> expected;  ///< one per graph output; none = ask the reference
};

/// Of one case on one backend, or of reading one case.
struct Outcome {
  enum class Kind { kPass, kRefused, kFailed };
  Kind kind = Kind::kPass;
  std::string reason;  ///< of a refusal: the kebab-case name that expectation files hold
  std::string detail;  ///< for people
};

/// The family a case or a pattern of an expectation file belongs to: what stands before the '/', and for official
/// tests "official_" and the group of the operator's first letter.
[[nodiscard]] std::string family_of(const std::string& name);

/// The families of the official tests, in order.
[[nodiscard]] const std::vector<std::string>& official_families();

}  // namespace collage::conformance
