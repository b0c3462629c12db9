#include "serve/live_state.h"

#include "base/json_numbers.h"

namespace collage {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostNotes = 50;

}  // namespace

void LiveState::add(const ProgressEvent& event) {
  const std::lock_guard lock(mutex_);
  last_ = event;
  last_.note.clear();
  if (!event.note.empty()) notes_.push_back(event.phase + ": " + event.note);
  if (notes_.size() > kMostNotes) notes_.erase(notes_.begin());
  if (event.best_us > 0 && (curve_.empty() || curve_.back().second != event.best_us))
    curve_.emplace_back(seconds(), event.best_us);
}

void LiveState::end() {
  const std::lock_guard lock(mutex_);
  ended_s_ = seconds();
}

std::string LiveState::json(const std::string& plan_version) const {
  const std::lock_guard lock(mutex_);
  ordered_json object = {{"t_s", ended_s_.value_or(seconds())},
                         {"phase", last_.phase},
                         {"done", last_.done},
                         {"total", last_.total},
                         {"refused", last_.refused},
                         {"best_us", last_.best_us},
                         {"rival", last_.rival},
                         {"speedup", last_.speedup},
                         {"bound_us", last_.bound_us},
                         {"curve", ordered_json::array()},
                         {"notes", notes_},
                         {"plan", plan_version},
                         {"is_over", ended_s_.has_value()}};
  if (last_.left_s) object["left_s"] = *last_.left_s;
  for (const auto& [s, us] : curve_) object["curve"].push_back({s, us});
  return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

double LiveState::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

}  // namespace collage
