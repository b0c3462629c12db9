#include "cli/console.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collage::cli {
namespace {

using Clock = std::chrono::steady_clock;

std::string time_left(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s left", seconds);
  return fmt::format("{:.0f} min left", seconds / 60);
}

/// Messages of libraries come with line breaks and names in models with anything.
std::string on_one_line(std::string text) {
  for (char& character : text)
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) character = ' ';
  return text;
}

}  // namespace

Console::Console(const CommonOptions& options) : options_(options), terminal_(::isatty(STDERR_FILENO) == 1) {
  if (!options.events.empty()) events_ = std::fopen(options.events.c_str(), "w");
}

Console::~Console() {
  end_progress();
  if (events_) std::fclose(events_);
}

Progress Console::progress() {
  phase_start_ = Clock::now();
  return [this](const ProgressEvent& event) {
    if (events_) write_event(event);
    if (!options_.quiet) draw(event);
  };
}

void Console::draw(const ProgressEvent& event) {
  const auto now = Clock::now();
  const bool new_phase = event.phase != phase_;
  if (new_phase) {
    phase_ = event.phase;
    phase_start_ = now;
  }
  if (!event.note.empty()) {
    end_progress();
    fmt::print(stderr, "{}: {}\n", event.phase, event.note);
  }
  const bool last = event.total > 0 && event.done >= event.total;
  if (!terminal_) {
    if (event.note.empty() && (new_phase || last))
      fmt::print(stderr, "{}{}\n", event.phase,
                 event.total ? fmt::format(" {}/{}{}", event.done, event.total,
                                           event.refused ? fmt::format(", {} refused", event.refused) : "")
                             : "");
    return;
  }
  if (!new_phase && !last && now - last_draw_ < std::chrono::milliseconds(80)) return;
  last_draw_ = now;
  const double elapsed = std::chrono::duration<double>(now - phase_start_).count();
  std::string line = fmt::format("\r\033[K{:<10}", event.phase);
  if (event.total > 0) {
    const std::size_t filled = 30 * event.done / event.total;
    line +=
        fmt::format(" [{}{}] {}/{}", std::string(filled, '#'), std::string(30 - filled, '.'), event.done, event.total);
    if (event.refused > 0) line += fmt::format(", {} refused", event.refused);
    if (event.best_us > 0) line += fmt::format(", best {:.0f} us", event.best_us);
    if (event.done > 0 && elapsed > 1)
      line +=
          ", " + time_left(elapsed / static_cast<double>(event.done) * static_cast<double>(event.total - event.done));
  }
  fmt::print(stderr, "{}", line);
  std::fflush(stderr);
  bar_shown_ = true;
}

void Console::end_progress() {
  if (bar_shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  bar_shown_ = false;
}

void Console::write_event(const ProgressEvent& event) {
  const nlohmann::ordered_json line = {
      {"schema", "collage.event/1"}, {"phase", event.phase},     {"done", event.done}, {"total", event.total},
      {"refused", event.refused},    {"best_us", event.best_us}, {"note", event.note}};
  fmt::print(events_, "{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::fflush(events_);
}

Result<void> Console::result(const std::string& text, const std::string& json) {
  end_progress();
  if (options_.json == "-") {
    fmt::print("{}\n", json);
  } else {
    fmt::print("{}", text);
    if (!options_.json.empty()) {
      std::ofstream file(options_.json, std::ios::binary);
      file << json << '\n';
      if (!file.flush())
        return fail(ExitCode::kIo, "io/cannot-write", options_.json, std::strerror(errno), "a writable file");
    }
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    return fail(ExitCode::kIo, "io/cannot-write", "standard output", std::strerror(errno), "room for the result");
  return {};
}

int Console::failure(const Error& error) {
  end_progress();
  const std::string message = on_one_line(to_string(error));
  fmt::print(stderr, "collage: {}\n", message);
  if (!options_.json.empty()) {
    const nlohmann::ordered_json object = {
        {"schema", "collage.error/1"}, {"error", {{"code", error.code}, {"message", message}, {"where", error.where}}}};
    // File names and damaged models may hold bytes that are no text.
    const std::string json = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
    if (options_.json == "-") {
      fmt::print("{}\n", json);
    } else if (std::ofstream file(options_.json, std::ios::binary); file) {
      file << json << '\n';
    }
  }
  return static_cast<int>(error.exit);
}

}  // namespace collage::cli
