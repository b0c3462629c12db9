#include "tests/support/mutate/mutate_json.h"

#include <array>
#include <vector>

#include "base/json.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_text.h"

namespace collage::test {
namespace {

using nlohmann::json;

/// Stand in the tree for what a tree cannot hold; replaced in the text.
constexpr std::string_view kDeepMark =
    "\x01"
    "deep";
constexpr std::string_view kHugeMark =
    "\x01"
    "huge";

constexpr std::size_t kMostEntries = 3000;
/// Larger texts become no trees, and no change makes a larger one: a tree takes many times its text.
constexpr std::size_t kMostBytes = std::size_t{1} << 22;

void collect(json& at, std::vector<json*>& places, std::vector<std::string>& texts) {
  places.push_back(&at);
  if (at.is_string()) texts.push_back(at.get<std::string>());
  if (at.is_structured())
    for (json& inside : at) collect(inside, places, texts);
}

class JsonMutation {
 public:
  JsonMutation(json& root, Dice& dice) : root_(root), dice_(dice) {}

  void change_once() {
    places_.clear();
    texts_.clear();
    collect(root_, places_, texts_);
    // The root itself is seldom worth a change: a reader sees at once that it is another.
    json& place = *places_[places_.size() > 1 && !dice_.one_in(50) ? 1 + dice_.below(places_.size() - 1) : 0];
    if (dice_.one_in(8)) return change_type(place);
    if (place.is_structured() && !place.empty()) return change_container(place);
    if (place.is_string()) return change_text(place);
    if (place.is_number()) return change_number(place);
    change_type(place);
  }

 private:
  json& any() { return *places_[dice_.below(places_.size())]; }

  void change_number(json& place) {
    switch (dice_.below(6)) {
      case 0:
        if (place.is_number_float()) {
          place = place.get<double>() + (dice_.one_in(2) ? 1 : -1);
        } else {
          // Integers may lie at the end of their type: no arithmetic that overflows.
          const auto bits = place.is_number_unsigned() ? place.get<std::uint64_t>()
                                                       : static_cast<std::uint64_t>(place.get<std::int64_t>());
          place = static_cast<std::int64_t>(bits + (dice_.one_in(2) ? 1 : ~std::uint64_t{0}));
        }
        return;
      case 1:
        if (const json other = any(); other.is_number()) place = other;
        return;
      case 2:
        place = static_cast<double>(dice_.below(1000)) / 7.0 - 50;
        return;
      case 3:
        place = std::numeric_limits<std::uint64_t>::max() - dice_.below(3);
        return;
      default:
        place = kBoundaryIntegers[dice_.below(kBoundaryIntegers.size())];
    }
  }

  void change_text(json& place) {
    static const std::array<std::string, 14> kTexts = {
        "",    "x",          "../x",  "/etc/passwd", std::string("a\0b", 3),  "nan", "-1", "0-4294967295", "plain",
        "f32", "4294967296", "1e999", "%s%n",        std::string(70'000, 'n')};
    if (dice_.one_in(3))
      place = kTexts[dice_.below(kTexts.size())];
    else if (dice_.one_in(2) && !texts_.empty())
      place = dice_.pick(texts_);
    else
      place = mutated_text(place.get<std::string>(), "", dice_);
  }

  void change_type(json& place) {
    switch (dice_.below(9)) {
      case 0:
        place = nullptr;
        return;
      case 1:
        place = dice_.one_in(2);
        return;
      case 2:
        place = json::array();
        return;
      case 3:
        place = json::object();
        return;
      case 4:
        place = "text";
        return;
      case 5:
        place = kBoundaryIntegers[dice_.below(kBoundaryIntegers.size())];
        return;
      case 6:
        place = dice_.one_in(2) ? kDeepMark : kHugeMark;
        return;
      case 7:
        place = json::array({place});
        return;
      default: {
        json copy = any();
        place = std::move(copy);
      }
    }
  }

  /// Removes, repeats, exchanges entries.
  void change_container(json& place) {
    const auto entry = std::next(place.begin(), static_cast<std::ptrdiff_t>(dice_.below(place.size())));
    switch (dice_.below(6)) {
      case 0:
      case 1:
        place.erase(entry);
        return;
      case 2:
        std::swap(*entry, *std::next(place.begin(), static_cast<std::ptrdiff_t>(dice_.below(place.size()))));
        return;
      case 3:
        if (place.is_object()) return change_key(place, entry);
        repeat(place, *entry, 1 + dice_.below(2));
        return;
      case 4:
        if (place.is_array() && dice_.one_in(10)) return repeat(place, *entry, kMostEntries);
        [[fallthrough]];
      default: {
        json copy = any();
        *entry = std::move(copy);
      }
    }
  }

  void change_key(json& place, json::iterator entry) {
    json value = *entry;
    const std::string key = dice_.one_in(2) || texts_.empty() ? entry.key() + "x" : dice_.pick(texts_);
    if (dice_.one_in(2)) place.erase(entry);
    place[key] = std::move(value);
  }

  static void repeat(json& place, const json& entry, std::size_t times) {
    if (entry.dump(-1, ' ', false, json::error_handler_t::replace).size() * times > kMostBytes) return;
    const json copy = entry;
    for (std::size_t i = 0; i < times; ++i) place.push_back(copy);
  }

  json& root_;
  Dice& dice_;
  std::vector<json*> places_;
  std::vector<std::string> texts_;
};

void replace_all(std::string& text, std::string_view mark, const std::string& by) {
  // As dump() writes it: a control character is an escape.
  const std::string escaped = json(mark).dump();
  for (std::size_t at = text.find(escaped); at != std::string::npos && text.size() < kMostBytes;
       at = text.find(escaped, at + by.size()))
    text.replace(at, escaped.size(), by);
}

std::string nested(Dice& dice) {
  constexpr std::array<std::size_t, 4> kDepths = {40, 200, 3000, 150'000};
  const std::size_t depth = kDepths[dice.below(kDepths.size())];
  if (dice.one_in(2)) return std::string(depth, '[') + std::string(depth, ']');
  std::string text;
  for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
  return text + "0" + std::string(depth, '}');
}

}  // namespace

std::string mutated_json(json root, Dice& dice) {
  JsonMutation mutation(root, dice);
  const std::size_t changes = 1 + dice.below(3);
  for (std::size_t i = 0; i < changes; ++i) mutation.change_once();
  std::string text = root.dump(-1, ' ', false, json::error_handler_t::replace);
  replace_all(text, kDeepMark, nested(dice));
  replace_all(text, kHugeMark, dice.one_in(2) ? "1e999" : "123456789012345678901234567890");
  return text;
}

std::string mutated_json_text(const std::string& text, Dice& dice) {
  if (text.size() > kMostBytes) return mutated_bytes(text, text, dice);
  json root = json_of(text);  // nothing for text so deep that a walk over it would take all of the stack
  if (root.is_discarded() || dice.one_in(10)) return mutated_bytes(text, text, dice);
  return mutated_json(std::move(root), dice);
}

}  // namespace collage::test
