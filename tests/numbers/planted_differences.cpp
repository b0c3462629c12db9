#include "tests/numbers/planted_differences.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/numbers/f32_tensor.h"

namespace collage::test {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

std::vector<float> wave(std::size_t count, float scale = 10) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * std::sin(static_cast<float>(i) + 0.5F);
  return values;
}

class Cases {
 public:
  void wrong(std::string name, Tensor seen, Tensor expected, PlantedCase rules = {}) {
    rules.name = std::move(name);
    rules.seen = std::move(seen);
    rules.expected = std::move(expected);
    all.push_back(std::move(rules));
  }
  void right(std::string name, Tensor seen, Tensor expected, PlantedCase rules = {}) {
    rules.is_right = true;
    wrong(std::move(name), std::move(seen), std::move(expected), std::move(rules));
  }
  std::vector<PlantedCase> all;
};

/// One bad element at the places where loops go wrong.
void add_single_elements(Cases& cases) {
  for (const std::size_t count : {1U, 2U, 7U, 8U, 9U, 31U, 1023U, 1024U, 1025U, 3000U}) {
    const std::vector<float> good = wave(count);
    cases.right("equal", f32(good), f32(good));
    for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
      const auto with = [&](const char* what, float value) {
        std::vector<float> bad = good;
        bad[at] = value;
        cases.wrong(std::string(what) + " at " + std::to_string(at) + " of " + std::to_string(count), f32(bad),
                    f32(good));
      };
      with("sign", -good[at]);
      with("a little more", good[at] + 0.02F);
      with("a little less", good[at] - 0.02F);
      with("NaN for a number", kNan);
      with("infinity for a number", kInf);
      with("minus infinity for a number", -kInf);
      with("zero for a number", 0);
      with("poison", -kNan);
      std::vector<float> expected = good;
      expected[at] = kNan;
      cases.wrong("number for NaN", f32(good), f32(expected));
      expected[at] = kInf;
      cases.wrong("number for infinity", f32(good), f32(expected));
      cases.right("infinity for infinity", f32(expected), f32(expected));
      std::vector<float> other = expected;
      other[at] = -kInf;
      cases.wrong("the other infinity", f32(other), f32(expected));
      other[at] = kNan;
      cases.wrong("NaN for infinity", f32(other), f32(expected));
      cases.right("NaN for NaN", f32(other), f32(other));
    }
  }
}

void add_whole_tensors(Cases& cases) {
  const std::vector<float> good = wave(300);
  std::vector<float> bad = wave(300, 10.05F);
  cases.wrong("half a per cent too large", f32(bad), f32(good));
  cases.wrong("nothing written", f32(std::vector<float>(300, kNan)), f32(good));
  cases.wrong("all zero", f32(std::vector<float>(300, 0)), f32(good));
  cases.wrong("another run's output", f32(wave(300, -7)), f32(good));
  bad = good;
  std::rotate(bad.begin(), bad.begin() + 1, bad.end());
  cases.wrong("shifted by one", f32(bad), f32(good));
  bad = good;
  std::swap(bad[10], bad[200]);
  cases.wrong("two swapped", f32(bad), f32(good));
  std::reverse(bad.begin(), bad.end());
  cases.wrong("reversed", f32(bad), f32(good));
  bad = good;
  for (float& value : bad) value = std::abs(value);
  cases.wrong("magnitudes", f32(bad), f32(good));
  bad = good;
  for (float& value : bad) value = -value;
  cases.wrong("negated", f32(bad), f32(good));
  cases.wrong("negative, far apart", f32({-5, 0, -1}), f32({-1, 0, -1}));
  cases.wrong("zero for a negative", f32({0, 0, -1}), f32({-3, 0, -1}));
  cases.wrong("not zero where zero is expected", f32({2e-6F}), f32({0}));
  cases.wrong("negative where zero is expected", f32({-2e-6F}), f32({0}));
  cases.right("the floor where zero is expected", f32({0.9e-6F, -0.9e-6F, -0.0F}), f32({0, 0, 0}));
  cases.wrong("a huge element hides nothing", f32({1.0F, 1e6F}), f32({0.0F, 1.0F}));
  cases.wrong("infinity hides nothing", f32({1.0F, kInf}), f32({0.0F, kInf}));
  constexpr float kMost = std::numeric_limits<float>::max();
  cases.wrong("overflow", f32({kInf, 1}), f32({kMost, 1}));
  cases.wrong("the other extreme", f32({-kMost, 1}), f32({kMost, 1}));
  cases.right("extremes", f32({kMost, -kMost}), f32({kMost, -kMost}));
  std::vector<float> small(300, 0.0F);
  small[7] = 1;
  std::vector<float> one = small;
  one[8] = 1e-3F;
  cases.wrong("one element, far below the mean of all", f32(one), f32(small));
}

/// Just inside and just outside of every class: largest magnitude 100, elements 0 and 50.
void add_bounds(Cases& cases) {
  struct Class {
    Accuracy accuracy;
    bool is_16bit;
    double share;
    double relative;
  };
  for (const Class& c : {Class{Accuracy::kStrict, false, 1e-5, 1e-4}, Class{Accuracy::kStandard, false, 1e-4, 1e-3},
                         Class{Accuracy::kFast, false, 1e-2, 1e-2}, Class{Accuracy::kStrict, true, 2e-3, 1e-2},
                         Class{Accuracy::kFast, true, 2e-3, 1e-2}})
    for (const float value : {0.0F, 50.0F, -50.0F})
      for (const float sign : {1.0F, -1.0F}) {
        const double allowed = c.share * 100 + c.relative * std::abs(value) + 1e-6;
        const PlantedCase rules{.is_16bit = c.is_16bit, .accuracy = c.accuracy};
        const auto off = [&](double error) { return f32({value + sign * static_cast<float>(error), 100.0F, -1.0F}); };
        const Tensor expected = f32({value, 100.0F, -1.0F});
        cases.right("inside the bound", off(0.98 * allowed), expected, rules);
        cases.wrong("outside the bound", off(1.03 * allowed), expected, rules);
        cases.wrong("twice the bound", off(2 * allowed), expected, rules);
      }
}

void add_kinds(Cases& cases) {
  const Tensor two = f32({1, 2});
  cases.wrong("wider type", make_tensor<double>(ElementType::kFloat64, {2}, {1, 2}), two);
  cases.wrong("another type of the same size", make_tensor<std::int32_t>(ElementType::kInt32, {2}, {1, 2}), two);
  cases.wrong("rank", make_tensor<float>(ElementType::kFloat32, {1, 2}, {1, 2}), two);
  cases.wrong("one more", f32({1, 2, 3}), two);
  cases.wrong("one less", f32({1}), two);
  cases.wrong("transposed shape", make_tensor<float>(ElementType::kFloat32, {2, 1}, {1, 2}),
              make_tensor<float>(ElementType::kFloat32, {1, 2}, {1, 2}));
  Tensor torn = two;
  torn.data = two.data.slice(0, 4);
  cases.wrong("torn bytes", torn, two);
  cases.wrong("empty for one", f32({}), f32({1}));
  cases.right("empty", f32({}), f32({}));
}

template <class T>
void add_integers(Cases& cases, ElementType type, T value) {
  const auto make = [&](T last) { return make_tensor<T>(type, {3}, {T{1}, T{0}, last}); };
  const auto next = static_cast<T>(value + 1);
  const auto after = static_cast<T>(value + 2);
  cases.right("equal integers", make(value), make(value));
  cases.wrong("index off by one", make(next), make(value), {.accuracy = Accuracy::kFast});
  cases.wrong("index off by minus one", make(value), make(next));
  cases.right("one step", make(next), make(value), {.one_step = true});
  cases.right("one step down", make(value), make(next), {.one_step = true});
  cases.wrong("two steps", make(after), make(value), {.one_step = true});
  cases.wrong("two steps down", make(value), make(after), {.one_step = true});
  cases.wrong("from end to end", make(std::numeric_limits<T>::max()), make(std::numeric_limits<T>::min()),
              {.one_step = true});
  cases.wrong("from end to end, down", make(std::numeric_limits<T>::min()), make(std::numeric_limits<T>::max()),
              {.one_step = true});
}

void add_other_types(Cases& cases) {
  add_integers<std::int8_t>(cases, ElementType::kInt8, 5);
  add_integers<std::uint8_t>(cases, ElementType::kUint8, 5);
  add_integers<std::int16_t>(cases, ElementType::kInt16, -7);
  add_integers<std::uint16_t>(cases, ElementType::kUint16, 7);
  add_integers<std::int32_t>(cases, ElementType::kInt32, -1);
  add_integers<std::uint32_t>(cases, ElementType::kUint32, 3);
  add_integers<std::int64_t>(cases, ElementType::kInt64, 1LL << 40);
  add_integers<std::uint64_t>(cases, ElementType::kUint64, 1ULL << 63);
  const auto packed = [](std::uint8_t first, std::uint8_t last) {
    return Tensor{.type = ElementType::kInt4,
                  .extents = {3},
                  .data = make_tensor<std::uint8_t>(ElementType::kUint8, {2}, {first, last}).data,
                  .strings = {}};
  };
  cases.wrong("low half", packed(0x22, 0x03), packed(0x21, 0x03));
  cases.wrong("high half", packed(0x31, 0x03), packed(0x21, 0x03));
  cases.wrong("last half", packed(0x21, 0x04), packed(0x21, 0x03));
  cases.wrong("two steps of four bits", packed(0x21, 0x05), packed(0x21, 0x03), {.one_step = true});
  cases.right("unused half", packed(0x21, 0xF3), packed(0x21, 0x03));
  cases.right("one step of four bits", packed(0x21, 0x04), packed(0x21, 0x03), {.one_step = true});
  const auto bools = [](std::uint8_t a, std::uint8_t b) {
    return make_tensor<std::uint8_t>(ElementType::kBool, {2}, {a, b});
  };
  cases.wrong("bool", bools(0, 0), bools(0, 1));
  cases.wrong("a true that is not 1", bools(0, 2), bools(0, 1));
  cases.right("bools", bools(1, 0), bools(1, 0));
  const Tensor d = make_tensor<double>(ElementType::kFloat64, {3}, {1, -2, 3});
  cases.wrong("double", make_tensor<double>(ElementType::kFloat64, {3}, {1, -2, 3.1}), d);
  cases.wrong("sign of a double", make_tensor<double>(ElementType::kFloat64, {3}, {1, 2, 3}), d);
  cases.right("doubles", make_tensor<double>(ElementType::kFloat64, {3}, {1, -2 + 1e-8, 3}), d);
  const Tensor c = make_tensor<float>(ElementType::kComplex64, {2}, {1, 2, 3, 4});
  cases.wrong("imaginary part", make_tensor<float>(ElementType::kComplex64, {2}, {1, 2, 3, -4}), c);
  cases.wrong("real part", make_tensor<float>(ElementType::kComplex64, {2}, {1, 2, 2.9F, 4}), c);
  const std::vector<std::uint16_t> halves = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7e00};
  const auto half = [](const std::vector<std::uint16_t>& bits) {
    return make_tensor<std::uint16_t>(ElementType::kFloat16, {5}, bits);
  };
  for (const auto& [at, bits] : std::vector<std::pair<std::size_t, std::uint16_t>>{
           {0, 0x3d00}, {0, 0xbc00}, {1, 0x4000}, {2, 0x3c00}, {3, 0x7bff}, {3, 0xfc00}, {4, 0x3c00}, {0, 0x7e00}}) {
    std::vector<std::uint16_t> bad = halves;
    bad[at] = bits;
    cases.wrong("16-bit float", half(bad), half(halves), {.is_16bit = true});
  }
  cases.right("16-bit floats", half(halves), half(halves), {.is_16bit = true});
  const auto bfloat = [](std::uint16_t bits) {
    return make_tensor<std::uint16_t>(ElementType::kBfloat16, {1}, {bits});
  };
  cases.wrong("bfloat", bfloat(0x3f90), bfloat(0x3f80), {.is_16bit = true});
  cases.wrong("sign of a bfloat", bfloat(0xbf80), bfloat(0x3f80), {.is_16bit = true});
  const auto small = [](std::uint8_t bits) {
    return make_tensor<std::uint8_t>(ElementType::kFloat8E4M3Fn, {1}, {bits});
  };
  cases.wrong("8-bit float", small(0x38), small(0x39));
  cases.right("NaN of 8 bits", small(0x7f), small(0xff));
  const Tensor text{.type = ElementType::kString, .extents = {2}, .data = {}, .strings = {"a", "b"}};
  Tensor other = text;
  other.strings[1] = "c";
  cases.wrong("string", other, text);
  other.strings.pop_back();
  cases.wrong("string missing", other, text);
}

}  // namespace

std::vector<PlantedCase> planted_cases() {
  Cases cases;
  add_single_elements(cases);
  add_whole_tensors(cases);
  add_bounds(cases);
  add_kinds(cases);
  add_other_types(cases);
  return std::move(cases.all);
}

}  // namespace collage::test
