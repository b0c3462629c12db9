#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/console.h"
#include "cli/program.h"
#include "measure/file.h"
#include "measure/json.h"
#include "measure/repro_keeper.h"
#include "measure/store_tools.h"

namespace collage::cli {
namespace {

using nlohmann::ordered_json;

struct Options {
  CommonOptions common;
  std::string like;  ///< only records whose key contains it
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

using Action = Result<Answer> (*)(const Options&, Store&);

double megabytes(std::uint64_t bytes) { return static_cast<double>(bytes) / 1e6; }

std::string cost_text(const Cost& cost) {
  if (const auto* measured = std::get_if<Measured>(&cost))
    return fmt::format("{:.1f} us [{:.1f}, {:.1f}], {} samples", static_cast<double>(measured->median_ns) / 1000,
                       static_cast<double>(measured->low_ns) / 1000, static_cast<double>(measured->high_ns) / 1000,
                       measured->samples);
  if (const auto* refused = std::get_if<Infeasible>(&cost))
    return fmt::format("refused, {}: {}", name_of(refused->refusal.reason), refused->refusal.detail);
  if (const auto* estimated = std::get_if<Estimated>(&cost))
    return fmt::format("estimated {:.1f} us", static_cast<double>(estimated->ns) / 1000);
  return "unknown";
}

Result<Answer> show_stats(const Options& options, Store& store) {
  const StoreStats stats = stats_of(store);
  const std::size_t damaged = store.damaged_count();
  const std::size_t leased = store.lease_count();
  Answer answer;
  answer.text = fmt::format(
      "{}: {} costs ({} refusals), {} artifacts in {} files ({:.1f} MB), {} verdicts, {} set aside, {} being "
      "measured\n",
      store_from(options.common), stats.counts.costs, stats.refused, stats.counts.artifacts, stats.files,
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

/// To the record that was added last.
void add_samples(Store& store, const std::string& key, Answer& answer) {
  if (const auto samples = store.samples(key)) {
    answer.text += fmt::format("{:<10} {} ns\n", "samples", fmt::join(samples->ns, " "));
    if (samples->warm_ns > 0) answer.text += fmt::format("{:<10} {} ns\n", "warm", samples->warm_ns);
    answer.json["records"].back()["samples_ns"] = samples->ns;
    answer.json["records"].back()["warm_ns"] = samples->warm_ns;
  }
  answer.text += "\n";
}

Answer records(const Options& options, Store& store, bool whole) {
  const auto found = store.costs_like(options.like);
  Answer answer;
  answer.json = {{"schema", "collage.db-list/1"}, {"found", found.size()}, {"records", ordered_json::array()}};
  for (std::size_t i = 0; i < std::min(found.size(), options.limit); ++i) {
    const auto& [key, cost] = found[i];
    if (!whole) {
      answer.text += fmt::format("{:<40} {}\n", cost_text(cost), key);
    } else {
      for (const auto& [field, value] : fields_of(key)) answer.text += fmt::format("{:<10} {}\n", field, value);
      answer.text += fmt::format("{:<10} {}\n", "cost", cost_text(cost));
    }
    answer.json["records"].push_back({{"key", key}, {"cost", to_json(cost)}});
    if (whole) add_samples(store, key, answer);
  }
  if (found.size() > options.limit)
    answer.text += fmt::format("and {} more; --limit shows them\n", found.size() - options.limit);
  return answer;
}

Result<Answer> list(const Options& options, Store& store) { return records(options, store, false); }

Result<Answer> show(const Options& options, Store& store) {
  Answer answer = records(options, store, true);
  if (answer.json["found"] == 0)
    return fail(ExitCode::kBadInput, "store/no-record", options.like, "no cost whose key contains it", "part of a key");
  return answer;
}

Result<Answer> export_to(const Options& options, Store& store) {
  const std::string lines = export_costs(store, options.like);
  const std::string_view piece = lines;
  COLLAGE_TRY_VOID(write_file(options.file, {&piece, 1}));
  const auto count = static_cast<std::size_t>(std::ranges::count(lines, '\n'));
  return Answer{.text = fmt::format("{}: {} costs\n", options.file, count),
                .json = {{"schema", "collage.db-export/1"}, {"file", options.file}, {"costs", count}}};
}

Answer imported(const ImportCounts& counts, const char* schema) {
  return {.text = fmt::format("{} added, {} known before, {} skipped\n", counts.added, counts.known, counts.skipped),
          .json = {{"schema", schema}, {"added", counts.added}, {"known", counts.known}, {"skipped", counts.skipped}},
          .exit_code = counts.skipped == 0 ? 0 : 1};
}

Result<Answer> import_from(const Options& options, Store& store) {
  COLLAGE_TRY(const Buffer lines, Buffer::map_file(options.file));
  return imported(import_costs(store, lines.text()), "collage.db-import/1");
}

Result<Answer> merge(const Options& options, Store& store) {
  if (!std::filesystem::exists(options.file))
    return fail(ExitCode::kIo, "io/cannot-read", options.file, "no such file", "a cost store");
  COLLAGE_TRY(Store other, Store::open(options.file));
  if (!other.warnings().empty())
    return fail(ExitCode::kBadInput, "store/unreadable", options.file, other.warnings().front(), "a cost store");
  return imported(merge_costs(store, other), "collage.db-merge/1");
}

Result<Answer> prune(const Options& options, Store& store) {
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
  const std::size_t repros = options.repros ? prune_repros(repros_from(options.common), none) : 0;
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

Result<Answer> check(const Options& options, Store& store) {
  const std::size_t damaged = store.damaged_count();
  const FileCheck files = check_files(store);
  const bool ok = damaged + files.missing + files.damaged == 0;
  return Answer{.text = fmt::format("{}: {}; {} records set aside, {} artifacts missing, {} damaged\n",
                                    store_from(options.common), ok ? "sound" : "not sound", damaged, files.missing,
                                    files.damaged),
                .json = {{"schema", "collage.db-verify/1"},
                         {"ok", ok},
                         {"set_aside", damaged},
                         {"missing_files", files.missing},
                         {"damaged_files", files.damaged}},
                .exit_code = ok ? 0 : 1};
}

Result<Answer> explain_miss(const Options& options, Store& store) {
  if (fields_of(options.key).empty())
    return fail(ExitCode::kUsage, "cli/bad-option", options.key, "no key", "a key as db list shows it");
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

int run(const Options& options, Action action) {
  Console console(options.common);
  auto store = Store::open(store_from(options.common));
  if (!store) return console.failure(store.error());
  if (!store->warnings().empty())
    return console.failure({.code = "store/unreadable",
                            .where = store_from(options.common),
                            .saw = store->warnings().front(),
                            .allowed = "a cost store that can be read and written",
                            .exit = ExitCode::kIo});
  const auto answer = action(options, *store);
  if (!answer) return console.failure(answer.error());
  const std::string json = answer->json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  if (auto said = console.result(answer->text, json, static_cast<ExitCode>(answer->exit_code)); !said)
    return console.failure(said.error());
  return answer->exit_code;
}

}  // namespace

void add_db(CLI::App& app, Program& program) {
  CLI::App* db = app.add_subcommand("db", "look into the cost store, carry costs between stores, clean up");
  db->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Action action) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        add_command(*db, program, name, help, options, [action](const Options& given) { return run(given, action); });
    return std::pair(command, options);
  };
  add("stats", "how much of what is stored", show_stats);
  const auto [listing, listed] = add("list", "costs, a line each", list);
  listing->add_option("like", listed->like, "only costs whose key contains this");
  listing->add_option("--limit", listed->limit, "at most so many")->capture_default_str();
  const auto [showing, shown] = add("show", "costs with every field of their keys", show);
  showing->add_option("like", shown->like, "part of the key")->required();
  showing->add_option("--limit", shown->limit, "at most so many")->capture_default_str();
  const auto [exporting, to] = add("export", "write costs as JSON Lines", export_to);
  exporting->add_option("file", to->file, "the file to write")->required();
  exporting->add_option("--like", to->like, "only costs whose key contains this");
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
  missing->add_option("key", asked->key, "a key as db list shows it")->required();
}

}  // namespace collage::cli
