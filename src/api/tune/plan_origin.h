// Where a plan comes from, as far as its file tells: a plan is code of whoever made it (docs/TRUST.md).
// In:  a plan file that was read. Out: who signed it, on which kind of machine it was made, whose file it is.
// Without a signature these are statements that anybody can write; they find mistakes, not attacks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "plan/plan_cases.h"

namespace collage {

struct PlanOrigin {
  std::optional<PlanSigner> signer;
  std::string machine;           ///< the plan's machine print; empty = it states none
  bool is_this_machine = false;  ///< same processor and instruction set
  std::string owner;             ///< of the file, where that is neither this user nor root; else empty
};

[[nodiscard]] PlanOrigin origin_of(const std::string& path, const PlanCases& cases);

/// One line, without its end: "not signed; made on another machine: ...".
[[nodiscard]] std::string to_text(const PlanOrigin& origin);
/// Key "origin" of collage.explain/1 and collage.explain-cases/1.
[[nodiscard]] nlohmann::ordered_json to_json(const PlanOrigin& origin);

/// A line for a user whose plan was made elsewhere and whose signature nobody checked; empty for all others.
[[nodiscard]] std::string origin_note(const std::string& path, const PlanCases& cases);

/// Where a signature is asked for, a model is no answer. Error signature/missing.
[[nodiscard]] Result<void> refuse_model(const std::string& path, const Signers& signers);

}  // namespace collage
