// Writes a random region as a graph text, value by value.
// In: draws of dice, operands. Out: lines of text; the names and types of what they make.
// How: names follow native_fixture.h. Operators whose results jump (comparisons, rounding) only see inputs; roots and
//      quotients stay away from zero: another order of summation is no other answer.
// Cost: none to speak of.
// Source: ours.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/type.h"
#include "tests/support/dice.h"

namespace collage::test {

/// A value of the text.
struct Made {
  std::string name;
  std::string element;
  Extents extents;
};

/// "[1,2,3]".
[[nodiscard]] std::string list(const Extents& numbers);

class RegionWriter {
 public:
  explicit RegionWriter(std::uint64_t seed) : dice_(seed) {}

 protected:
  std::int64_t from(std::int64_t low, std::int64_t high);  ///< both included
  Extents some_extents(std::size_t rank, std::int64_t most);
  /// What broadcasts to these extents: some axes 1, some leading ones gone.
  Extents narrowed(const Extents& extents);

  Made port(const std::string& prefix, const std::string& element, const Extents& extents);
  Made input(const Extents& extents, const std::string& element = "f32") { return port("x", element, extents); }
  Made weight(const Extents& extents) { return port("w", "f32", extents); }
  std::string constant(const std::string& element, const std::string& number);
  std::string scalar(const std::string& number) { return constant("f32", number); }
  Made node(const std::string& op, const std::vector<std::string>& inputs, const Extents& extents,
            const std::string& attributes = "", const std::string& element = "f32");

  Made unary(const Made& x);
  Made binary(const Made& x, const Made& y);
  Made chosen(const Extents& within, const Made& a, const Made& b);
  /// A mask over fresh inputs, which it is exact on.
  Made mask(const Extents& extents);
  /// Integers over fresh inputs, as f32.
  Made integers(const Extents& extents);
  /// Up to four nodes of one shape after a value, with residuals.
  Made epilogue(Made value);
  Made prologue(Made value);
  std::string text(const std::vector<Made>& outputs) const;

  Dice dice_;
  std::string constants_;
  int count_ = 0;

 private:
  std::string ports_;
  std::string nodes_;
};

}  // namespace collage::test
