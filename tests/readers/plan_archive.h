// A plan file taken apart and put together again with fitting checksums, so that changes get behind them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.h"

namespace collage::test {

/// Names and bytes, in the order of the archive; empty where the bytes are none.
using ArchiveMembers = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] ArchiveMembers members_of(const std::string& archive);
[[nodiscard]] std::string archive_of(const ArchiveMembers& members);

/// Changes JSON, members or bytes of a plan file. Checksums of the archive fit, unless bytes are changed.
[[nodiscard]] std::string mutated_plan(const std::string& plan, const std::string& other, Dice& dice);
/// Changes an artifact, not its machine code or the model of an engine in it, or types, formats and extents at its
/// ports, or both; the hashes that name it fit.
[[nodiscard]] std::string mutated_artifact(const std::string& plan, Dice& dice);

}  // namespace collage::test
