#include "measure/repro_replay.h"

#include <filesystem>

#include "base/suggest.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/interrupt.h"
#include "cli/program.h"

namespace collage::cli {
namespace {

struct ReproCommand {
  CommonOptions common;
  std::string folder;
  std::string limit;
  CLI::App* command = nullptr;
};

/// Error repro/no-folder names a bundle beside that the user may have meant.
Result<ReplayReport> replay(const std::string& folder, const ReplayOptions& options, Registry& registry) {
  auto report = replay_bundle(folder, options, registry);
  if (report || report.error().code != "repro/no-folder") return report;
  std::vector<std::string> beside;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(folder).parent_path(), error))
    if (entry.is_directory(error)) beside.push_back(entry.path().string());
  report.error().saw += did_you_mean(folder, beside);
  return report;
}

int run_repro(const ReproCommand& options) {
  Console console(options.common);
  const auto report = [&]() -> Result<ReplayReport> {
    ReplayOptions how;
    COLLAGE_TRY(how.worker_command, worker_command(options.common.backend_libraries));
    how.stop = interrupt_token();
    if (is_given(*options.command, "--backends")) how.backends = options.common.backends;
    if (!options.limit.empty()) {
      COLLAGE_TRY(const double seconds, seconds_from(options.limit, "--limit"));
      how.limit = std::chrono::nanoseconds(static_cast<std::int64_t>(std::min(seconds, 86400.0) * 1e9));
    }
    Registry registry(module_places(options.common.backend_libraries));
    return replay(options.folder, how, registry);
  }();
  if (!report) return console.failure(report.error());
  const ExitCode code = report->passes ? ExitCode::kGood : ExitCode::kDifference;
  if (auto shown = console.result(to_text(*report), to_json(*report), code); !shown)
    return console.failure(shown.error());
  return static_cast<int>(code);
}

}  // namespace

void add_repro(CLI::App& app, Program& program) {
  auto options = std::make_shared<ReproCommand>();
  CLI::App* command = add_command(app, program, "repro", "replay a failure that a tune kept", options, run_repro);
  options->command = command;
  command->add_option("folder", options->folder, "a reproduction bundle")->required();
  command->add_option("--limit", options->limit, "how long it may hang, such as 5s; default: as in the tune")
      ->type_name("TIME");
  command
      ->add_option("--backends", options->common.backends,
                   "who replays it, comma separated; default: the one that failed")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("LIST");
  add_backend_library(*command, options->common);
  command->footer(examples({"collage repro FOLDER --backends onednn,onnxruntime --limit 5s"}));
}

}  // namespace collage::cli
