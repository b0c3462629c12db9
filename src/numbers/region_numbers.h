// Derives from a region's operators which inputs may be tried on it, and how its outputs may then be judged.
// In:  a region. Out: the kinds of input sets that are meaningful; the inputs that must keep their recorded values.
// Cost: linear in the region's operands.
// Source: forward error analysis as in Higham, Accuracy and Stability of Numerical Algorithms, ch. 3: the rounding
//       error of a sum of products is bounded by the sum of |a||b|, whatever the order of summation.
#pragma once

#include <vector>

#include "region/region.h"

namespace collage {

/// How an operator propagates magnitudes and rounding errors.
enum class NumericKind : std::uint8_t {
  kMoves,     ///< copies or selects elements
  kSums,      ///< sums of products: bounded by the same sums of magnitudes
  kMild,      ///< element by element, no steeper than the identity (up to a factor below 2)
  kNorms,     ///< well-behaved on exact inputs only, at any size: Softmax, LayerNormalization...
  kJumps,     ///< a small error of the input may change the output by much: Round, comparisons, quantisers...
  kIntegers,  ///< computes integers or shapes
  kOther      ///< continuous on its domain
};

/// Constants matter: a slope above one, a bound that excludes zero, a computed divisor make an operator kOther.
[[nodiscard]] NumericKind numbers_of(const Graph& graph, const Node& node);

struct RegionNumbers {
  bool may_seed = false;    ///< new values in the recorded domain can be judged
  bool may_stress = false;  ///< values far outside the recorded domain can be judged
  bool may_size = false;    ///< and by sums of magnitudes (magnitude_twin.h)
  bool may_tie = false;     ///< inputs full of equal values, zeros and denormals can be judged
  std::vector<bool>
      kept;  ///< by input of the region: keeps its recorded values, because it determines a shape or cannot be drawn
};

[[nodiscard]] RegionNumbers study(const Graph& graph, const Uses& uses, const Region& region);

}  // namespace collage
