#include "store/store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <signal.h>
#include <sys/wait.h>

#include <fstream>

#include "tests/measure/measure_fixture.h"
#include "tests/store/store_samples.h"
#include "tests/store/store_script.h"

namespace collage {
namespace {

class StoreFile : public ::testing::Test {
 protected:
  test::ScratchFolder folder;
  std::string path = folder.file("deep/er/costs.sqlite");
};

TEST_F(StoreFile, SurvivesReopening) {
  {
    Store store = open("sqlite:" + path);
    store.put_cost("a", kMeasured);
    store.put_cost("b", kRefused);
    store.put_cost("c", Estimated{.ns = 7});
    store.put_artifact("a", "0123");
    store.put_verdict("v", R"({"winner":"cover"})");
    EXPECT_TRUE(store.warnings().empty());
  }
  Store store = open(path);
  EXPECT_EQ(store.cost("a"), kMeasured);
  EXPECT_EQ(store.cost("b"), kRefused);
  EXPECT_EQ(store.cost("c"), Cost(Estimated{.ns = 7}));
  EXPECT_EQ(store.cost("absent"), std::nullopt);
  EXPECT_EQ(store.artifact("a"), "0123");
  EXPECT_EQ(store.verdict("v"), R"({"winner":"cover"})");
  EXPECT_EQ(store.counts().costs, 3U);
  EXPECT_TRUE(store.warnings().empty());
  EXPECT_EQ(store.artifact_folder(), path + ".files");
  EXPECT_TRUE(std::filesystem::is_directory(store.artifact_folder()));
}

TEST_F(StoreFile, LastWordCounts) {
  Store store = open(path);
  store.put_cost("a", kRefused);
  store.put_cost("a", kMeasured);
  EXPECT_EQ(store.cost("a"), kMeasured);
  EXPECT_EQ(store.counts().costs, 1U);
}

TEST_F(StoreFile, EveryAcknowledgedRecordSurvivesAKill) {
  std::filesystem::create_directories(folder.file("deep/er"));
  for (int round = 0; round < 5; ++round) {
    int acknowledged[2];
    ASSERT_EQ(::pipe(acknowledged), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = Store::open(path);
      for (int i = 0;; ++i) {
        store->put_cost(std::to_string(round) + " " + std::to_string(i), Estimated{.ns = i});
        if (::write(acknowledged[1], &i, sizeof i) != sizeof i) ::_exit(1);
      }
    }
    ::close(acknowledged[1]);
    int last = -1;
    while (last < 20 + 7 * round)
      ASSERT_EQ(::read(acknowledged[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    for (int more = 0; ::read(acknowledged[0], &more, sizeof more) == sizeof more;) last = more;
    ::close(acknowledged[0]);
    Store store = open(path);
    EXPECT_TRUE(test::writes_to_file(store));
    for (int i = 0; i <= last; ++i)
      ASSERT_EQ(store.cost(std::to_string(round) + " " + std::to_string(i)), Cost(Estimated{.ns = i}));
  }
}

TEST_F(StoreFile, TwoProcessesWriteAtTheSameTime) {
  std::vector<pid_t> children;
  for (int who = 0; who < 2; ++who) {
    const pid_t child = ::fork();
    if (child == 0) {
      auto store = Store::open(path);
      for (int i = 0; i < 50; ++i) store->put_cost(std::to_string(who) + " " + std::to_string(i), Estimated{.ns = i});
      ::_exit(test::writes_to_file(*store) ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(open(path).counts().costs, 100U);
}

void expect_works_in_memory(const std::string& spec) {
  Store store = open(spec);
  EXPECT_FALSE(test::writes_to_file(store));
  EXPECT_EQ(store.warnings().size(), 1U);
  store.put_cost("a", kMeasured);
  store.put_artifact("a", "42");
  EXPECT_EQ(store.cost("a"), kMeasured);
  EXPECT_EQ(store.artifact("a"), "42");
  EXPECT_EQ(store.warnings().size(), 1U);
  std::ofstream(store.artifact_folder() + "/file") << "x";
  EXPECT_TRUE(std::filesystem::exists(store.artifact_folder() + "/file"));
}

TEST_F(StoreFile, FolderThatCannotBeMadeMeansMemoryAndOneWarning) {
  std::ofstream(folder.file("file")) << "not a folder";
  expect_works_in_memory(folder.file("file") + "/costs.sqlite");
  expect_works_in_memory("/proc/collage/costs.sqlite");
}

TEST_F(StoreFile, ArtifactsThatCannotBeKeptAreNotNamedByTheFile) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path + ".files") << "in the way of the folder";
  {
    Store store = open(path);
    EXPECT_EQ(store.warnings().size(), 1U);
    store.put_artifact("a", "0123");
    store.put_cost("a", kMeasured);
    EXPECT_EQ(store.artifact("a"), "0123");
  }
  Store store = open(path);
  EXPECT_EQ(store.artifact("a"), std::nullopt);
  EXPECT_TRUE(store.artifacts_like("").empty());
  EXPECT_EQ(store.cost("a"), kMeasured);
}

TEST_F(StoreFile, CorruptFileMeansMemoryAndIsLeftAlone) {
  const std::string corrupt = folder.file("corrupt");
  std::ofstream(corrupt) << std::string(5000, 'x');
  expect_works_in_memory(corrupt);
  EXPECT_EQ(std::filesystem::file_size(corrupt), 5000U);
}

TEST_F(StoreFile, FileOfANewerVersionMeansMemoryAndIsLeftAlone) {
  {
    Store store = open(path);
    store.put_cost("a", kMeasured);
  }
  {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("PRAGMA user_version=999");
  }
  expect_works_in_memory(path);
  SQLite::Database database(path, SQLite::OPEN_READONLY);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 999);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM costs").getInt(), 1);
}

/// A view has rows without end, a trigger writes without end, a module has code of its own.
TEST_F(StoreFile, FileThatHoldsMoreThanTablesMeansMemory) {
  const std::string count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) ";
  const std::vector<std::vector<std::string>> schemas = {
      {"CREATE VIEW costs AS " + count + "SELECT i AS key, i AS cost, i AS checksum FROM n"},
      {"CREATE TABLE costs(key TEXT PRIMARY KEY, cost TEXT, checksum TEXT)",
       "CREATE TRIGGER t AFTER INSERT ON costs BEGIN INSERT INTO costs " + count + "SELECT i, i, i FROM n; END"},
      {"CREATE VIRTUAL TABLE costs USING fts5(key, cost, checksum)"}};
  for (const std::vector<std::string>& schema : schemas) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::filesystem::remove(path);
    {
      SQLite::Database file(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
      for (const std::string& statement : schema) file.exec(statement);
      file.exec("PRAGMA user_version=4");
    }
    const auto looked_at = Store::open_existing(path);
    ASSERT_FALSE(looked_at) << schema.back();
    EXPECT_EQ(looked_at.error().code, "store/unreadable");
    EXPECT_NE(to_string(looked_at.error()).find("more than tables"), std::string::npos);
    Store store = open(path);
    store.put_cost("a", kMeasured);
    EXPECT_EQ(store.cost("a"), kMeasured);
    EXPECT_EQ(store.costs_like("").size(), 1U);
  }
}

TEST_F(StoreFile, DatabaseThatBreaksInUseMeansMemoryFromThere) {
  Store store = open(path);
  store.put_cost("a", kMeasured);
  {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("DROP TABLE verdicts");
  }
  store.put_verdict("v", "{}");
  EXPECT_EQ(store.verdict("v"), "{}");
  EXPECT_EQ(store.cost("a"), kMeasured);
  EXPECT_EQ(store.warnings().size(), 1U);
  EXPECT_FALSE(test::writes_to_file(store));
}

TEST_F(StoreFile, UnreadableRecordCountsAsAbsent) {
  Store store = open(path);
  store.put_cost("a", kMeasured);
  {
    SQLite::Database database(path, SQLite::OPEN_READWRITE);
    database.exec("UPDATE costs SET cost='{\"kind\":\"measured\"'");
  }
  EXPECT_EQ(store.cost("a"), std::nullopt);
}

TEST_F(StoreFile, StaleTemporariesAreRemovedFreshOnesKept) {
  { Store store = open(path); }
  const std::string stale = path + ".files/abc.partial-1-0";
  const std::string fresh = path + ".files/abc.partial-2-0";
  std::ofstream{stale} << "x";
  std::ofstream{fresh} << "x";
  std::filesystem::last_write_time(stale, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  Store store = open(path);
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_TRUE(std::filesystem::exists(fresh));
}

TEST_F(StoreFile, CostsCanBeListed) {
  Store store = open(path);
  store.put_cost("x one", kMeasured);
  store.put_cost("x two", kRefused);
  store.put_cost("y", kMeasured);
  const auto found = store.costs_like("x ");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].first, "x one");
  EXPECT_EQ(found[1].second, kRefused);
}

TEST(Store, MemoryStoreTakesItsFolderAway) {
  std::string artifacts;
  {
    Store store = open("memory:");
    EXPECT_TRUE(store.warnings().empty());
    store.put_cost("a", kMeasured);
    EXPECT_EQ(store.cost("a"), kMeasured);
    artifacts = store.artifact_folder();
    std::ofstream(artifacts + "/x") << "x";
  }
  EXPECT_FALSE(std::filesystem::exists(artifacts));
}

TEST(Store, UnknownKindIsAUsageError) {
  EXPECT_EQ(Store::open("postgresql://host/x").error().code, "store/unknown-kind");
  EXPECT_EQ(Store::open("postgresql://host/x").error().exit, ExitCode::kUsage);
}

}  // namespace
}  // namespace collage
