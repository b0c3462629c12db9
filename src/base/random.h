// Seeded random numbers for generated inputs. The sequence is the same on every platform, which <random> does not
// guarantee for its distributions. Source: SplitMix64 (Steele, Lea and Flood 2014) and the Box-Muller transform (1958).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace collage {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  ///< [0, 1)
  /// The bias of the remainder is negligible for inputs.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }
  double sign() { return (next() & 1U) != 0 ? 1.0 : -1.0; }
  /// One of the two numbers that the transform gives.
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

 private:
  std::uint64_t state_;
};

}  // namespace collage
