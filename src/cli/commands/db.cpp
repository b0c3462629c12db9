#include <fmt/format.h>

#include "api/tune/store_place.h"
#include "base/file.h"
#include "base/json_numbers.h"
#include "cli/checks.h"
#include "cli/commands/cost_list.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "measure/repro_keeper.h"
#include "store/find_costs.h"
#include "store/keys.h"
#include "store/store_tools.h"

namespace collage::cli {
namespace {

using nlohmann::ordered_json;

struct DbCommand {
  CommonOptions common;
  CostFilter filter;
  std::string like;  ///< prune records whose key contains it
  std::string file;  ///< to read or write
  std::string key;   ///< of explain-miss
  std::size_t limit = 20;
  bool files = false;   ///< prune artifact files, too
  bool repros = false;  ///< and reproduction bundles
};

struct Answer {
  std::string text;
  ordered_json json;
  int exit_code = 0;
};

using Action = Result<Answer> (*)(const DbCommand&, Store&);

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

Result<Answer> show_stats(const DbCommand& options, Store& store) {
  const StoreStats stats = stats_of(store);
  const std::size_t damaged = store.damaged_count();
  const std::size_t leased = store.lease_count();
  Answer answer;
  answer.text = fmt::format(
      "{}: {} costs ({} refusals), {} artifacts in {} files ({:.1f} MB), {} verdicts, {} set aside, {} being "
      "measured\n",
      store_place(options.common.store), stats.counts.costs, stats.refused, stats.counts.artifacts, stats.files,
      megabytes(stats.file_bytes), stats.counts.verdicts, damaged, leased);
  for (const auto& [backend, count] : stats.backends) answer.text += fmt::format("  {:<40} {}\n", backend, count);
  for (const auto& [machine, count] : stats.machines) answer.text += fmt::format("  {:<40} {}\n", machine, count);
  answer.json = {{"schema", "collage.db-stats/1"},    {"costs", stats.counts.costs},
                 {"refusals", stats.refused},         {"artifacts", stats.counts.artifacts},
                 {"verdicts", stats.counts.verdicts}, {"files", stats.files},
                 {"file_bytes", stats.file_bytes},    {"set_aside", damaged},
                 {"being_measured", leased},          {"backends", stats.backends},
                 {"machines", stats.machines}};
  return answer;
}

/// What the filter means, for messages.
std::string text_of(const CostFilter& filter) {
  std::string text = filter.text;
  for (const auto& [option, value] :
       {std::pair("--operator", filter.operator_name), {"--backend", filter.backend}, {"--node", filter.node}})
    if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : " ", option, value);
  return text;
}

/// Error store/no-record when a filter fits nothing.
Result<std::vector<FoundCost>> wanted_costs(const DbCommand& options, Store& store) {
  std::vector<FoundCost> found = find_costs(store, options.filter);
  if (!found.empty() || options.filter.is_empty()) return found;
  return fail(ExitCode::kBadInput, "store/no-record", text_of(options.filter),
              "no cost that fits" + suggestion_for(store, options.filter),
              "a part of a key, an operator, backend, node or model that collage db list shows");
}

Result<Answer> records(const DbCommand& options, Store& store, bool whole) {
  COLLAGE_TRY(const std::vector<FoundCost> found, wanted_costs(options, store));
  const std::span<const FoundCost> shown = std::span(found).first(std::min(found.size(), options.limit));
  Answer answer;
  answer.json = {{"schema", "collage.db-list/1"}, {"found", found.size()}, {"records", ordered_json::array()}};
  if (!whole) answer.text = list_text(shown);
  for (const FoundCost& one : shown) {
    const auto samples = whole ? store.samples(one.key) : std::nullopt;
    if (whole) answer.text += record_text(one, samples);
    answer.json["records"].push_back(to_json(one, samples));
  }
  if (found.empty()) answer.text = "no costs are kept here\n";
  if (found.size() > shown.size())
    answer.text += fmt::format("and {} more; --limit shows them\n", found.size() - shown.size());
  return answer;
}

Result<Answer> list(const DbCommand& options, Store& store) { return records(options, store, false); }
Result<Answer> show(const DbCommand& options, Store& store) { return records(options, store, true); }

Result<Answer> export_to(const DbCommand& options, Store& store) {
  COLLAGE_TRY(const std::vector<FoundCost> found, wanted_costs(options, store));
  const std::string lines = export_costs(found);
  COLLAGE_TRY_VOID(write_file(options.file, lines));
  return Answer{.text = fmt::format("{}: {} costs\n", options.file, found.size()),
                .json = {{"schema", "collage.db-export/1"}, {"file", options.file}, {"costs", found.size()}}};
}

Answer imported(const ImportCounts& counts, const char* schema) {
  return {.text = fmt::format("{} added, {} known before, {} skipped\n", counts.added, counts.known, counts.skipped),
          .json = {{"schema", schema}, {"added", counts.added}, {"known", counts.known}, {"skipped", counts.skipped}},
          .exit_code = counts.skipped == 0 ? 0 : 1};
}

Result<Answer> import_from(const DbCommand& options, Store& store) {
  COLLAGE_TRY(const Buffer lines, Buffer::map_file(options.file));
  return imported(import_costs(store, lines.text()), "collage.db-import/1");
}

Result<Answer> merge(const DbCommand& options, Store& store) {
  COLLAGE_TRY(Store other, Store::open_existing(options.file));
  return imported(merge_costs(store, other), "collage.db-merge/1");
}

Result<Answer> prune(const DbCommand& options, Store& store) {
  if (options.like.empty() && !options.files && !options.repros)
    return fail(ExitCode::kUsage, "cli/bad-option", "db prune", "nothing to remove",
                "--like TEXT for records whose key contains it, --files for artifacts that no record names, --repros "
                "for reproduction bundles");
  const Store::Counts before = store.counts();
  if (!options.like.empty()) store.remove(options.like);
  const Store::Counts after = store.counts();
  const FileCounts files = options.files ? remove_unnamed_files(store) : FileCounts{};
  ReproLimits none;
  none.most_kept = 0;
  const std::size_t repros = options.repros ? prune_repros(repro_place(options.common.store), none) : 0;
  return Answer{
      .text = fmt::format("{} costs, {} artifacts, {} verdicts, {} files ({:.1f} MB), {} bundles removed\n",
                          before.costs - after.costs, before.artifacts - after.artifacts,
                          before.verdicts - after.verdicts, files.removed, megabytes(files.removed_bytes), repros),
      .json = {{"schema", "collage.db-prune/1"},
               {"costs", before.costs - after.costs},
               {"artifacts", before.artifacts - after.artifacts},
               {"verdicts", before.verdicts - after.verdicts},
               {"files", files.removed},
               {"file_bytes", files.removed_bytes},
               {"repros", repros}}};
}

Result<Answer> check(const DbCommand& options, Store& store) {
  const std::size_t damaged = store.damaged_count();
  const FileCheck files = check_files(store);
  const bool ok = damaged + files.missing + files.damaged == 0;
  return Answer{.text = fmt::format("{}: {}; {} records set aside, {} artifacts missing, {} damaged\n",
                                    store_place(options.common.store), ok ? "sound" : "not sound", damaged,
                                    files.missing, files.damaged),
                .json = {{"schema", "collage.db-verify/1"},
                         {"ok", ok},
                         {"set_aside", damaged},
                         {"missing_files", files.missing},
                         {"damaged_files", files.damaged}},
                .exit_code = ok ? 0 : 1};
}

Result<Answer> explain_miss(const DbCommand& options, Store& store) {
  if (fields_of(options.key).empty())
    return fail(ExitCode::kUsage, "cli/bad-option", options.key, "no key", "a key as db show gives it");
  Answer answer;
  answer.json = {{"schema", "collage.db-explain-miss/1"}, {"found", store.cost(options.key).has_value()}};
  answer.json["near"] = ordered_json::array();
  if (answer.json["found"].get<bool>()) {
    answer.text = "it is there\n";
    return answer;
  }
  for (const NearMiss& miss : near_misses(store, options.key)) {
    answer.text += miss.key + "\n";
    ordered_json differences = ordered_json::array();
    for (const NearMiss::Difference& one : miss.differences) {
      answer.text += fmt::format("  {:<10} asked for {}, stored {}\n", one.field, one.wanted, one.stored);
      differences.push_back({{"field", one.field}, {"wanted", one.wanted}, {"stored", one.stored}});
    }
    answer.json["near"].push_back({{"key", miss.key}, {"differences", differences}});
  }
  if (answer.json["near"].empty()) answer.text = "nothing about this region or conversion was ever stored\n";
  return answer;
}

/// What adds costs makes the store it adds them to; everything else only looks into one.
bool may_make_store(Action action) { return action == import_from || action == merge; }

/// Makes nothing before it is known that there is something to add.
Result<Store> open_for(const DbCommand& options, Action action) {
  if (!may_make_store(action)) return Store::open_existing(store_place(options.common.store));
  if (action == merge) COLLAGE_TRY_VOID(Store::open_existing(options.file));
  if (action == import_from) COLLAGE_TRY_VOID(Buffer::map_file(options.file));
  const std::string path = store_place(options.common.store);
  COLLAGE_TRY(Store store, Store::open(path));
  if (store.warnings().empty()) return store;
  return fail(ExitCode::kIo, "store/unreadable", path, store.warnings().front(),
              "a cost store that can be read and written");
}

int run(const DbCommand& options, Action action) {
  Console console(options.common);
  auto store = open_for(options, action);
  if (!store) return console.failure(store.error());
  const auto answer = action(options, *store);
  if (!answer) return console.failure(answer.error());
  const std::string json = answer->json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  if (auto said = console.result(answer->text, json, static_cast<ExitCode>(answer->exit_code)); !said)
    return console.failure(said.error());
  return answer->exit_code;
}

void add_filter(CLI::App& command, CostFilter& filter) {
  command.add_option("--operator", filter.operator_name, "only costs of regions with this operator, such as Conv")
      ->type_name("NAME");
  command.add_option("--backend", filter.backend, "only costs of this backend")->type_name("NAME");
  command.add_option("--node", filter.node, "only costs of regions with a node of such a name: *, ?, [...]")
      ->type_name("GLOB");
}

}  // namespace

void add_db(CLI::App& app, Program& program) {
  CLI::App* db = app.add_subcommand("db", "look into the cost store, carry costs between stores, clean up");
  db->require_subcommand(1);
  db->footer(examples({"collage db stats", "collage db list Conv", "collage db list --backend onednn --node 'conv*'",
                       "collage db export costs.jsonl --store other.sqlite"}));
  const auto add = [&](const char* name, const char* help, Action action) {
    auto options = std::make_shared<DbCommand>();
    CLI::App* command =
        add_command(*db, program, name, help, options, [action](const DbCommand& given) { return run(given, action); });
    add_store(*command, options->common);
    return std::pair(command, options);
  };
  add("stats", "how much of what is stored", show_stats);
  constexpr const char* kText = "only costs with this in their key, operators, names of nodes or of the model";
  using Looking = std::tuple<const char*, const char*, Action>;
  for (const auto& [name, help, action] : {Looking("list", "costs, a line each, by what they are of", list),
                                           Looking("show", "costs with all that is known", show)}) {
    const auto [command, options] = add(name, help, action);
    command->add_option("text", options->filter.text, kText);
    add_filter(*command, options->filter);
    command->add_option("--limit", options->limit, "at most so many")
        ->check(whole_number(1))
        ->type_name("N")
        ->capture_default_str();
  }
  const auto [exporting, to] = add("export", "write costs as JSON Lines", export_to);
  exporting->add_option("file", to->file, "the file to write")->required();
  exporting->add_option("--like", to->filter.text, kText)->type_name("TEXT");
  add_filter(*exporting, to->filter);
  const auto [importing, from] = add("import", "add costs from JSON Lines; what is known stays", import_from);
  importing->add_option("file", from->file, "a file that db export wrote")->required();
  const auto [merging, other] = add("merge", "add the costs of another store; what is known stays", merge);
  merging->add_option("file", other->file, "the other store")->required();
  const auto [pruning, unwanted] = add("prune", "remove records, and files that nothing names", prune);
  pruning->add_option("--like", unwanted->like, "records whose key contains this");
  pruning->add_flag("--files", unwanted->files, "artifact files that no record names");
  pruning->add_flag("--repros", unwanted->repros, "reproduction bundles of failures");
  add("verify", "check every record and file; exit code 1 when something is not sound", check);
  const auto [missing, asked] = add("explain-miss", "why a key was not found: the nearest ones", explain_miss);
  missing->add_option("key", asked->key, "a key as db show gives it")->required();
}

}  // namespace collage::cli
