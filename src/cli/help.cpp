#include "cli/help.h"

#include <cstdio>
#include <sstream>

#include <fmt/format.h>

#include "cli/program.h"
#include "cli/usage_error.h"
#include "cli/wrap.h"

namespace collage::cli {
namespace {

/// Where descriptions begin.
constexpr std::size_t kDescriptions = 31;

std::string described(const std::string& text) { return wrapped(text, kColumns - kDescriptions); }

/// CLI11's form on 80 columns, without the lists of options that exclude each other.
class HelpFormat : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional()) return {};
    if (!option->get_option_text().empty()) return " " + option->get_option_text();
    if (option->get_type_size() == 0) return {};
    std::string text = option->get_type_name().empty() ? "" : " " + option->get_type_name();
    if (!option->get_default_str().empty()) text += "=" + option->get_default_str();
    if (option->get_required()) text += " (required)";
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return described(option->get_description());
  }
  std::string make_subcommand(const CLI::App* command) const override {
    std::stringstream out;
    CLI::detail::format_help(out, command->get_display_name(true), described(command->get_description()),
                             kDescriptions);
    return out.str();
  }
};

/// The form of help() for an app whose command is being run: help() itself would show that command.
std::string help_of(const CLI::App& app, const std::string& name) {
  return app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal);
}

int show_help(const CLI::App& app, const std::vector<std::string>& words) {
  const auto command = command_named(app, words);
  const CommonOptions options;
  if (!command) return Console(options).failure(command.error());
  std::string name = "collage";
  for (const std::string& word : words) name += " " + word;
  return print_unchanged(help_of(**command, name));
}

}  // namespace

int print_unchanged(const std::string& text) {
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return is_written ? 0 : static_cast<int>(ExitCode::kIo);
}

Result<const CLI::App*> command_named(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  std::string name = "collage";
  for (const std::string& word : words) {
    const auto named = at->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty()) return std::unexpected(unknown_command(*at, name, word));
    at = named.front();
    name += " " + word;
  }
  return at;
}

void set_up_help(CLI::App& app) {
  auto format = std::make_shared<HelpFormat>();
  format->column_width(kDescriptions);
  format->label("OPTIONS", "options");
  format->label("SUBCOMMAND", "COMMAND");
  format->label("Positionals", "Arguments");
  app.formatter(format);
  app.set_help_flag("-h,--help", "show this");
  app.footer("collage help COMMAND, or collage COMMAND --help, tells about one of them.\n\n" +
             examples({"collage tune model.onnx -o model.collage     search, measure, write the plan",
                       "collage run model.collage --input x=x.npy    run it",
                       "collage bench model.collage                  time it against engines"}));
}

std::string examples(const std::vector<std::string>& lines) {
  std::string text = "Examples:";
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

void add_help(CLI::App& app, Program& program) {
  auto words = std::make_shared<std::vector<std::string>>();
  CLI::App* help = app.add_subcommand("help", "tell about a command");
  help->add_option("command", *words, "which one, such as run or db list");
  help->callback([&app, &program, words] { program.action = [&app, words] { return show_help(app, *words); }; });
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) command->group("Commands");
}

}  // namespace collage::cli
