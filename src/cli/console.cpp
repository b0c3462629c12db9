#include "cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/json_numbers.h"
#include "cli/colour.h"
#include "cli/progress_text.h"
#include "cli/wrap.h"

namespace collage::cli {
namespace {

/// A bar is drawn anew at most so often; a log gets a line of the same phase at most so often.
constexpr auto kBarPause = std::chrono::milliseconds(80);
constexpr auto kLinePause = std::chrono::seconds(10);

std::size_t columns_of_terminal(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kColumns;
}

/// One line, for a log; on a terminal as many as it takes. Of an error that may be coloured the program's name is.
void say(const std::string& line, bool is_terminal, bool is_coloured = false) {
  constexpr std::string_view kName = "collage:";
  const std::string lines = is_terminal ? with_wrapped_lines(line, columns_of_terminal(STDERR_FILENO)) : line;
  if (is_coloured && lines.starts_with(kName))
    fmt::print(stderr, "{}{}\n", coloured(kName, Colour::kBad), lines.substr(kName.size()));
  else
    fmt::print(stderr, "{}\n", lines);
}

}  // namespace

Console::Console(const CommonOptions& options)
    : options_(options), events_(options.events), terminal_(::isatty(STDERR_FILENO) == 1) {}

Console::~Console() { end_progress(); }

Progress Console::progress() {
  return [this](const ProgressEvent& event) {
    events_.write(event);
    if (!options_.quiet) show(event);
  };
}

void Console::show(const ProgressEvent& event) {
  const auto now = Clock::now();
  const bool is_new = event.phase != phase_;
  const bool is_last = event.total > 0 && event.done >= event.total;
  phase_ = event.phase;
  if (!event.note.empty()) note(event.phase + ": " + event.note);
  if (!is_new && !is_last && now - last_shown_ < (terminal_ ? Clock::duration(kBarPause) : Clock::duration(kLinePause)))
    return;
  if (terminal_)
    draw_bar(event);
  else if (event.note.empty())
    fmt::print(stderr, "{}\n", on_one_line(line_text(event)));
  last_shown_ = now;
}

void Console::draw_bar(const ProgressEvent& event) {
  // One column stays free: a terminal may go to the next line after its last.
  const std::string bar = on_one_line(bar_text(event, columns_of_terminal(STDERR_FILENO) - 1));
  fmt::print(stderr, "\r\033[K{}", shows_colours(STDERR_FILENO) ? coloured(bar, Colour::kBar) : bar);
  std::fflush(stderr);
  bar_shown_ = true;
}

void Console::note(const std::string& text) {
  if (options_.quiet) return;
  end_progress();
  say(on_one_line(text), terminal_);
}

void Console::end_progress() {
  if (bar_shown_) fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  bar_shown_ = false;
}

Result<void> Console::result(const std::string& text, const std::string& json, ExitCode exit_code, Outcome outcome) {
  end_progress();
  COLLAGE_TRY_VOID(write_result(text, json));
  events_.finish(outcome, static_cast<int>(exit_code));
  return {};
}

Result<void> Console::write_result(const std::string& text, const std::string& json) {
  if (options_.json == "-") {
    fmt::print("{}\n", json);
  } else {
    // Files and other programs get the lines whole.
    const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
    const std::string lines = is_terminal ? with_wrapped_lines(text, columns_of_terminal(STDOUT_FILENO)) : text;
    fmt::print("{}", shows_colours(STDOUT_FILENO) ? with_coloured_ratios(lines) : lines);
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
  events_.finish(error.exit == ExitCode::kInterrupted ? Outcome::kInterrupted : Outcome::kFailed,
                 static_cast<int>(error.exit), error);
  const std::string message = on_one_line(to_string(error));
  say("collage: " + message, terminal_, shows_colours(STDERR_FILENO));
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
