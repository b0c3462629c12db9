// Loads `collage serve` with clients, a share of whose requests is wrong, and says what came of it, beside the same
// plan called in this process with as many sessions.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/serve/load_clients.h"
#include "bench/serve/server_process.h"

namespace {

using namespace collage;
using namespace collage::load;

struct Arguments {
  std::string plan;
  std::string collage = SERVE_LOAD_COLLAGE;
  int sessions = 1;
  std::vector<std::string> more;  ///< options of the server
  ClientOptions clients;
};

constexpr double kMebibyte = 1024.0 * 1024.0;

void print_row(const char* name, const Speed& speed) {
  fmt::print("{:<12} {:>12.1f} {:>12.3f} {:>12.3f}\n", name, speed.per_second, speed.p50 * 1e3, speed.p99 * 1e3);
}

void print_counts(const Seen& seen) {
  const auto row = [](const char* name, std::size_t count) { fmt::print("{:<44} {:>10}\n", name, count); };
  row("good requests, right answer", seen.answered);
  row("good requests, wrong answer", seen.wrong);
  row("good requests, refused (429, 503)", seen.refused);
  row("good requests, failed", seen.failed);
  row("good requests, lost", seen.lost);
  row("wrong requests, refused (4xx)", seen.malformed);
  row("wrong requests that were harmless (200)", seen.malformed_answered);
  row("wrong requests, no answer or 5xx", seen.malformed_failed);
}

Result<int> run(const Arguments& arguments) {
  COLLAGE_TRY(const LoadSubject subject, load_subject(arguments.plan));
  COLLAGE_TRY(const Speed alone,
              in_process_speed(subject, arguments.sessions, std::max(1.0, arguments.clients.seconds / 4)));
  std::vector<std::string> options = {"--sessions", std::to_string(arguments.sessions), "--connections",
                                      std::to_string(arguments.clients.clients + 16)};
  options.insert(options.end(), arguments.more.begin(), arguments.more.end());
  COLLAGE_TRY(ServerProcess server, ServerProcess::start(arguments.collage, arguments.plan, options));
  ClientOptions warm = arguments.clients;
  warm.seconds = std::min(2.0, warm.seconds);
  (void)run_clients(subject, server.port(), warm, [] {});
  const std::size_t begin_bytes = server.resident_bytes();
  std::size_t most_bytes = begin_bytes;
  std::size_t deaths = 0;
  const Seen seen = run_clients(subject, server.port(), arguments.clients,
                                [&] { most_bytes = std::max(most_bytes, server.resident_bytes()); });
  if (!server.is_running()) ++deaths;
  const std::size_t end_bytes = server.resident_bytes();
  const std::string ended = server.stop();
  fmt::print("{} clients, {} s, {} sessions\n\n", arguments.clients.clients, arguments.clients.seconds,
             arguments.sessions);
  fmt::print("{:<12} {:>12} {:>12} {:>12}\n", "", "requests/s", "p50 ms", "p99 ms");
  print_row("server", seen.speed);
  print_row("in process", alone);
  fmt::print("\n");
  print_counts(seen);
  fmt::print("{:<44} {:>10}\n{:<44} {:>10}\n", "deaths of the server", deaths, "its end", ended);
  fmt::print("memory of the server, MiB: begin {:.1f}, end {:.1f}, most {:.1f}\n",
             static_cast<double>(begin_bytes) / kMebibyte, static_cast<double>(end_bytes) / kMebibyte,
             static_cast<double>(most_bytes) / kMebibyte);
  const bool is_good = seen.wrong + seen.failed + seen.lost + seen.malformed_failed + deaths == 0 && ended == "exit 0";
  return is_good ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  CLI::App app("Loads a server of PLAN.");
  app.add_option("plan", arguments.plan)->required();
  app.add_option("--collage", arguments.collage, "the program");
  app.add_option("--sessions", arguments.sessions, "of the server, and of the calls in this process");
  app.add_option("--clients", arguments.clients.clients);
  app.add_option("--seconds", arguments.clients.seconds);
  app.add_option("--malformed", arguments.clients.malformed, "share of requests that are wrong");
  app.add_option("--server", arguments.more, "an option of collage serve, such as --server=--batch-delay=500")
      ->allow_extra_args(false);
  CLI11_PARSE(app, count, values);
  const auto result = run(arguments);
  if (result) return *result;
  fmt::print(stderr, "serve_load: {}\n", to_string(result.error()));
  return 1;
}
