#include "backend/registry.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace collage {
namespace {

Error error_of(Registry& registry, const std::string& name) {
  const auto backend = registry.get(name);
  EXPECT_FALSE(backend) << name;
  return backend ? Error{} : backend.error();
}

TEST(Registry, ListsKindsWithoutLoading) {
  const std::string folder = testing::TempDir() + "collage_registry_kinds";
  std::filesystem::create_directories(folder);
  for (const char* file : {"libcollage_backend_b.so", "libcollage_backend_a.so", "libcollage_backend_.so", "other.so",
                           "libcollage_backend_c.txt"})
    std::ofstream(folder + "/" + file) << "not a module";
  EXPECT_EQ(Registry({folder, "/no/such/folder", folder}).kinds(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(Registry({}).kinds().empty());
}

TEST(Registry, MakesAnInstanceOnce) {
  Registry registry({"/no/such/folder", FAKE_MODULES});
  const auto backend = registry.get("fake");
  ASSERT_TRUE(backend) << to_string(backend.error());
  EXPECT_EQ((*backend)->info().name, "fake");
  EXPECT_EQ(registry.get("fake").value(), *backend);
}

TEST(Registry, ConfiguresInstancesByName) {
  Registry registry({FAKE_MODULES});
  Backend* with_options = registry.get("fake:mode=fast,level=a=b").value();
  EXPECT_EQ(with_options->info().version, "level=a=b;mode=fast;");
  EXPECT_NE(with_options, registry.get("fake").value());
  EXPECT_EQ(registry.get("fake:empty=").value()->info().version, "empty=;");
}

TEST(Registry, OrderOfOptionsMakesNoOtherInstance) {
  Registry registry({FAKE_MODULES});
  Backend* backend = registry.get("fake:b=2,a=1").value();
  EXPECT_EQ(backend, registry.get("fake:a=1,b=2").value());
  EXPECT_EQ(backend->info().name, "fake:a=1,b=2");
}

TEST(Registry, LoadsAModuleOnlyWhenAskedFor) {
  Registry registry({FAKE_MODULES});
  ASSERT_EQ(::setenv("COLLAGE_TEST_SETTING", "set after the registry was made", 1), 0);
  EXPECT_EQ(registry.get("fake:x=1").value()->info().build, "set after the registry was made");
}

TEST(Registry, SaysWhichKindsThereAre) {
  Registry registry({FAKE_MODULES});
  const Error error = error_of(registry, "nothing");
  EXPECT_EQ(error.code, "backend/missing");
  EXPECT_EQ(error.where, "nothing");
  EXPECT_EQ(error.exit, ExitCode::kUnsupported);
  EXPECT_EQ(error.allowed,
            "empty, fake, hooked, hooked_empty, hooked_null, hooked_old, mislabelled, no_entry, old, short");
  Registry nowhere({});
  EXPECT_EQ(error_of(nowhere, "fake").allowed, "none");
}

TEST(Registry, RefusesMalformedNames) {
  Registry registry({FAKE_MODULES});
  for (const char* name : {"", ":", "fake:", "fake:mode", "fake:=x", "fake:a=1,", "fake:a=1,,b=2", "fake:a=1,a=2",
                           "../fake", "FAKE", "fake x"}) {
    const Error error = error_of(registry, name);
    EXPECT_EQ(error.code, "backend/bad-option") << name;
    EXPECT_EQ(error.exit, ExitCode::kUsage) << name;
  }
}

TEST(Registry, GivesUnusableInstancesToInspectOnly) {
  Registry registry({FAKE_MODULES});
  const Error error = error_of(registry, "fake:unusable=no such processor");
  EXPECT_EQ(error.code, "backend/unusable");
  EXPECT_EQ(error.saw, "no such processor");
  const auto inspected = registry.inspect("fake:unusable=no such processor");
  ASSERT_TRUE(inspected);
  EXPECT_EQ((*inspected)->info().unusable, "no such processor");
}

TEST(Registry, ExcludedInstanceIsNeitherGivenNorMade) {
  Registry registry({FAKE_MODULES});
  ASSERT_TRUE(registry.get("fake"));
  registry.exclude("fake", "it crashed");
  registry.exclude("fake:b=2,a=1", "it hung");
  registry.exclude("fake:", "a name that is none");
  EXPECT_EQ(error_of(registry, "fake").code, "backend/unusable");
  EXPECT_EQ(error_of(registry, "fake").saw, "it crashed");
  EXPECT_EQ(registry.inspect("fake:a=1,b=2").error().saw, "it hung");
  EXPECT_TRUE(registry.get("fake:a=1"));
}

TEST(Registry, FailureWhileStartingIsAnError) {
  Registry registry({FAKE_MODULES});
  EXPECT_EQ(error_of(registry, "fake:throw=out of licences").saw, "a failure while starting: out of licences");
  EXPECT_EQ(error_of(registry, "fake:null=1").code, "backend/unusable");
}

TEST(Registry, SaysWhyABackendWasNotBuilt) {
  const std::string folder = testing::TempDir() + "collage_registry_left_out";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/libcollage_backend_absent.lacks") << "no library: run ./dev setup absent\n";
  Registry registry({FAKE_MODULES, folder});
  const Error error = error_of(registry, "absent");
  EXPECT_EQ(error.code, "backend/unusable");
  EXPECT_EQ(error.saw, "not built: no library: run ./dev setup absent");
  EXPECT_EQ(registry.left_out(), (std::map<std::string, std::string>{{"absent", error.saw}}));
}

TEST(Registry, RefusesModulesThatDoNotFit) {
  const std::string folder = testing::TempDir() + "collage_registry_broken";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/libcollage_backend_broken.so") << "not a module";
  Registry registry({FAKE_MODULES, folder});
  const std::pair<const char*, const char*> cases[] = {
      {"old", "ABI version 0"},
      {"short", "table of 8 bytes"},
      {"empty", "a table without kind or create"},
      {"mislabelled", "a module of kind 'fake'"},
      {"no_entry", "no symbol collage_backend_module or collage_backend_hooks"},
      {"hooked_old", "hooks of version 0"},
      {"hooked_empty", "neither compile nor lower"},
      {"hooked_null", "an entry point that returns nothing"},
      {"broken", "broken.so"}};
  for (const auto& [kind, saw] : cases) {
    const Error error = error_of(registry, kind);
    EXPECT_EQ(error.code, "backend/unusable") << kind;
    EXPECT_NE(error.saw.find(saw), std::string::npos) << error.saw;
    EXPECT_NE(error.where.find(kind), std::string::npos) << error.where;
  }
}

TEST(Registry, MakesABackendOfAModuleWithHooks) {
  Registry registry({FAKE_MODULES});
  const auto backend = registry.get("hooked");
  ASSERT_TRUE(backend) << to_string(backend.error());
  EXPECT_EQ((*backend)->info().kind, "hooked");
  EXPECT_EQ((*backend)->info().build.size(), 16U) << (*backend)->info().build;
  EXPECT_EQ((*backend)->rules().patterns.size(), 1U);
  EXPECT_EQ(error_of(registry, "hooked:x=1").saw, "unknown option x; allowed none");
}

TEST(Registry, TakesModuleFilesBeforeFolders) {
  const std::string module = FAKE_MODULES "/libcollage_backend_fake.so";
  EXPECT_EQ(Registry({module, "/no/such/file/libcollage_backend_b.so"}).kinds(), std::vector<std::string>{"fake"});
  const std::string folder = testing::TempDir() + "collage_registry_shadowed";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/libcollage_backend_fake.so") << "not a module";
  Registry registry({module, folder});
  EXPECT_TRUE(registry.get("fake"));
  EXPECT_EQ(registry.kinds(), std::vector<std::string>{"fake"});
}

TEST(Registry, LooksBesideItsLibraryThenInTheEnvironment) {
  ASSERT_EQ(::setenv("COLLAGE_BACKEND_PATH", "/one::/two", 1), 0);
  const std::vector<std::string> folders = default_module_folders();
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_TRUE(folders[0].ends_with("/lib/collage")) << folders[0];
  EXPECT_EQ(folders[1], "/one");
  EXPECT_EQ(folders[2], "/two");
  ASSERT_EQ(::unsetenv("COLLAGE_BACKEND_PATH"), 0);
  EXPECT_EQ(default_module_folders().size(), 1U);
}

}  // namespace
}  // namespace collage
