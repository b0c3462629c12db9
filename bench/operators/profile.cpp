#include "bench/operators/profile.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "bench/operators/case_maker.h"
#include "numbers/reference_run.h"

namespace collage::bench {
namespace {

constexpr std::int64_t kTimedNs = 30'000'000;
constexpr std::size_t kFewestRuns = 3;
constexpr std::size_t kMostRuns = 50;
constexpr std::pair<double, double> kPositive = {0.1, 1.0};

bool is_finite(const std::vector<Tensor>& tensors) {
  return std::ranges::all_of(tensors, [](const Tensor& tensor) {
    const auto values = floats_of(tensor);
    return !values || std::ranges::all_of(*values, [](double value) { return std::isfinite(value); });
  });
}

void make_positive(OperatorCase& which) {
  for (const ValueId id : which.graph.inputs) {
    const Value& value = which.graph.value(id);
    if (is_float(value.type.element) && value.name.starts_with('x')) which.ranges[value.name] = kPositive;
  }
}

struct Timed {
  double us = 0;
  bool is_finite = false;
};

Result<Timed> time_once(const OperatorCase& which, Backend& engine) {
  COLLAGE_TRY(const ReadyCase ready, ready_case(which));
  COLLAGE_TRY(ReferenceRun run, ReferenceRun::create(engine, ready.graph));
  COLLAGE_TRY(const std::vector<Tensor> outputs, run.run(ready.inputs));
  std::vector<std::int64_t> samples;
  for (std::int64_t total = 0; samples.size() < kFewestRuns || (total < kTimedNs && samples.size() < kMostRuns);) {
    const auto ran = run.run(ready.inputs);
    if (!ran) return std::unexpected(ran.error());
    samples.push_back(run.run_ns());
    total += run.run_ns();
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return Timed{.us = static_cast<double>(*middle) / 1000, .is_finite = is_finite(outputs)};
}

}  // namespace

Profile::Profile(std::string file) : file_(std::move(file)) {
  std::ifstream stream(file_);
  if (!stream) return;
  const Json json = Json::parse(stream, nullptr, false);
  if (!json.is_object()) return;
  for (const auto& [key, entry] : json.items())
    entries_[key] = {.us = entry.value("us", 0.0), .is_positive = entry.value("positive", false)};
}

Profile::Entry Profile::measure(OperatorCase& which, Backend& engine) {
  auto timed = time_once(which, engine);
  if (!timed) return {};
  if (timed->is_finite) return {.us = timed->us};
  make_positive(which);
  timed = time_once(which, engine);
  return timed && timed->is_finite ? Entry{.us = timed->us, .is_positive = true} : Entry{};
}

std::optional<double> Profile::time_us(OperatorCase& which, Backend& engine) {
  const std::string key = hash_hex(key_of(which));
  auto found = entries_.find(key);
  if (found == entries_.end()) found = entries_.emplace(key, measure(which, engine)).first;
  if (found->second.is_positive) make_positive(which);
  return found->second.us > 0 ? std::optional(found->second.us) : std::nullopt;
}

Result<void> Profile::save() const {
  if (file_.empty()) return {};
  Json json = Json::object();
  for (const auto& [key, entry] : entries_) json[key] = {{"us", entry.us}, {"positive", entry.is_positive}};
  const std::string text = json.dump(1) + '\n';
  const std::string_view piece = text;
  return write_file(file_, {&piece, 1});
}

}  // namespace collage::bench
