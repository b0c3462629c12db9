// Declares the commands. Each add_* function declares one command with its options; when the command line names it,
// `action` is set.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/options.h"

namespace collage::cli {

struct Program {
  std::function<int()> action;  ///< the command of the command line
};

void add_tune(CLI::App& app, Program& program);
void add_run(CLI::App& app, Program& program);
void add_bench(CLI::App& app, Program& program);
void add_verify(CLI::App& app, Program& program);
void add_repro(CLI::App& app, Program& program);
void add_recheck(CLI::App& app, Program& program);
void add_explain(CLI::App& app, Program& program);
void add_diff(CLI::App& app, Program& program);
void add_report(CLI::App& app, Program& program);
void add_export(CLI::App& app, Program& program);
void add_sign(CLI::App& app, Program& program);
void add_backends(CLI::App& app, Program& program);
void add_strategies(CLI::App& app, Program& program);
void add_check(CLI::App& app, Program& program);
void add_limits(CLI::App& app, Program& program);
void add_workload(CLI::App& app, Program& program);
void add_db(CLI::App& app, Program& program);
void add_version(CLI::App& app, Program& program);
void add_serve(CLI::App& app, Program& program);
/// Scripts for shells, pages for man.
void add_completion(CLI::App& app, Program& program);
void add_manual(CLI::App& app, Program& program);
/// help as a command; after those for users.
void add_help(CLI::App& app, Program& program);

/// Declares a command with the options of its output; `run` gets them parsed. Its add_* function declares its other
/// options.
template <class Options, class Run>
CLI::App* add_command(CLI::App& app, Program& program, const std::string& name, const std::string& help,
                      std::shared_ptr<Options> options, Run run) {
  CLI::App* command = app.add_subcommand(name, help);
  add_output(*command, options->common);
  command->callback([&program, options, run, command] {
    program.action = [options, run, command] {
      if (auto writable = check_outputs(options->common); !writable)
        return Console(options->common).failure(writable.error());
      if (auto taken = take_libraries(options->common, *command); !taken)
        return Console(options->common).failure(taken.error());
      return run(*options);
    };
  });
  return command;
}

}  // namespace collage::cli
