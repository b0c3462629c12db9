#include "numbers/input_draw.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "base/narrow_float.h"
#include "base/random.h"

namespace collage {
namespace {

/// Elements are picked from so many drawn ones, by 12 bits of a random number.
constexpr std::size_t kPool = 4096;
/// How many recorded elements of a long tensor are sampled, in how many runs.
constexpr std::size_t kLooked = 32768;
constexpr std::size_t kRuns = 32;
constexpr std::size_t kFewKinds = 12;
/// Nothing an activation reaches: masks are written with such numbers.
constexpr double kMask = 5000;
/// Beyond what exponentials without a maximum taken off survive, and beyond usual clipping bounds.
constexpr double kLargest = 128;
constexpr double kLargestHalf = 65504;
/// Arithmetic on such a number takes some 150 cycles on many processors: in a large product a few of them will do.
constexpr double kDenormal = 1e-40;

/// What the record shows of a float value.
struct Domain {
  std::vector<double> seen;  ///< recorded elements
  double largest = 0;        ///< magnitude
  bool is_finite = true;
  bool is_few = false;  ///< of few kinds, or whole numbers only
};

/// The tensor itself when it is short, else runs of it, evenly spread.
Tensor sample_of(const Tensor& tensor) {
  const auto count = static_cast<std::size_t>(tensor.size());
  if (count <= kLooked || tensor.data.size() % count != 0) return tensor;
  const std::size_t width = tensor.data.size() / count;
  const std::size_t run = kLooked / kRuns * width;
  Tensor sample{.type = tensor.type, .extents = {static_cast<std::int64_t>(kLooked)}, .data = {}, .strings = {}};
  sample.data = Buffer::make(kLooked * width, [&](std::span<std::byte> out) {
    for (std::size_t r = 0; r < kRuns; ++r)
      std::memcpy(out.data() + r * run, tensor.data.data() + (count - kLooked / kRuns) * r / (kRuns - 1) * width, run);
  });
  return sample;
}

Domain domain_of(const std::vector<double>& values) {
  Domain domain;
  std::set<double> kinds;
  bool is_whole = true;
  for (const double value : values) domain.is_finite &= std::isfinite(value);
  if (!domain.is_finite || values.empty()) return domain;
  for (const double value : values) {
    if (kinds.size() <= kFewKinds) kinds.insert(value);
    is_whole &= value == std::floor(value);
    domain.largest = std::max(domain.largest, std::abs(value));
  }
  domain.seen = values;
  domain.is_few = is_whole || (kinds.size() <= kFewKinds && values.size() > 4 * kFewKinds);
  return domain;
}

double seeded(const Domain& domain, Random& random) {
  const double a = domain.seen[random.below(domain.seen.size())];
  const double b = domain.seen[random.below(domain.seen.size())];
  if (domain.is_few || a * b <= 0) return a;
  return a + (b - a) * random.uniform();
}

double large(const Domain& domain, bool narrow, Random& random) {
  const double scale = domain.largest > 0 ? domain.largest : 1.0;
  const double top = narrow ? std::clamp(4 * scale, 8.0, 256.0) : std::max(16 * scale, kLargest);
  switch (random.below(8)) {
    case 0:
      return random.sign() * static_cast<double>(random.below(4));
    case 1:
      return random.sign() * scale * std::exp2(-4 - 20 * random.uniform());
    case 2:
    case 3:
      return random.sign() * top * (0.5 + 0.5 * random.uniform());
    default:
      return random.sign() * std::min(top, scale * std::exp2(8 * random.uniform() - 4));
  }
}

/// One of so many elements of a tensor is denormal.
std::size_t denormal_every(std::size_t count) { return count <= kPool ? 10 : 256; }

double tie(std::size_t denormal_every, Random& random) {
  static const std::vector<double> kTied = {0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 0.5, 1e-30, 0x1p-24};
  if (random.below(denormal_every) == 0) return random.sign() * kDenormal;
  return random.sign() * kTied[random.below(kTied.size())];
}

/// `count` elements, each picked from the pool at random.
template <class T>
Buffer picked(const std::vector<T>& pool, std::size_t count, Random& random) {
  return Buffer::make(count * sizeof(T), [&](std::span<std::byte> out) {
    T* to = reinterpret_cast<T*>(out.data());
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (i % 5 == 0) bits = random.next();
      to[i] = pool[bits % kPool];
      bits /= kPool;
    }
  });
}

template <class T, class Make>
Buffer drawn(std::size_t count, Random& random, Make&& make) {
  std::vector<T> pool(kPool);
  for (T& element : pool) element = make();
  return picked(pool, count, random);
}

std::optional<Buffer> drawn_floats(const Tensor& recorded, Draw draw, bool narrow, Random& random) {
  const auto values = floats_of(sample_of(recorded));
  if (!values) return std::nullopt;
  const Domain domain = domain_of(*values);
  if (!domain.is_finite || domain.seen.empty()) return std::nullopt;
  if (domain.is_few && domain.largest > kMask) return std::nullopt;
  const auto count = static_cast<std::size_t>(recorded.size());
  const auto make = [&] {
    if (draw == Draw::kLarge) return large(domain, narrow, random);
    return draw == Draw::kTies ? tie(denormal_every(count), random) : seeded(domain, random);
  };
  switch (recorded.type) {
    case ElementType::kFloat32:
      return drawn<float>(count, random, [&] { return static_cast<float>(make()); });
    case ElementType::kFloat64:
      return drawn<double>(count, random, make);
    case ElementType::kFloat16:
      return drawn<std::uint16_t>(
          count, random, [&] { return to_half(static_cast<float>(std::clamp(make(), -kLargestHalf, kLargestHalf))); });
    case ElementType::kBfloat16:
      return drawn<std::uint16_t>(count, random, [&] { return to_bfloat(static_cast<float>(make())); });
    default:
      return std::nullopt;
  }
}

std::optional<Buffer> drawn_integers(const Tensor& recorded, Random& random) {
  const auto values = integers_of(sample_of(recorded));
  const auto count = static_cast<std::size_t>(recorded.size());
  if (!values || values->empty()) return std::nullopt;
  if (recorded.type == ElementType::kBool)
    return drawn<std::uint8_t>(count, random, [&] { return static_cast<std::uint8_t>(random.below(2)); });
  const auto [low, high] = std::ranges::minmax_element(*values);
  const bool has_zero = std::ranges::find(*values, 0) != values->end();
  const std::uint64_t span = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low) + 1;
  const auto make = [&]() -> std::int64_t {
    const std::uint64_t offset = span == 0 ? random.next() : random.next() % span;
    const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(*low) + offset);
    return value == 0 && !has_zero ? *high : value;
  };
  switch (bits_of(recorded.type)) {
    case 8:
      return drawn<std::uint8_t>(count, random, [&] { return static_cast<std::uint8_t>(make()); });
    case 16:
      return drawn<std::uint16_t>(count, random, [&] { return static_cast<std::uint16_t>(make()); });
    case 32:
      return drawn<std::uint32_t>(count, random, [&] { return static_cast<std::uint32_t>(make()); });
    case 64:
      return drawn<std::uint64_t>(count, random, [&] { return static_cast<std::uint64_t>(make()); });
    default:
      return std::nullopt;
  }
}

}  // namespace

Tensor draw_like(const Tensor& recorded, Draw draw, std::uint64_t seed, bool narrow) {
  Random random(seed);
  auto bytes = drawn_floats(recorded, draw, narrow, random);
  if (!bytes) bytes = drawn_integers(recorded, random);
  if (!bytes) return recorded;
  return {.type = recorded.type, .extents = recorded.extents, .data = *std::move(bytes), .strings = {}};
}

}  // namespace collage
