#include "serve/batch_run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "ir/tensor.h"
#include "serve/guarded.h"
#include "serve/text_tensor.h"

namespace collage {
namespace {

std::span<const std::byte> bytes_of(const DynamicOutput& output) {
  return {static_cast<const std::byte*>(output.data), byte_count(output.type, output.extents)};
}

/// The strings of all requests, one request's behind the other's.
Result<void> copy_texts(Session& session, std::size_t i, std::span<PendingRequest* const> batch) {
  const TensorPort& port = session.inputs()[i];
  Tensor joined{.type = ElementType::kString, .extents = port.type.extents(), .strings = {}};
  for (const PendingRequest* pending : batch) {
    COLLAGE_TRY(auto texts, texts_in(pending->inputs[i].bytes, pending->inputs[i].extents, "input " + port.name));
    std::ranges::move(texts, std::back_inserter(joined.strings));
  }
  return session.set_value(i, joined);
}

Result<void> copy_inputs(Session& session, std::span<PendingRequest* const> batch) {
  for (std::size_t i = 0; i < session.inputs().size(); ++i) {
    if (session.inputs()[i].type.is_held()) {
      COLLAGE_TRY_VOID(copy_texts(session, i, batch));
      continue;
    }
    std::span<std::byte> to = session.input(i);
    for (const PendingRequest* pending : batch) {
      const std::span<const std::byte> from = pending->inputs[i].bytes;
      if (from.size() > to.size())
        return fail(ExitCode::kBug, "serve/wrong-bytes", "input " + session.inputs()[i].name,
                    fmt::format("{} bytes", from.size()), fmt::format("{} bytes", to.size()));
      if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
      to = to.subspan(from.size());
    }
  }
  return {};
}

/// An output of strings, for each request its own.
Result<void> give_texts(const Tensor& output, std::size_t which, std::int64_t rows,
                        std::span<PendingRequest* const> batch) {
  const bool is_joined = batch.size() > 1;
  if (is_joined && (output.extents.empty() || output.extents.front() != rows))
    return fail(ExitCode::kBug, "serve/not-joined", fmt::format("output {}", which), "another number of rows",
                fmt::format("{} rows", rows));
  const std::size_t row = is_joined && rows > 0 ? output.strings.size() / static_cast<std::size_t>(rows) : 0;
  std::size_t at = 0;
  for (PendingRequest* pending : batch) {
    const std::size_t count = is_joined ? row * static_cast<std::size_t>(pending->rows) : output.strings.size();
    if (pending->wanted[which]) {
      PendingOutput& to = pending->outputs[which];
      to.type = ElementType::kString;
      to.extents = output.extents;
      if (is_joined) to.extents.front() = pending->rows;
      for (std::size_t i = 0; i < count; ++i) append_text(to.bytes, output.strings[at + i]);
    }
    at += count;
  }
  return {};
}

Result<void> copy_output(const DynamicOutput& output, std::size_t which, std::int64_t rows,
                         std::span<PendingRequest* const> batch) {
  const std::span<const std::byte> bytes = bytes_of(output);
  const bool is_joined = batch.size() > 1;
  if (is_joined && (output.extents.empty() || output.extents.front() != rows))
    return fail(ExitCode::kBug, "serve/not-joined", fmt::format("output {}", which), "another number of rows",
                fmt::format("{} rows", rows));
  const std::size_t row_bytes = is_joined && rows > 0 ? bytes.size() / static_cast<std::size_t>(rows) : 0;
  std::size_t at = 0;
  for (PendingRequest* pending : batch) {
    const std::size_t size = is_joined ? row_bytes * static_cast<std::size_t>(pending->rows) : bytes.size();
    if (pending->wanted[which]) {
      PendingOutput& to = pending->outputs[which];
      to.type = output.type;
      to.extents = output.extents;
      if (is_joined) to.extents.front() = pending->rows;
      to.bytes.assign(reinterpret_cast<const char*>(bytes.data()) + at, size);
    }
    at += size;
  }
  return {};
}

Result<void> run_as_one(const LoadedPlan& plan, Session& session, std::span<PendingRequest* const> batch,
                        const RunOptions& options) {
  if (plan.has_open_inputs()) COLLAGE_TRY_VOID(session.set_shapes(joined_extents(batch)));
  COLLAGE_TRY_VOID(copy_inputs(session, batch));
  COLLAGE_TRY_VOID(session.run(options));
  std::int64_t rows = 0;
  for (PendingRequest* pending : batch) {
    rows += pending->rows;
    pending->outputs.assign(plan.outputs().size(), {});
  }
  for (std::size_t o = 0; o < plan.outputs().size(); ++o) {
    if (std::ranges::none_of(batch, [o](const PendingRequest* pending) { return pending->wanted[o]; })) continue;
    if (session.outputs()[o].type.is_held()) {
      COLLAGE_TRY(const Tensor texts, session.value(o));
      COLLAGE_TRY_VOID(give_texts(texts, o, rows, batch));
      continue;
    }
    COLLAGE_TRY(const DynamicOutput output, session.output_tensor(o));
    COLLAGE_TRY_VOID(copy_output(output, o, rows, batch));
  }
  return {};
}

Result<void> run_guarded(const LoadedPlan& plan, Session& session, std::span<PendingRequest* const> batch,
                         const RunOptions& options = {}) {
  return guarded(
      "run", "a smaller request", [&] { return run_as_one(plan, session, batch, options); }, "runtime/out-of-memory");
}

/// How large the made-up elements of a request are. Small: floats around 0, whole numbers 0 and 1, which no model
/// refuses. Large: floats up to 1000, and all numbers of 8 bits; other whole numbers may be indices and stay small.
enum class Magnitude : std::uint8_t { kSmall, kLarge };

std::string made_up(ElementType type, const Extents& extents, Magnitude magnitude, std::mt19937& random) {
  const bool is_large = magnitude == Magnitude::kLarge;
  if (type == ElementType::kString) {
    std::string texts;
    for (std::int64_t i = 0; i < element_count(extents); ++i)
      append_text(texts, is_large ? fmt::format("{}", random()) : i % 2 == 0 ? "a" : "b");
    return texts;
  }
  std::string bytes(byte_count(type, extents), '\0');
  const auto fill = [&]<class T>(T) {
    std::uniform_real_distribution<double> draw(-1, 1);
    for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
      const double drawn = draw(random);
      const T value = std::is_floating_point_v<T> ? static_cast<T>(is_large ? drawn * 1000 : drawn)
                                                  : static_cast<T>(drawn > 0 ? 1 : 0);
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
  };
  // The upper byte of a float of 16 bits is its sign, its exponent and the first bits of its fraction.
  const auto fill_upper = [&](unsigned lowest, unsigned count) {
    for (std::size_t at = 1; at < bytes.size(); at += 2) bytes[at] = static_cast<char>(lowest + random() % count);
  };
  if (type == ElementType::kFloat32)
    fill(float{});
  else if (type == ElementType::kFloat64)
    fill(double{});
  else if (type == ElementType::kFloat16)
    fill_upper(is_large ? 0x50 : 0x38, 4);  // 32 to 64, so that sums stay below 65504; 0.5 to 1
  else if (type == ElementType::kBfloat16)
    fill_upper(is_large ? 0x44 : 0x3e, 2);  // 512 to 8192; 0.125 to 2
  else if (is_large && (type == ElementType::kUint8 || type == ElementType::kInt8))
    std::ranges::generate(bytes, [&random] { return static_cast<char>(random()); });
  else if (bits_of(type) == 64)
    fill(std::int64_t{});
  else if (bits_of(type) == 32)
    fill(std::int32_t{});
  else if (bits_of(type) == 16)
    fill(std::int16_t{});
  else if (bits_of(type) == 8)
    fill(std::int8_t{});
  return bytes;
}

/// A request whose inputs are made up, for a point of the domain.
std::unique_ptr<PendingRequest> pending_at(const LoadedPlan& plan, const ShapePoint& point, const BatchRule& rule,
                                           Magnitude magnitude, std::mt19937& random) {
  auto pending = std::make_unique<PendingRequest>();
  pending->own.reserve(plan.inputs().size());
  for (const TensorPort& port : plan.inputs()) {
    const Extents extents = type_at(plan.domain(), point, port.type).extents();
    pending->own.push_back(made_up(port.type.element, extents, magnitude, random));
    pending->inputs.push_back({.extents = extents, .bytes = std::as_bytes(std::span(pending->own.back()))});
  }
  pending->wanted.assign(plan.outputs().size(), true);
  pending->rows = point[rule.dimension];
  return pending;
}

/// Kernels for other shapes may round differently, and computations of 16 bits do so coarsely.
bool are_close(const PendingOutput& a, const PendingOutput& b) {
  if (a.type != b.type || a.extents != b.extents || a.bytes.size() != b.bytes.size()) return false;
  const auto tensor = [](const PendingOutput& output) {
    return Tensor{.type = output.type,
                  .extents = output.extents,
                  .data = Buffer::copy_of(std::as_bytes(std::span(output.bytes))),
                  .strings = {}};
  };
  const auto left = floats_of(tensor(a));
  const auto right = floats_of(tensor(b));
  if (!left || !right) return a.bytes == b.bytes;
  double largest = 0;
  for (const double value : *left)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < left->size(); ++i) {
    const double x = (*left)[i];
    const double y = (*right)[i];
    if (std::isnan(x) != std::isnan(y)) return false;
    if (std::isfinite(x) || std::isfinite(y))
      if (!(std::abs(x - y) <= 2e-2 * largest + 1e-6)) return false;
  }
  return true;
}

/// A point to try with, whose double in the rule's dimension is served too.
std::optional<ShapePoint> point_to_try(const LoadedPlan& plan, const BatchRule& rule) {
  const PlanCases& cases = plan.cases();
  std::vector<ShapePoint> points;
  for (const PlanCase& one : cases.cases) points.push_back(one.point);
  if (cases.generic) {
    ShapePoint lowest;
    for (const DimensionRange& range : cases.domain.dimensions) lowest.push_back(std::max<std::int64_t>(range.low, 1));
    points.push_back(lowest);
  }
  for (const ShapePoint& point : points) {
    ShapePoint doubled = point;
    doubled[rule.dimension] *= 2;
    if (point[rule.dimension] > 0 && plan_for(cases, point) && plan_for(cases, doubled)) return point;
  }
  return std::nullopt;
}

/// Runs two requests apart and together, the second of this magnitude: a model that takes a scale, a mean or a largest
/// element over all rows shows that only beside other rows that are unlike its own. Nothing when one of them cannot be
/// run alone.
std::optional<bool> are_independent_at(const LoadedPlan& plan, Session& session, const BatchRule& rule,
                                       const ShapePoint& point, Magnitude second) {
  std::mt19937 random(1);
  std::vector<std::unique_ptr<PendingRequest>> alone;
  std::vector<PendingRequest*> joined;
  for (const Magnitude magnitude : {Magnitude::kSmall, second}) {
    alone.push_back(pending_at(plan, point, rule, magnitude, random));
    joined.push_back(alone.back().get());
  }
  std::vector<std::vector<PendingOutput>> expected;
  for (PendingRequest* const& pending : joined) {
    if (!run_guarded(plan, session, {&pending, 1})) return std::nullopt;
    expected.push_back(std::move(pending->outputs));
  }
  if (!run_guarded(plan, session, joined)) return false;
  for (std::size_t i = 0; i < joined.size(); ++i)
    if (!std::ranges::equal(expected[i], joined[i]->outputs, are_close)) return false;
  return true;
}

}  // namespace

void run_batch(const LoadedPlan& plan, Session& session, std::span<PendingRequest* const> batch,
               const RunOptions& options) {
  Result<void> done = run_guarded(plan, session, batch, options);
  if (done) return;
  if (batch.size() == 1) {
    batch.front()->outputs.clear();
    batch.front()->error = std::move(done).error();
    return;
  }
  for (PendingRequest* const& pending : batch) run_batch(plan, session, {&pending, 1}, options);
}

bool rows_are_independent(const LoadedPlan& plan, Session& session, const BatchRule& rule) {
  const auto point = point_to_try(plan, rule);
  if (!point) return false;
  // A model that refuses large elements cannot meet them in another request either.
  for (const Magnitude second : {Magnitude::kLarge, Magnitude::kSmall})
    if (const auto independent = are_independent_at(plan, session, rule, *point, second)) return *independent;
  return false;
}

}  // namespace collage
