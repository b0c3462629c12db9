// Lowers an analysed region to programs: lists the ways to run it, and makes the program of one of them.
// In:  a graph, a region, its Analysis. Out: choices by name; a Lowered program with the formats of its ports.
// No library calls, so a choice may turn out to have no implementation (realise.h).
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "lowering/composer.h"
#include "region/narrow_variant.h"

namespace collage::onednn {

/// Which primitive computes the head.
enum class Method : std::uint8_t {
  kOwn,
  kInnerProduct,
  kMergedGroups,   ///< a convolution with groups joined until they fill blocks; zeros where they do not meet
  kStrips,         ///< convolutions in series a few rows at a time
  kParts,          ///< a join as one copy for each part
  kSeparateBlocks  ///< a transposed convolution as a 1x1 convolution and a copy
};

/// One way to run a region. The name is the variant's name.
struct Choice {
  std::string name;
  Layout in = Layout::kPlain;
  Layout out = Layout::kPlain;
  std::string family;
  Method method = Method::kOwn;
  bool adds_in_place = false;              ///< a residual is accumulated into the memory it comes in
  std::optional<NarrowPorts> narrow = {};  ///< which f32 ports are stored in 16 bits; the products then are of 16 bits
  bool splits = false;                     ///< products of f32 as those of pairs of bf16 (lowering/split.h)
};

/// What choices there are beside those in full precision.
struct FewBits {
  std::optional<ElementType> narrow = {};  ///< ports and products in this type
  bool splits = false;                     ///< products of split floats
};

[[nodiscard]] std::vector<Choice> choices_of(const Graph& graph, const Analysis& analysis, Accuracy accuracy,
                                             const FewBits& few_bits = {});
[[nodiscard]] std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Analysis& analysis,
                                                    const Choice& choice);

/// How the elements of a tensor are stored.
struct Arrangement {
  ElementType element = ElementType::kFloat32;
  Layout layout = Layout::kPlain;
  bool operator==(const Arrangement&) const = default;
};

/// The program that changes a tensor's layout or element type.
[[nodiscard]] Program reorder_program(const Extents& extents, const Arrangement& from, const Arrangement& to);

}  // namespace collage::onednn
