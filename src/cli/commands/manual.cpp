#include <string_view>

#include "base/file.h"
#include "cli/checks.h"
#include "cli/commands/version.h"
#include "cli/help.h"
#include "cli/manual/command_facts.h"
#include "cli/manual/completion.h"
#include "cli/manual/man_page.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

int failed(const Error& error) {
  const CommonOptions options;
  return Console(options).failure(error);
}

std::string completion_of(const std::string& shell, const CommandFacts& program) {
  if (shell == "bash") return bash_completion(program);
  return shell == "zsh" ? zsh_completion(program) : fish_completion(program);
}

/// NAME.1 for each command, in a folder that is there.
Result<void> write_pages(const CommandFacts& program, const std::string& folder) {
  for (const CommandFacts* const command : all_commands(program)) {
    const std::string page = man_page(*command, version_number());
    COLLAGE_TRY_VOID(write_file(folder + "/" + page_name(*command) + ".1", page));
  }
  return {};
}

struct ManualCommand {
  std::vector<std::string> words;
  std::string folder;
};

int show_manual(const CLI::App& app, const ManualCommand& options) {
  if (!options.folder.empty()) {
    const auto written = write_pages(facts_of(app), options.folder);
    return written ? 0 : failed(written.error());
  }
  const auto command = command_named(app, options.words);
  if (!command) return failed(command.error());
  return print_unchanged(man_page(facts_of(**command, options.words), version_number()));
}

}  // namespace

void add_completion(CLI::App& app, Program& program) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "print a script with which a shell completes words");
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(one_of({"bash", "zsh", "fish"}));
  command->footer(examples({"collage completion bash > ~/.local/share/bash-completion/completions/collage",
                            "collage completion zsh > ~/.zfunc/_collage    for a folder of $fpath",
                            "collage completion fish > ~/.config/fish/completions/collage.fish"}));
  command->callback([&app, &program, shell] {
    program.action = [&app, shell] { return print_unchanged(completion_of(*shell, facts_of(app))); };
  });
}

void add_manual(CLI::App& app, Program& program) {
  auto options = std::make_shared<ManualCommand>();
  CLI::App* command = app.add_subcommand("manual", "print a manual page, for man");
  CLI::Option* which = command->add_option("command", options->words,
                                           "which one, such as run or db list; by default that of the program");
  command->add_option("--folder", options->folder, "write the pages of all commands to this folder")
      ->type_name("FOLDER")
      ->excludes(which);
  command->footer(examples({"collage manual tune | man -l -", "collage manual --folder ~/.local/share/man/man1"}));
  command->callback(
      [&app, &program, options] { program.action = [&app, options] { return show_manual(app, *options); }; });
}

}  // namespace collage::cli
