#include "tests/support/mutate/mutate_bytes.h"

#include <algorithm>
#include <cstring>

namespace collage::test {
namespace {

/// Most changes are small: large ones are found by the first check of a reader.
std::size_t length_of_run(Dice& dice, std::size_t most) {
  return std::min(most, 1 + dice.below(dice.one_in(4) ? 4096 : 8));
}

void overwrite_number(std::string& bytes, std::size_t at, Dice& dice) {
  const std::int64_t number = kBoundaryIntegers[dice.below(kBoundaryIntegers.size())];
  const std::size_t width = std::min(std::size_t{1} << dice.below(4), bytes.size() - at);
  std::memcpy(bytes.data() + at, &number, width);
}

void change_once(std::string& bytes, const std::string& other, Dice& dice) {
  const std::size_t at = dice.below(bytes.size());
  const std::size_t run = length_of_run(dice, bytes.size() - at);
  switch (dice.below(10)) {
    case 0:
      return bytes.resize(at);
    case 1:
      bytes.erase(at, run);
      return;
    case 2:
      bytes.insert(at, bytes, dice.below(bytes.size()), run);
      return;
    case 3:
      bytes.replace(at, run, run, static_cast<char>(dice.one_in(2) ? 0xff : 0));
      return;
    case 4:
      if (!other.empty()) bytes.replace(at, run, other, dice.below(other.size()), run);
      return;
    case 5:
    case 6:
      return overwrite_number(bytes, at, dice);
    case 7:
      bytes[at] = static_cast<char>(dice.next());
      return;
    default:
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
  }
}

}  // namespace

std::string mutated_bytes(std::string bytes, const std::string& other, Dice& dice) {
  const std::size_t changes = 1 + dice.below(dice.one_in(5) ? 16 : 3);
  for (std::size_t i = 0; i < changes && !bytes.empty(); ++i) change_once(bytes, other, dice);
  return bytes;
}

std::size_t broken_count(const std::string& bytes) { return bytes.size() * 9; }

std::string broken_bytes(const std::string& bytes, std::size_t index) {
  if (index < bytes.size()) return bytes.substr(0, index);
  std::string flipped = bytes;
  const std::size_t bit = index - bytes.size();
  flipped[bit / 8] = static_cast<char>(static_cast<unsigned char>(flipped[bit / 8]) ^ (1U << (bit % 8)));
  return flipped;
}

}  // namespace collage::test
