#include "workload/workload.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_numbers.h"
#include "cli/checks.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "onnx/export.h"

namespace collage::cli {
namespace {

struct WorkloadCommand {
  CommonOptions common;
  std::string name;
  std::string output;
  WorkloadOptions workload;
  CLI::App* command = nullptr;
};

struct Listing {
  std::string text;
  std::string json;
};

Listing list_names() {
  Listing shown;
  for (std::string_view name : workload_names()) shown.text += fmt::format("{}\n", name);
  shown.json = nlohmann::ordered_json{{"schema", "collage.workloads/1"}, {"names", workload_names()}}.dump(2);
  return shown;
}

Result<Listing> write(const WorkloadCommand& options) {
  if (options.name.empty()) {
    COLLAGE_TRY_VOID(refuse_given(*options.command,
                                  {"--output", "--batch", "--seq", "--layers", "--dynamic", "--dynamic-seq", "--seed"},
                                  "no name of a workload"));
    return list_names();
  }
  WorkloadOptions workload = options.workload;
  workload.seed = options.common.seed;
  if (options.output.empty()) return fail(ExitCode::kUsage, "cli/bad-option", "-o", "nothing", "the file to write");
  COLLAGE_TRY(const Graph graph, make_workload(options.name, workload));
  ExportOptions export_options;
  export_options.keep_ids = false;
  const std::string bytes = export_graph(graph, export_options);
  COLLAGE_TRY_VOID(write_file(options.output, bytes));
  return Listing{fmt::format("{}: {}, {} nodes, {:.1f} MB\n", options.output, options.name, graph.nodes.size(),
                             static_cast<double>(bytes.size()) / 1e6),
                 nlohmann::ordered_json{{"schema", "collage.workload/1"},
                                        {"file", options.output},
                                        {"nodes", graph.nodes.size()},
                                        {"bytes", bytes.size()}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)};
}

int run_workload(const WorkloadCommand& options) {
  Console console(options.common);
  const auto shown = write(options);
  if (!shown) return console.failure(shown.error());
  if (auto said = console.result(shown->text, shown->json); !said) return console.failure(said.error());
  return 0;
}

}  // namespace

void add_workload(CLI::App& app, Program& program) {
  auto options = std::make_shared<WorkloadCommand>();
  CLI::App* command =
      add_command(app, program, "workload", "write a well-known network with seeded weights", options, run_workload);
  command->add_option("name", options->name, "which one; without it, list them");
  options->command = command;
  command->add_option("-o,--output", options->output, "the .onnx file to write")->type_name("FILE");
  CLI::Option* const batch = command->add_option("--batch", options->workload.batch, "batch size")
                                 ->check(whole_number(1, 4096))
                                 ->type_name("N")
                                 ->capture_default_str();
  command->add_option("--seq", options->workload.seq, "tokens, for transformers that read them")
      ->check(whole_number(1, 4096))
      ->type_name("N");
  command->add_option("--layers", options->workload.layers, "blocks, for transformers")
      ->check(whole_number(1, 256))
      ->type_name("N");
  command->add_flag("--dynamic", options->workload.dynamic, "leave the batch dimension open")->excludes(batch);
  command->add_flag("--dynamic-seq", options->workload.dynamic_seq,
                    "leave the number of tokens open: bert_base, bert_full");
  add_seed(*command, options->common);
  command->footer(examples({"collage workload", "collage workload bert_base -o bert.onnx --layers 4 --dynamic"}));
}

}  // namespace collage::cli
