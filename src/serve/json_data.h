// The elements of a tensor that a request gives as JSON, before its type is known: keys of an object have no order.
// In:  scalars and the borders of nested lists, one after the other. Out: the bytes of a tensor, row-major.
// Cost: 8 bytes an element until they are converted, twice that while the list grows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "ir/type.h"

namespace collage {

class JsonData {
 public:
  void add(bool value);
  void add(std::int64_t value);
  void add(std::uint64_t value);
  void add(double value);
  void add(std::string value);
  void open_list();
  void close_list();

  /// The elements as a tensor of this type. The list is flat, or nested as `extents` says.
  /// Errors (bad input): serve/wrong-data for another number of elements, another nesting or another kind of element;
  /// serve/out-of-range for a number that the type cannot hold; serve/needs-binary for f16 and bf16. Strings are those
  /// of text_tensor.h.
  [[nodiscard]] Result<std::string> bytes(ElementType type, const Extents& extents, const std::string& where) const;

 private:
  struct Level {
    std::int64_t size = -1;  ///< elements or lists in each list of this level; -1 = none is complete
  };

  void count();

  /// Doubles if has_real_, else integers in two's complement. Numbers below 0 beside some above the largest signed
  /// integer are doubles too.
  std::vector<std::uint64_t> bits_;
  std::vector<std::int64_t> open_;  ///< how many elements or lists each open list has so far
  std::vector<Level> levels_;
  bool is_ragged_ = false;
  bool has_real_ = false;
  bool has_negative_ = false;
  bool has_large_ = false;  ///< above the largest signed integer
  std::uint8_t kinds_ = 0;  ///< of elements: 1 = number, 2 = truth value, 4 = text
  std::string texts_;       ///< as in text_tensor.h, each an element without a number
};

}  // namespace collage
