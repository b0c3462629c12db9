// Cost stores: the SQLite file as `collage db` and a tune read it, lines of exported costs, files of artifacts,
// records, and the priors that the installation ships.
#include <fcntl.h>

#include <algorithm>
#include <fstream>

#include "base/hash.h"
#include "measure/measure_options.h"
#include "numbers/record.h"
#include "region/value_json.h"
#include "store/artifact_file.h"
#include "store/keys.h"
#include "store/region_facts.h"
#include "store/store_file.h"
#include "store/store_tools.h"
#include "store/strikes.h"
#include "tests/readers/reader.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_json.h"
#include "tests/support/mutate/mutate_text.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/whole_file.h"
#include "tune/confirm/guard.h"
#include "tune/price/pricing_memory.h"
#include "tune/price/shipped_effects.h"

namespace collage::test {
namespace {

constexpr const char* kStore = "costs.sqlite";

std::string sample_key(const std::string& structure, int threads) {
  return cost_key(structure, {.name = "direct", .input_formats = {plain()}, .output_formats = {plain()}},
                  {.name = "a:opt=1", .kind = "a", .version = "1", .build = "b"},
                  {.threads = threads, .machine = "A CPU of 3 GHz"});
}

RegionFacts sample_facts() {
  return {.operators = "Add+Conv",
          .node_count = 2,
          .inputs = {"f32[1,8,4,4]"},
          .constants = {"f32[8]"},
          .outputs = {"f32[1,8,4,4]"},
          .model = "m.onnx",
          .nodes = {"Conv_0", "Add_1"}};
}

std::string sample_verdict() {
  return to_json(GuardVerdict{.winner = 1,
                              .median_ns = {1200, 1100},
                              .step_ns = {{600, 600}, {1100}},
                              .failures = {"", ""},
                              .against = {Verdict::kUnsure, Verdict::kUnsure},
                              .ratios = {std::nullopt, std::nullopt},
                              .seconds = 2.5});
}

const EffectTable kEffects = {{"operator|Conv", {.mean = 0.25, .weight = 30}},
                              {"backend|a", {.mean = -0.5, .weight = 8}}};

/// The key of the effects of the small graph that readers ask for.
std::string effects_key() { return "effects threads=1 accuracy=standard machine="; }

std::string sample_store() {
  const ScratchFolder folder;
  const std::string path = folder.file(kStore);
  {
    Store store = Store::open(path).value();
    for (int threads = 1; threads <= 12; ++threads) {
      store.put_cost(sample_key("s", threads),
                     Measured{.median_ns = 1200 + threads, .low_ns = 1100, .high_ns = 1300, .samples = 9},
                     {.ns = {1200, 1210, 1220}, .warm_ns = 1190});
      store.put_cost(sample_key("t" + std::to_string(threads), 1),
                     Infeasible{{.reason = RefusalReason::kCrashed, .detail = "killed by SIGSEGV"}});
    }
    store.put_artifact("artifact of s", std::string(32, 'a'));
    store.put_verdict("guard|1", sample_verdict());
    store.put_verdict(effects_key() + "x graph=y",
                      to_line({{"known", to_json(kEffects)}, {"learnt", to_json(kEffects)}}));
    Strikes(store).add({.name = "a:opt=1", .kind = "a", .version = "1", .build = "b"}, "Add+Conv",
                       {.reason = RefusalReason::kCrashed, .detail = "killed"});
    const std::pair<std::string, std::string> regions[] = {{region_key("s"), to_line(to_json(sample_facts()))}};
    store.put_regions(regions);
  }
  return read_all(path);
}

void remove_store(const std::filesystem::path& folder) {
  for (const char* end : {"", "-wal", "-shm", "-journal", "-tuners", ".files"})
    std::filesystem::remove_all(folder / (std::string(kStore) + end));
}

/// A record of some table with changed text, or key, and a checksum that fits; nothing changed where the file is none.
std::string with_changed_record(const std::string& bytes, Dice& dice) {
  const ScratchFolder folder;
  write_bytes(folder.file(kStore), bytes);
  try {
    const auto database = open_store_file(folder.file(kStore));
    const StoreTable& table = kStoreTables[dice.below(std::size(kStoreTables))];
    std::size_t damaged = 0;
    auto records = read_records(*database, table, "", damaged);
    if (records.empty()) return bytes;
    auto [key, text] = dice.pick(records);
    if (dice.one_in(4)) {
      remove_record(*database, table, key);
      key = mutated_text(key, dice.pick(records).first, dice);
    } else {
      text = mutated_json_text(text, dice);
    }
    write_record(*database, table, key, text);
    database->exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (const std::exception&) {
    return bytes;
  }
  return read_all(folder.file(kStore));
}

std::string mutated_store(const std::string& sample, const std::string& other, Dice& dice) {
  std::string bytes = sample;
  for (std::size_t i = dice.below(3); i > 0; --i) bytes = with_changed_record(bytes, dice);
  return dice.one_in(2) || bytes == sample ? mutated_bytes(std::move(bytes), other, dice) : bytes;
}

/// What `collage db` and `collage backends` show, and what a tune asks.
std::string told_of(Store& store) {
  std::string text;
  const StoreStats stats = stats_of(store);
  for (const auto& [backend, count] : stats.backends) text += backend + std::to_string(count);
  const auto found = find_costs(store, {});
  text += export_costs(found);
  for (const FoundCost& cost : found)
    if (const auto samples = store.samples(cost.key)) text += std::to_string(samples->ns.size());
  text += suggestion_for(store, {.operator_name = "Cnv"});
  for (const NearMiss& miss : near_misses(store, sample_key("s", 99))) text += miss.key;
  for (const Strike& strike : strikes_in(store)) text += strike.backend;
  for (const auto& [key, json] : store.verdicts_like(""))
    if (const auto verdict = guard_verdict_from(json)) text += std::to_string(verdict->winner);
  text += std::to_string(check_files(store).missing + store.lease_count());
  Store into = Store::open("memory:").value();
  text += std::to_string(merge_costs(into, store).added);
  PricingMemory memory(store, Graph(), MeasureOptions{});
  return text + std::to_string(store.damaged_count());
}

Answer read_store(const std::string& bytes, const std::filesystem::path& folder) {
  const std::string path = folder / kStore;
  write_bytes(path, bytes);
  Answer answer = answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(Store store, Store::open_existing(path));
    return told_of(store);
  });
  // A tune goes on with whatever is there.
  if (auto store = Store::open(path)) {
    store->put_cost(sample_key("new", 1), Measured{.median_ns = 1, .low_ns = 1, .high_ns = 1, .samples = 1});
    (void)store->cost(sample_key("new", 1));
  }
  remove_store(folder);
  return answer;
}

// ---- lines of costs ------------------------------------------------------------------------------------------------

std::string sample_lines() {
  Store store = Store::open("memory:").value();
  store.put_cost(sample_key("s", 1), Measured{.median_ns = 1200, .low_ns = 1100, .high_ns = 1300, .samples = 9});
  store.put_cost(sample_key("t", 1), Infeasible{{.reason = RefusalReason::kCrashed, .detail = "killed"}});
  const std::pair<std::string, std::string> regions[] = {{region_key("s"), to_line(to_json(sample_facts()))}};
  store.put_regions(regions);
  return export_costs(find_costs(store, {}));
}

/// With the checksum that store_tools.cpp asks for, where the line is still an object that has one.
std::string with_checksum(const std::string& line) {
  if (line.size() > 100'000) return line;  // as good as nested: it cannot be written again
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("key") || !json["key"].is_string() || !json.contains("cost")) return line;
  const Json of = json.value("of", Json());
  json["checksum"] =
      hash_hex(json["key"].get<std::string>() + to_line(json["cost"]) + (of.is_null() ? "" : to_line(of)));
  return to_line(json);
}

std::string mutated_lines(const std::string& sample, const std::string&, Dice& dice) {
  std::string text;
  for (std::size_t at = 0; at < sample.size();) {
    const std::size_t end = std::min(sample.find('\n', at), sample.size());
    std::string line = sample.substr(at, end - at);
    if (dice.one_in(2)) line = mutated_json_text(line, dice);
    text += (dice.one_in(3) ? line : with_checksum(line)) + "\n";
    at = end + 1;
  }
  return dice.one_in(8) ? mutated_bytes(std::move(text), sample, dice) : text;
}

Answer read_lines(const std::string& bytes, const std::filesystem::path&) {
  Store store = Store::open("memory:").value();
  const ImportCounts counts = import_costs(store, bytes);
  return accepted(std::to_string(counts.added) + "/" + std::to_string(counts.known) + told_of(store));
}

// ---- artifacts, records, priors ------------------------------------------------------------------------------------

const std::vector<ValueId> kConstants = {ValueId{3}, ValueId{5}, ValueId{9}};

std::string sample_artifact() {
  const Artifact artifact{.bytes = std::string("kernel\0bytes", 12),
                          .compatibility = "a/1",
                          .constants = {ValueId{5}, ValueId{9}},
                          .in_place = {{0, 1}},
                          .workspace_bytes = 4096};
  return serialise(artifact, kConstants).value();
}

/// The header, with its length, or bytes.
std::string mutated_stored_artifact(const std::string& sample, const std::string& other, Dice& dice) {
  const std::size_t begin = sample.find('{');
  const std::size_t end = sample.rfind('}');
  if (dice.one_in(4) || begin == std::string::npos || begin < 8 || end == std::string::npos)
    return mutated_bytes(sample, other, dice);
  const std::string header = mutated_json_text(sample.substr(begin, end + 1 - begin), dice);
  const std::uint64_t length = header.size();
  std::string made = sample.substr(0, begin - sizeof length);
  made.append(reinterpret_cast<const char*>(&length), sizeof length);
  return made + header + sample.substr(end + 1);
}

Answer read_stored_artifact(const std::string& bytes, const std::filesystem::path& folder) {
  const std::string name = hash_hex(bytes);
  write_bytes(folder / name, bytes);
  Answer answer = answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const Artifact artifact, read_artifact(folder, name, kConstants));
    return artifact.bytes + artifact.compatibility + std::to_string(artifact.workspace_bytes);
  });
  std::filesystem::remove(folder / name);
  return answer;
}

constexpr const char* kRecord = "values";

Tensor sample_tensor() { return make_tensor<float>(ElementType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}); }

void write_record_to(const std::string& path) {
  RecordWriter writer = RecordWriter::create(path).value();
  COLLAGE_CHECK(writer.add("x", sample_tensor()) && writer.add("y", sample_tensor()) && writer.finish());
}

std::string sample_record_index() {
  const ScratchFolder folder;
  write_record_to(folder.file(kRecord));
  return read_all(folder.file(std::string(kRecord) + ".json"));
}

Answer read_record_index(const std::string& bytes, const std::filesystem::path& folder) {
  const std::string path = folder / kRecord;
  write_record_to(path);
  write_bytes(path + ".json", bytes);
  Answer answer = answer_of([&]() -> Result<std::string> {
    COLLAGE_TRY(const Record record, Record::open(path));
    std::string text;
    for (const char* name : {"x", "y"})
      if (const auto tensor = record.tensor(name)) text += hash_hex(tensor->data.text());
    return text;
  });
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".json");
  return answer;
}

std::string sample_priors() {
  Json sections = Json::array();
  for (const std::string& processor : {processor_class(), std::string("other")})
    sections.push_back({{"processor", processor}, {"threads", 1}, {"effects", to_json(kEffects)}});
  return Json{{"schema", kPriorsSchema}, {"sections", sections}}.dump(2);
}

Answer read_priors(const std::string& bytes, const std::filesystem::path&) {
  const EffectTable effects = pooled_effects({{kEffects}}, effects_in(bytes, 1));
  double sum = 0;
  for (const auto& [name, effect] : effects) sum += variance_in_next_model(effect, 1);
  return accepted(std::to_string(effects.size()) + " " + std::to_string(sum));
}

std::string mutated_text_of_json(const std::string& sample, const std::string&, Dice& dice) {
  return mutated_json_text(sample, dice);
}

}  // namespace

void add_store_readers(std::vector<Reader>& all) {
  all.push_back({.name = "store",
                 .samples = [] { return std::vector<std::string>{sample_store()}; },
                 .mutate = mutated_store,
                 .read = read_store,
                 .names = kStore});
  all.push_back({.name = "cost_lines",
                 .samples = [] { return std::vector<std::string>{sample_lines()}; },
                 .mutate = mutated_lines,
                 .read = read_lines,
                 .names = {}});
  all.push_back({.name = "stored_artifact",
                 .samples = [] { return std::vector<std::string>{sample_artifact()}; },
                 .mutate = mutated_stored_artifact,
                 .read = read_stored_artifact,
                 .names = {}});
  all.push_back({.name = "record",
                 .samples = [] { return std::vector<std::string>{sample_record_index()}; },
                 .mutate = mutated_text_of_json,
                 .read = read_record_index,
                 .names = kRecord});
  all.push_back({.name = "priors",
                 .samples = [] { return std::vector<std::string>{sample_priors()}; },
                 .mutate = mutated_text_of_json,
                 .read = read_priors,
                 .names = {}});
}

}  // namespace collage::test
