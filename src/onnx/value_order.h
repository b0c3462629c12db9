// Encodes permutations as short text. Exported models store them in metadata_props, so that a graph read back has the
// same ids.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collage {

inline constexpr const char* kIdsKey = "collage.ids";            ///< on a graph: ids of its values in file order
inline constexpr const char* kCapturesKey = "collage.captures";  ///< on a graph or node: order of its captures
inline constexpr const char* kAliasKey = "collage.alias";        ///< on an Identity that only exists in the file

using ValueOrder = std::vector<std::uint32_t>;

[[nodiscard]] bool is_identity(const ValueOrder& permutation);
/// "0-5,9,6-8": runs of consecutive numbers.
[[nodiscard]] std::string to_text(const ValueOrder& permutation);
/// Reads to_text's form; nothing unless it is a permutation of `size` numbers.
[[nodiscard]] std::optional<ValueOrder> parse_permutation(std::string_view text, std::size_t size);

}  // namespace collage
