#include "store/store_tools.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <fstream>

#include "base/hash.h"
#include "region/value_json.h"
#include "store/keys.h"
#include "tests/measure/measure_fixture.h"
#include "tests/store/store_samples.h"

namespace collage {
namespace {

const Cost kSlower = Measured{.median_ns = 2400, .low_ns = 2100, .high_ns = 2500, .samples = 9};
std::string key(const std::string& structure, const std::string& build, int threads) {
  return cost_key(structure, {.name = "direct", .input_formats = {plain()}, .output_formats = {plain()}},
                  {.name = "a:opt=1", .kind = "a", .version = "1", .build = build},
                  {.threads = threads, .machine = "A CPU of machine=3 GHz"});
}

class StoreTools : public ::testing::Test {
 protected:
  void spoil(const std::string& table, const std::string& column) const {
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    file.exec("UPDATE " + table + " SET " + column + "=replace(" + column + ", '1200', '1201')");
  }
  test::ScratchFolder folder;
  std::string path = folder.file("costs.sqlite");
};

TEST_F(StoreTools, FieldsAreThoseOfTheKey) {
  const auto fields = fields_of(key("s", "b 1, made today", 2));
  EXPECT_THAT(fields, ::testing::Contains(std::pair<std::string, std::string>("backend", "a:opt=1")));
  EXPECT_THAT(fields, ::testing::Contains(std::pair<std::string, std::string>("build", "b 1, made today")));
  EXPECT_THAT(fields, ::testing::Contains(std::pair<std::string, std::string>("threads", "2")));
  EXPECT_EQ(fields.back(), (std::pair<std::string, std::string>("machine", "A CPU of machine=3 GHz")));
  EXPECT_TRUE(fields_of("no key at all").empty());
}

TEST_F(StoreTools, ExportsComeBackAndWhatIsKnownStays) {
  Store store = open(path);
  store.put_cost(key("s", "b", 1), kMeasured);
  store.put_cost(key("s", "b", 2), kRefused);
  const std::string lines = export_costs(find_costs(store, {}));
  Store other = open("memory:");
  other.put_cost(key("s", "b", 1), kSlower);
  const ImportCounts counts = import_costs(other, lines);
  EXPECT_EQ(counts.added, 1U);
  EXPECT_EQ(counts.known, 1U);
  EXPECT_EQ(counts.skipped, 0U);
  EXPECT_EQ(other.cost(key("s", "b", 1)), kSlower);
  EXPECT_EQ(other.cost(key("s", "b", 2)), kRefused);
  EXPECT_EQ(import_costs(other, lines).added, 0U);
}

TEST_F(StoreTools, DamagedLinesAreSkippedOneByOne) {
  Store store = open(path);
  for (int threads = 1; threads <= 3; ++threads) store.put_cost(key("s", "b", threads), kMeasured);
  const std::string lines = export_costs(find_costs(store, {}));
  for (std::size_t at = 0; at < lines.size(); at += 7) {
    std::string spoilt = lines;
    spoilt[at] ^= 0x04;
    Store other = open("memory:");
    const ImportCounts counts = import_costs(other, spoilt);
    EXPECT_EQ(counts.skipped, spoilt[at] == '\n' || lines[at] == '\n' ? counts.skipped : 1U) << at;
    for (const auto& [found, cost] : other.costs_like("")) {
      EXPECT_TRUE(store.cost(found)) << "a key that was never there, byte " << at;
      EXPECT_EQ(cost, kMeasured) << at;
    }
  }
}

TEST_F(StoreTools, ExportAndMergeCarryWhatCostsAreOf) {
  Store store = open(path);
  store.put_cost(key("s", "b", 1), kMeasured);
  store.put_cost("convert=f32[1] from=plain to=blocked backend=a", kRefused);
  const RegionFacts facts{.operators = "Add+Conv",
                          .node_count = 2,
                          .inputs = {"f32[1,3]"},
                          .constants = {},
                          .outputs = {"f32[1,4]"},
                          .model = "cat.onnx",
                          .nodes = {"first", "second"}};
  store.put_regions(std::vector{std::pair(region_key("s"), to_line(to_json(facts)))});
  Store imported = open("memory:");
  EXPECT_EQ(import_costs(imported, export_costs(find_costs(store, {}))).added, 2U);
  Store merged = open("memory:");
  EXPECT_EQ(merge_costs(merged, store).added, 2U);
  for (Store* other : {&imported, &merged}) {
    const auto found = find_costs(*other, {.operator_name = "Conv"});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].facts, facts);
  }
}

TEST_F(StoreTools, LinesOfTheFirstVersionAreRead) {
  const std::string cost = to_line(to_json(kMeasured));
  const std::string line =
      R"({"schema":"collage.cost/1","key":"a","cost":)" + cost + R"(,"checksum":")" + hash_hex("a" + cost) + R"("})";
  Store store = open("memory:");
  EXPECT_EQ(import_costs(store, line).added, 1U);
  EXPECT_EQ(store.cost("a"), kMeasured);
}

TEST_F(StoreTools, MergesWhatTheOtherKnows) {
  Store here = open(path);
  here.put_cost("a", kMeasured);
  Store there = open(folder.file("other.sqlite"));
  there.put_cost("a", kSlower);
  there.put_cost("b", kRefused);
  const ImportCounts counts = merge_costs(here, there);
  EXPECT_EQ(counts.added, 1U);
  EXPECT_EQ(counts.known, 1U);
  EXPECT_EQ(here.cost("a"), kMeasured);
  EXPECT_EQ(here.cost("b"), kRefused);
}

TEST_F(StoreTools, ADamagedRecordIsSetAsideAndAbsent) {
  {
    Store store = open(path);
    store.put_cost("a", kMeasured);
    store.put_cost("b", kRefused);
  }
  spoil("costs", "cost");
  Store store = open(path);
  EXPECT_EQ(store.cost("a"), std::nullopt);
  EXPECT_EQ(store.cost("b"), kRefused);
  EXPECT_EQ(store.damaged_count(), 1U);
  store.put_cost("a", kSlower);
  EXPECT_EQ(store.cost("a"), kSlower);
  EXPECT_EQ(store.damaged_count(), 1U) << "kept for whoever looks into it";
}

TEST_F(StoreTools, LookingAtAllRecordsFindsDamageNobodyAskedFor) {
  {
    Store store = open(path);
    store.put_cost("a", kMeasured);
    store.put_cost("b", kMeasured);
    store.put_cost("c", kRefused);
  }
  spoil("costs", "cost");
  Store store = open(path);
  EXPECT_EQ(store.damaged_count(), 2U);
  EXPECT_EQ(store.counts().costs, 1U);
}

TEST_F(StoreTools, AFileOfTheFirstSchemaKeepsItsRecords) {
  {
    SQLite::Database file(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    for (const char* table :
         {"costs(key TEXT PRIMARY KEY, cost TEXT NOT NULL)", "artifacts(key TEXT PRIMARY KEY, hash TEXT NOT NULL)",
          "verdicts(key TEXT PRIMARY KEY, json TEXT NOT NULL)"})
      file.exec(std::string("CREATE TABLE ") + table + " WITHOUT ROWID");
    file.exec("INSERT INTO costs VALUES('a', '" + to_line(to_json(kMeasured)) + "')");
    file.exec("INSERT INTO artifacts VALUES('a', '0123')");
    file.exec("PRAGMA user_version=1");
  }
  Store store = open(path);
  EXPECT_TRUE(store.warnings().empty());
  EXPECT_EQ(store.cost("a"), kMeasured);
  EXPECT_EQ(store.artifact("a"), "0123");
  EXPECT_EQ(store.damaged_count(), 0U);
}

TEST_F(StoreTools, AFileOfTheThirdSchemaKeepsItsRecords) {
  {
    Store store = open(path);
    store.put_cost(key("s", "b", 1), kMeasured);
  }
  {
    SQLite::Database file(path, SQLite::OPEN_READWRITE);
    file.exec("DROP TABLE regions");
    file.exec("PRAGMA user_version=3");
  }
  Store store = open(path);
  EXPECT_TRUE(store.warnings().empty());
  EXPECT_EQ(store.cost(key("s", "b", 1)), kMeasured);
  EXPECT_EQ(find_costs(store, {})[0].facts, std::nullopt);
  store.put_regions(std::vector{std::pair(region_key("s"), std::string("{}"))});
  EXPECT_EQ(store.region(region_key("s")), "{}");
}

TEST_F(StoreTools, RemovesTheDescriptionWithTheLastCostOfARegion) {
  Store store = open(path);
  store.put_cost(key("s", "old", 1), kMeasured);
  store.put_cost(key("s", "new", 1), kMeasured);
  store.put_regions(std::vector{std::pair(region_key("s"), std::string("{}"))});
  store.remove("build=old ");
  EXPECT_TRUE(store.region(region_key("s")));
  store.remove("build=new ");
  EXPECT_FALSE(store.region(region_key("s")));
}

TEST_F(StoreTools, RemovesWhatIsNamedAndFilesNobodyNames) {
  Store store = open(path);
  const auto write = [&](const std::string& bytes) {
    std::ofstream(store.artifact_folder() + "/" + hash_hex(bytes), std::ios::binary) << bytes;
    return hash_hex(bytes);
  };
  store.put_artifact(key("s", "old", 1) + " place=p", write("old"));
  store.put_artifact(key("s", "new", 1) + " place=p", write("new"));
  write("nobody's");
  store.put_cost(key("s", "old", 1), kMeasured);
  store.put_cost(key("s", "new", 1), kMeasured);
  EXPECT_EQ(check_files(store).missing + check_files(store).damaged, 0U);
  store.remove("build=old ");
  EXPECT_EQ(store.cost(key("s", "old", 1)), std::nullopt);
  EXPECT_EQ(store.cost(key("s", "new", 1)), kMeasured);
  EXPECT_EQ(remove_unnamed_files(store).removed, 2U);
  EXPECT_EQ(stats_of(store).files, 1U);
  std::ofstream(store.artifact_folder() + "/" + hash_hex(std::string("new"))) << "now";
  EXPECT_EQ(check_files(store).damaged, 1U);
  std::filesystem::remove(store.artifact_folder() + "/" + hash_hex(std::string("new")));
  EXPECT_EQ(check_files(store).missing, 1U);
}

TEST_F(StoreTools, AMissIsExplainedByTheNearestRecords) {
  Store store = open(path);
  store.put_cost(key("s", "b1", 1), kMeasured);
  store.put_cost(key("s", "b1", 4), kMeasured);
  store.put_cost(key("t", "b2", 1), kMeasured);
  const auto misses = near_misses(store, key("s", "b2", 1));
  ASSERT_EQ(misses.size(), 2U);
  ASSERT_EQ(misses[0].differences.size(), 1U);
  EXPECT_EQ(misses[0].differences[0].field, "build");
  EXPECT_EQ(misses[0].differences[0].wanted, "b2");
  EXPECT_EQ(misses[0].differences[0].stored, "b1");
  EXPECT_EQ(misses[1].differences.size(), 2U);
  EXPECT_TRUE(near_misses(store, key("u", "b1", 1)).empty());
}

}  // namespace
}  // namespace collage
