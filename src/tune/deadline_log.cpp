#include "tune/deadline_log.h"

#include <fmt/format.h>

#include "base/hash.h"
#include "base/json.h"

namespace collage {

void DeadlineLog::begin(Store& store, const std::string& question, double budget_s) {
  COLLAGE_CHECK(!has_begun(), "one question for a tune");
  key_ = "deadlines|" + hash_hex(question);
  budget_s_ = budget_s;
  const auto stored = store.verdict(key_);
  if (!stored) return;
  const auto object = parse_json(*stored, "stored deadlines");
  if (!object) return;
  auto read = read_json("stored deadlines", [&] {
    return object->at("budget").get<double>() >= budget_s ? object->at("decisions").get<Decisions>() : Decisions{};
  });
  if (!read || read->empty()) return;
  recalled_ = *std::move(read);
  budget_s_ = object->at("budget").get<double>();
}

double DeadlineLog::amount(std::string_view stage, std::string_view name, double now) {
  const std::string decision = fmt::format("{}: {}", stage, name);
  const auto recalled = recalled_.find(decision);
  return taken_[decision] = recalled != recalled_.end() ? recalled->second : now;
}

void DeadlineLog::save(Store& store) const {
  if (!has_begun() || taken_ == recalled_) return;
  store.put_verdict(key_, to_line(Json{{"budget", budget_s_}, {"decisions", taken_}}));
}

}  // namespace collage
