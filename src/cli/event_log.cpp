#include "cli/event_log.h"

#include <cmath>

#include "base/json_numbers.h"

namespace collage::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "collage.event/1";

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kDone:
      return "done";
    case Outcome::kInterrupted:
      return "interrupted";
    case Outcome::kFailed:
      return "failed";
  }
  return "";
}

Json or_null(std::optional<double> number) { return number && std::isfinite(*number) ? Json(*number) : Json(nullptr); }

Json line_of(const ProgressEvent& event, double t_s) {
  const std::optional<double> best_us = event.best_us > 0 ? std::optional(event.best_us) : std::nullopt;
  return {{"schema", kSchema},
          {"t_s", t_s},
          {"phase", event.phase},
          {"done", event.done},
          {"total", event.total},
          {"refused", event.refused},
          {"left", event.total > event.done ? event.total - event.done : 0},
          {"best_us", or_null(best_us)},
          {"rival", event.rival},
          {"speedup", or_null(event.rival.empty() ? std::nullopt : std::optional(event.speedup))},
          {"bound_us", or_null(event.bound_us > 0 ? std::optional(event.bound_us) : std::nullopt)},
          {"left_s", or_null(event.left_s)},
          {"note", event.note}};
}

void write_line(std::FILE* file, const Json& line) {
  // Names in models and messages of libraries may hold bytes that are no text.
  const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  (void)!std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

}  // namespace

EventLog::EventLog(const std::string& path) {
  if (!path.empty()) file_ = std::fopen(path.c_str(), "we");
}

EventLog::~EventLog() { finish(Outcome::kFailed, static_cast<int>(ExitCode::kBug)); }

double EventLog::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void EventLog::write(const ProgressEvent& event) {
  if (file_ == nullptr) return;
  best_us_ = event.best_us;
  write_line(file_, line_of(event, seconds()));
}

void EventLog::finish(Outcome outcome, int exit_code, const std::optional<Error>& error) {
  if (file_ == nullptr) return;
  const ProgressEvent event{.phase = "end", .best_us = best_us_, .note = {}, .left_s = 0};
  Json line = line_of(event, seconds());
  line["outcome"] = name_of(outcome);
  line["exit"] = exit_code;
  if (error) line["error"] = {{"code", error->code}, {"message", to_string(*error)}, {"where", error->where}};
  write_line(file_, line);
  std::fclose(file_);
  file_ = nullptr;
}

}  // namespace collage::cli
