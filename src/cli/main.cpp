#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>

#include "cli/commands/version.h"
#include "cli/help.h"
#include "cli/program.h"
#include "cli/usage_error.h"

namespace {

int run_command_line(int argc, char** argv) {
  using namespace collage::cli;
  CLI::App app{"Measures which library should run which part of a model, and runs the best mix.", "collage"};
  app.require_subcommand(1);
  set_up_help(app);
  app.set_version_flag("-v,-V,--version", version_text(), "say which version this is");
  Program program;
  add_tune(app, program);
  add_run(app, program);
  add_serve(app, program);
  add_bench(app, program);
  add_verify(app, program);
  add_recheck(app, program);
  add_repro(app, program);
  add_explain(app, program);
  add_diff(app, program);
  add_report(app, program);
  add_export(app, program);
  add_sign(app, program);
  add_backends(app, program);
  add_strategies(app, program);
  add_check(app, program);
  add_limits(app, program);
  add_workload(app, program);
  add_db(app, program);
  add_version(app, program);
  add_completion(app, program);
  add_manual(app, program);
  add_help(app, program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    CommonOptions options;
    options.json = json_target(app);
    return Console(options).failure(usage_error(app, error));
  }
  return program.action();
}

/// Needs no memory: there may be none left.
[[noreturn]] void end_without_memory() {
  constexpr std::string_view kMessage =
      "collage: error[memory/exhausted]: process: saw no memory left; allowed a model that fits it\n";
  (void)!::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(static_cast<int>(collage::ExitCode::kLimit));
}

/// Says what was thrown; does not return when the system had no room for more memory, or for another thread.
void report(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again || error.code() == std::errc::not_enough_memory)
      end_without_memory();
    std::fprintf(stderr, "collage: bug[cli/exception]: %s\n", error.what());
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "collage: bug[cli/exception]: %s\n", exception.what());
  } catch (...) {
    std::fprintf(stderr, "collage: bug[cli/exception]: an exception of unknown type\n");
  }
}

/// For exceptions that cannot be caught: in threads, in destructors.
[[noreturn]] void on_terminate() {
  if (const std::exception_ptr thrown = std::current_exception()) report(thrown);
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(on_terminate);
  try {
    return run_command_line(argc, argv);
  } catch (...) {
    report(std::current_exception());
    return static_cast<int>(collage::ExitCode::kBug);
  }
}
