#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_numbers.h"
#include "cli/checks.h"
#include "cli/commands/version.h"
#include "cli/console.h"
#include "cli/hangup.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"
#include "serve/http_server.h"
#include "serve/service.h"

namespace collage::cli {
namespace {

struct ServeCommand {
  CommonOptions common;
  std::vector<std::string> plans;
  std::string host = "127.0.0.1";
  int port = 8000;
  std::string port_file;
  int sessions = 0;
  std::size_t queue = 256;
  std::uint64_t batch_delay_us = 0;
  std::uint64_t run_limit_ms = 0;
  bool no_batching = false;
  double deadline_ms = 0;
  std::uint64_t max_body = std::uint64_t{64} << 20U;
  std::size_t connections = 512;
  std::string client_timeout = "30s";
};

struct NamedPlan {
  std::string name;
  std::string path;
};

/// Names stand in addresses and in metrics.
bool is_model_name(const std::string& name) {
  return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

/// "NAME=PLAN", or "PLAN" with the name of the file.
NamedPlan named_plan(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals != std::string::npos && is_model_name(argument.substr(0, equals)))
    return {.name = argument.substr(0, equals), .path = argument.substr(equals + 1)};
  return {.name = std::filesystem::path(argument).stem().string(), .path = argument};
}

Result<std::vector<NamedPlan>> named_plans(const ServeCommand& options) {
  std::vector<NamedPlan> plans;
  std::set<std::string> names;
  for (const std::string& argument : options.plans) {
    plans.push_back(named_plan(argument));
    const std::string& name = plans.back().name;
    if (!is_model_name(name))
      return fail(ExitCode::kUsage, "cli/bad-option", argument, "the name '" + name + "'",
                  "NAME=PLAN with a name of letters, digits, '.', '_' and '-'");
    if (!names.insert(name).second)
      return fail(ExitCode::kUsage, "cli/bad-option", argument, "a second model " + name,
                  "NAME=PLAN with another name");
  }
  return plans;
}

Result<std::vector<std::unique_ptr<ModelHost>>> load_models(const ServeCommand& options) {
  COLLAGE_TRY(const std::vector<NamedPlan> plans, named_plans(options));
  COLLAGE_TRY(Signers signers, signers_from(options.common.signer_files));
  const ModelOptions model{.sessions = options.sessions,
                           .models = static_cast<int>(plans.size()),
                           .queue_limit = options.queue,
                           .batch_delay = std::chrono::microseconds(options.batch_delay_us),
                           .run_limit = std::chrono::milliseconds(options.run_limit_ms),
                           .joins = !options.no_batching,
                           .backend_places = module_places(options.common.backend_libraries),
                           .signers = std::move(signers)};
  std::vector<std::unique_ptr<ModelHost>> hosts;
  for (const NamedPlan& plan : plans) {
    hosts.push_back(std::make_unique<ModelHost>(plan.name, plan.path, model));
    COLLAGE_TRY_VOID(hosts.back()->load());
  }
  return hosts;
}

std::string described(const ModelHost& host) {
  const std::shared_ptr<Model> model = host.current();
  return fmt::format("{}: {} of {} thread{}, {}", host.name(),
                     model->sessions() == 1 ? "a session" : fmt::format("{} sessions", model->sessions()),
                     model->plan().threads(), model->plan().threads() == 1 ? "" : "s",
                     model->batch_rule() ? fmt::format("up to {} rows in a run", model->batch_rule()->most)
                                         : std::string("a request in a run"));
}

std::string summary_text(const Service& service) {
  std::string text;
  for (const auto& host : service.models())
    text += fmt::format("{}: {} requests, {} failed\n", host->name(), host->metrics().requests.load(),
                        host->metrics().failure_count());
  return text;
}

std::string summary_json(const Service& service, const ServeCommand& options, int port) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const auto& host : service.models())
    models.push_back({{"name", host->name()},
                      {"plan", host->path()},
                      {"requests", host->metrics().requests.load()},
                      {"failures", host->metrics().failure_count()},
                      {"reloads", host->metrics().reloads.load()}});
  return nlohmann::ordered_json{
      {"schema", "collage.serve/1"}, {"host", options.host}, {"port", port}, {"models", models}}
      .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void reload(Service& service, Console& console) {
  const std::vector<Error> errors = service.reload();
  for (const Error& error : errors) console.note(to_string(error) + " (the plan before stays)");
  if (errors.empty()) console.note("plans are loaded again");
}

/// Serves until a signal; then requests that have arrived are finished.
Result<int> serve_until_stopped(const ServeCommand& options, Service& service, Console& console,
                                const std::stop_token& stop) {
  COLLAGE_TRY(const double client_s, seconds_from(options.client_timeout, "--client-timeout"));
  COLLAGE_TRY(const auto server,
              HttpServer::open(service, {.host = options.host,
                                         .port = options.port,
                                         .most_body_bytes = options.max_body,
                                         .most_connections = options.connections,
                                         .client_timeout = std::chrono::milliseconds(std::llround(client_s * 1000))}));
  const std::string port = std::to_string(server->port()) + "\n";
  if (!options.port_file.empty()) COLLAGE_TRY_VOID(write_file(options.port_file, port));
  for (const auto& host : service.models()) console.note(described(*host));
  console.note(fmt::format("serving on http://{}:{}", options.host, server->port()));
  const std::stop_callback on_stop(stop, [&] {
    service.begin_to_end();
    server->stop();
  });
  const HangupWatcher hangup([&] { reload(service, console); });
  server->run();
  service.end();
  return server->port();
}

int report_serve(const ServeCommand& options) {
  Console console(options.common);
  hold_hangups();
  const std::stop_token stop = interrupt_token();
  auto models = load_models(options);
  if (!models) return console.failure(models.error());
  Service service(*std::move(models), version_number(),
                  std::chrono::microseconds(std::llround(options.deadline_ms * 1000)));
  const auto port = serve_until_stopped(options, service, console, stop);
  if (!port) return console.failure(port.error());
  if (auto written = console.result(summary_text(service), summary_json(service, options, *port)); !written)
    return console.failure(written.error());
  return 0;
}

void add_limits(CLI::App& command, ServeCommand& options) {
  command.add_option("--queue", options.queue, "so many requests of a model wait at most; more get status 429")
      ->check(whole_number(1, 1'000'000))
      ->type_name("N");
  command
      .add_option("--deadline", options.deadline_ms,
                  "a request that waits longer gets status 504, unless it has a timeout of its own; 0 = none")
      ->check(positive_number(true))
      ->type_name("MS");
  command.add_option("--run-limit", options.run_limit_ms, "a run that takes longer ends with status 504; 0 = none")
      ->check(whole_number(0, 86'400'000))
      ->type_name("MS");
  command.add_option("--max-body", options.max_body, "the largest body of a request, such as 64MB")
      ->transform(memory_size())
      ->type_name("SIZE");
  command.add_option("--connections", options.connections, "so many open connections at most; more get status 503")
      ->check(whole_number(1, 100'000))
      ->type_name("N");
  command
      .add_option("--client-timeout", options.client_timeout,
                  "a request arrives within this time, and its answer is taken within it")
      ->type_name("TIME");
}

}  // namespace

void add_serve(CLI::App& app, Program& program) {
  auto options = std::make_shared<ServeCommand>();
  CLI::App* command =
      add_command(app, program, "serve", "answer requests over HTTP (KServe v2)", options, report_serve);
  command->add_option("plans", options->plans, "plans; a model has the name of its file, or NAME")
      ->required()
      ->option_text("[NAME=]PLAN...");
  command->add_option("--host", options->host, "listen on this address")->type_name("ADDRESS");
  command->add_option("--port", options->port, "listen on this port; 0 = any that is free")
      ->check(whole_number(0, 65535))
      ->type_name("N");
  command->add_option("--port-file", options->port_file, "write the port here once it is open")->type_name("FILE");
  command
      ->add_option("--sessions", options->sessions,
                   "so many runs of a model at once; by default as many as the processors are enough for")
      ->check(whole_number(1, 1024))
      ->type_name("N");
  command->add_option("--batch-delay", options->batch_delay_us, "a request waits so long for others to be run with it")
      ->check(whole_number(0, 10'000'000))
      ->type_name("US");
  command->add_flag("--no-batching", options->no_batching, "every request runs alone")->excludes("--batch-delay");
  add_limits(*command, *options);
  add_backend_library(*command, options->common);
  add_require_signature(*command, options->common);
  command->footer(
      examples({"collage serve model.collage --port 8000", "collage serve detect=d.collage read=r.collage --sessions 4",
                "collage serve model.collage --batch-delay 500 --deadline 100"}));
}

}  // namespace collage::cli
