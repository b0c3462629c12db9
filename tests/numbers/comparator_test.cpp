// The comparator against planted differences, and broken comparators against the same: a comparator may only be trusted
// when each way to break it shows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/numbers/planted_differences.h"

namespace collage::test {
namespace {

using Comparator = std::function<Comparison(const PlantedCase&)>;

Comparison product(const PlantedCase& c) {
  return compare(c.seen, c.expected, c.accuracy, c.is_16bit, c.one_step ? 1 : 0);
}

/// The first case that the comparator gets wrong; empty when none.
std::string found_out_by(const Comparator& comparator) {
  for (const PlantedCase& c : planted_cases())
    if (comparator(c).ok != c.is_right) return c.name;
  return {};
}

std::vector<float> floats(const Tensor& tensor) {
  const auto span = tensor.data.as<float>();
  return {span.begin(), span.end()};
}

Tensor with_floats(const Tensor& tensor, const std::vector<float>& values) {
  return make_tensor<float>(ElementType::kFloat32, tensor.extents, values);
}

bool are_floats(const PlantedCase& c) {
  return c.seen.type == ElementType::kFloat32 && c.expected.type == ElementType::kFloat32 &&
         c.seen.extents == c.expected.extents && c.seen.data.size() == c.expected.data.size();
}

/// A comparator that looks at changed tensors.
Comparator seeing(const std::function<void(std::vector<float>& seen, std::vector<float>& expected)>& change) {
  return [change](const PlantedCase& c) {
    if (!are_floats(c)) return product(c);
    std::vector<float> a = floats(c.seen);
    std::vector<float> b = floats(c.expected);
    change(a, b);
    PlantedCase changed = c;
    changed.seen = with_floats(c.seen, a);
    changed.expected = with_floats(c.expected, b);
    return product(changed);
  };
}

/// A comparator of single floats by another rule: `passes(seen, expected, largest, tolerance)`.
Comparator ruled(const std::function<bool(double, double, double, const Tolerance&)>& passes) {
  return [passes](const PlantedCase& c) {
    if (!are_floats(c)) return product(c);
    double largest = 0;
    for (const float value : floats(c.expected))
      if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    Comparison result;
    result.ok = true;
    const std::vector<float> a = floats(c.seen);
    const std::vector<float> b = floats(c.expected);
    const Tolerance tolerance = tolerance_of(c.accuracy, c.is_16bit);
    for (std::size_t i = 0; i < a.size(); ++i)
      result.ok &= passes(static_cast<double>(a[i]), static_cast<double>(b[i]), largest, tolerance);
    return result;
  };
}

bool alike(double a, double b, double allowed) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= allowed;
}

double bound(double b, double largest, const Tolerance& t) {
  return t.share * largest + t.relative * std::abs(b) + t.floor;
}

/// With its tolerance or flags changed.
Comparator retuned(const std::function<void(PlantedCase&)>& change) {
  return [change](const PlantedCase& c) {
    PlantedCase changed = c;
    change(changed);
    return product(changed);
  };
}

Comparison passed() {
  Comparison result;
  result.ok = true;
  return result;
}

std::vector<std::pair<std::string, Comparator>> broken() {
  using Floats = std::vector<float>;
  std::vector<std::pair<std::string, Comparator>> all;
  const auto add = [&](const char* name, Comparator comparator) { all.emplace_back(name, std::move(comparator)); };
  add("passes everything", [](const PlantedCase&) { return passed(); });
  add("refuses everything", [](const PlantedCase&) { return Comparison{}; });
  add("skips the last element", seeing([](Floats& a, Floats& b) {
        if (!a.empty()) a.back() = b.back();
      }));
  add("skips the first element", seeing([](Floats& a, Floats& b) {
        if (!a.empty()) a.front() = b.front();
      }));
  add("skips the tail of a vector of 8", seeing([](Floats& a, Floats& b) {
        for (std::size_t i = a.size() / 8 * 8; i < a.size(); ++i) a[i] = b[i];
      }));
  add("skips what follows the first block", seeing([](Floats& a, Floats& b) {
        for (std::size_t i = 1024; i < a.size(); ++i) a[i] = b[i];
      }));
  add("skips the first of every block", seeing([](Floats& a, Floats& b) {
        for (std::size_t i = 1024; i < a.size(); i += 1024) a[i] = b[i];
        if (a.size() > 1024 && a.size() % 1024 == 1) a.back() = b.back();
      }));
  add("looks at every second element", seeing([](Floats& a, Floats& b) {
        for (std::size_t i = 1; i < a.size(); i += 2) a[i] = b[i];
      }));
  add("compares magnitudes", seeing([](Floats& a, Floats& b) {
        for (Floats* values : {&a, &b})
          for (float& value : *values) value = std::abs(value);
      }));
  add("compares sorted", seeing([](Floats& a, Floats& b) {
        const auto key = [](float v) { return std::isnan(v) ? 1e39 : static_cast<double>(v); };
        std::ranges::sort(a, {}, key);
        std::ranges::sort(b, {}, key);
      }));
  add("takes any NaN as equal", ruled([](double a, double b, double m, const Tolerance& t) {
        return std::isnan(a) || std::isnan(b) || alike(a, b, bound(b, m, t));
      }));
  add("asks only whether the expected is NaN", ruled([](double a, double b, double m, const Tolerance& t) {
        return std::isnan(b) || alike(a, b, bound(b, m, t));
      }));
  add("asks only whether the seen is NaN", ruled([](double a, double b, double m, const Tolerance& t) {
        return std::isnan(a) || alike(a, b, bound(b, m, t));
      }));
  add("refuses NaN for NaN", ruled([](double a, double b, double m, const Tolerance& t) {
        return !std::isnan(b) && alike(a, b, bound(b, m, t));
      }));
  add("takes infinities without their sign", ruled([](double a, double b, double m, const Tolerance& t) {
        return (std::isinf(a) && std::isinf(b)) || alike(a, b, bound(b, m, t));
      }));
  add("takes an infinity for any large number", ruled([](double a, double b, double m, const Tolerance& t) {
        return (std::isinf(a) && std::abs(b) > 1e30) || alike(a, b, bound(b, m, t));
      }));
  add("skips infinities", ruled([](double a, double b, double m, const Tolerance& t) {
        return std::isinf(a) || std::isinf(b) || alike(a, b, bound(b, m, t));
      }));
  add("skips what is not positive", ruled([](double a, double b, double m, const Tolerance& t) {
        return (a <= 0 && b <= 0) || alike(a, b, bound(b, m, t));
      }));
  add("skips expected zeros",
      ruled([](double a, double b, double m, const Tolerance& t) { return b == 0 || alike(a, b, bound(b, m, t)); }));
  add("forgets to take the magnitude of the difference", ruled([](double a, double b, double m, const Tolerance& t) {
        return std::isfinite(a) && std::isfinite(b) ? a - b <= bound(b, m, t) : alike(a, b, 0);
      }));
  add("forgets it the other way", ruled([](double a, double b, double m, const Tolerance& t) {
        return std::isfinite(a) && std::isfinite(b) ? b - a <= bound(b, m, t) : alike(a, b, 0);
      }));
  add("relative to the seen", ruled([](double a, double b, double m, const Tolerance& t) {
        return alike(a, b, bound(std::isfinite(a) ? std::max(std::abs(a), std::abs(b)) * 1.5 : b, m, t));
      }));
  add("without the relative part",
      ruled([](double a, double b, double m, const Tolerance& t) { return alike(a, b, t.share * m + t.floor); }));
  add("without the share of the largest", ruled([](double a, double b, double, const Tolerance& t) {
        return alike(a, b, t.relative * std::abs(b) + t.floor);
      }));
  add("without the floor", ruled([](double a, double b, double m, const Tolerance& t) {
        return alike(a, b, t.share * m + t.relative * std::abs(b));
      }));
  add("relative to the largest", ruled([](double a, double b, double m, const Tolerance& t) {
        return alike(a, b, (t.share + t.relative) * m + t.floor);
      }));
  add("a relative bound that keeps its sign", ruled([](double a, double b, double m, const Tolerance& t) {
        return alike(a, b, t.share * m + t.relative * b + t.floor);
      }));
  add("a floor a thousand times larger", ruled([](double a, double b, double m, const Tolerance& t) {
        return alike(a, b, bound(b, m, t) + 1000 * t.floor);
      }));
  add("strictly less",
      ruled([](double a, double b, double m, const Tolerance& t) { return a != b && alike(a, b, bound(b, m, t)); }));
  add("twice as tolerant",
      ruled([](double a, double b, double m, const Tolerance& t) { return alike(a, b, 2 * bound(b, m, t)); }));
  add("half as tolerant",
      ruled([](double a, double b, double m, const Tolerance& t) { return alike(a, b, 0.5 * bound(b, m, t)); }));
  add("the mean of the differences", [](const PlantedCase& c) {
    if (!are_floats(c) || floats(c.seen).empty()) return product(c);
    const std::vector<float> a = floats(c.seen);
    const std::vector<float> b = floats(c.expected);
    double sum = 0;
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) != std::isnan(b[i])) return Comparison{};
      if (std::isfinite(a[i]) && std::isfinite(b[i]))
        sum += std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
      if (std::isfinite(b[i])) largest = std::max(largest, std::abs(static_cast<double>(b[i])));
    }
    Comparison result;
    result.ok = sum / static_cast<double>(a.size()) <= bound(0, largest, tolerance_of(c.accuracy, c.is_16bit));
    return result;
  });
  add("one of a hundred may be wrong", [](const PlantedCase& c) {
    if (!are_floats(c)) return product(c);
    std::size_t bad = 0;
    const std::vector<float> a = floats(c.seen);
    const std::vector<float> b = floats(c.expected);
    double largest = 0;
    for (const float value : b)
      if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
    for (std::size_t i = 0; i < a.size(); ++i)
      bad += alike(static_cast<double>(a[i]), static_cast<double>(b[i]),
                   bound(static_cast<double>(b[i]), largest, tolerance_of(c.accuracy, c.is_16bit)))
                 ? 0
                 : 1;
    Comparison result;
    result.ok = bad <= a.size() / 100;
    return result;
  });
  add("a type alone tells nothing", retuned([](PlantedCase& c) {
        if (c.seen.extents == c.expected.extents && c.seen.type != c.expected.type) c.seen = c.expected;
      }));
  add("only the number of elements matters", retuned([](PlantedCase& c) {
        if (c.seen.type == c.expected.type && c.seen.size() == c.expected.size()) c.seen.extents = c.expected.extents;
      }));
  add("only the rank matters", retuned([](PlantedCase& c) {
        if (c.seen.extents.size() == c.expected.extents.size() && c.seen.extents != c.expected.extents)
          c.seen = c.expected;
      }));
  add("does not count bytes", retuned([](PlantedCase& c) {
        if (c.seen.extents == c.expected.extents && c.seen.data.size() != c.expected.data.size()) c.seen = c.expected;
      }));
  add("always one step", retuned([](PlantedCase& c) { c.one_step = true; }));
  add("never one step", retuned([](PlantedCase& c) { c.one_step = false; }));
  add("always as for 16 bits", retuned([](PlantedCase& c) { c.is_16bit = true; }));
  add("never as for 16 bits", retuned([](PlantedCase& c) { c.is_16bit = false; }));
  for (const Accuracy accuracy : {Accuracy::kStrict, Accuracy::kStandard, Accuracy::kFast})
    add("one accuracy for all", retuned([accuracy](PlantedCase& c) { c.accuracy = accuracy; }));
  for (int type = 1; type <= static_cast<int>(ElementType::kInt2); ++type)
    add("a type that is not looked at", retuned([type](PlantedCase& c) {
          static const std::vector<ElementType> kPlanted = {
              ElementType::kFloat32,     ElementType::kFloat64, ElementType::kFloat16, ElementType::kBfloat16,
              ElementType::kInt8,        ElementType::kUint8,   ElementType::kInt16,   ElementType::kUint16,
              ElementType::kInt32,       ElementType::kUint32,  ElementType::kInt64,   ElementType::kUint64,
              ElementType::kBool,        ElementType::kInt4,    ElementType::kString,  ElementType::kComplex64,
              ElementType::kFloat8E4M3Fn};
          // Types that nothing is planted in share the code of one that something is.
          const bool is_planted = std::ranges::find(kPlanted, static_cast<ElementType>(type)) != kPlanted.end();
          const ElementType skipped = is_planted ? static_cast<ElementType>(type) : ElementType::kFloat32;
          if (c.seen.type == skipped && c.expected.type == skipped && c.seen.extents == c.expected.extents)
            c.seen = c.expected;
        }));
  add("wraps around", [](const PlantedCase& c) {
    if (c.seen.type != ElementType::kInt8 || c.expected.type != ElementType::kInt8 || !c.one_step) return product(c);
    Comparison result = passed();
    for (std::size_t i = 0; i < c.seen.data.size(); ++i) {
      const auto distance =
          static_cast<std::int8_t>(c.seen.data.as<std::uint8_t>()[i] - c.expected.data.as<std::uint8_t>()[i]);
      result.ok &= distance >= -1 && distance <= 1;
    }
    return result;
  });
  return all;
}

TEST(Comparator, CatchesEveryPlantedDifference) {
  std::size_t wrong = 0;
  for (const PlantedCase& c : planted_cases()) {
    wrong += c.is_right ? 0 : 1;
    const Comparison result = product(c);
    EXPECT_EQ(result.ok, c.is_right) << c.name << ": " << to_string(result);
    EXPECT_TRUE(result.ok || !result.mismatch.empty() || result.first_failing >= 0) << c.name << ": says where";
  }
  EXPECT_GE(wrong, 100U);
}

TEST(Comparator, ASizedBoundIsTheSameWhereSizesAreMagnitudes) {
  for (const PlantedCase& c : planted_cases()) {
    if (!is_float(c.expected.type) || c.one_step) continue;
    EXPECT_EQ(compare_sized(c.seen, c.expected, c.expected, c.accuracy, c.is_16bit).ok, c.is_right) << c.name;
  }
}

TEST(Comparator, SizesWidenTheBoundOfTheirElementsOnly) {
  const auto one = [](float value) { return make_tensor<float>(ElementType::kFloat32, {2}, {value, 1.0F}); };
  const auto judge = [&](float seen, float size) {
    return compare_sized(one(seen), one(0), one(size), Accuracy::kStandard, false).ok;
  };
  EXPECT_FALSE(judge(0.01F, 1));
  EXPECT_TRUE(judge(0.01F, 10));
  EXPECT_FALSE(judge(0.012F, 10));
  const Tensor sizes = make_tensor<float>(ElementType::kFloat32, {2}, {1.0F, 10.0F});
  EXPECT_FALSE(compare_sized(one(0.01F), one(0), sizes, Accuracy::kStandard, false).ok);
  EXPECT_FALSE(compare_sized(one(std::nanf("")), one(0), sizes, Accuracy::kStandard, false).ok);
  EXPECT_FALSE(
      compare_sized(one(0), one(0), make_tensor<float>(ElementType::kFloat32, {1}, {1}), Accuracy::kFast, false).ok);
}

TEST(Comparator, EveryBrokenOneIsFoundOut) {
  int found = 0;
  const auto comparators = broken();
  for (const auto& [name, comparator] : comparators) {
    const std::string by = found_out_by(comparator);
    EXPECT_FALSE(by.empty()) << name << " passes for the right one";
    found += by.empty() ? 0 : 1;
  }
  EXPECT_GE(comparators.size(), 40U);
  EXPECT_EQ(found, static_cast<int>(comparators.size()));
}

}  // namespace
}  // namespace collage::test
