#include "backend/hooks.h"

#include <gtest/gtest.h>

#include "tests/backend/hook_tables.h"

namespace collage {
namespace {

using test::compiling;

std::string refusal_of(const BackendHooks& hooks) {
  const auto checked = checked_hooks(&hooks, "a.so");
  if (checked) return "taken";
  EXPECT_EQ(checked.error().code, "backend/unusable");
  EXPECT_EQ(checked.error().where, "a.so");
  EXPECT_EQ(checked.error().exit, ExitCode::kUnsupported);
  EXPECT_FALSE(checked.error().allowed.empty());
  return checked.error().saw;
}

TEST(Hooks, AWayToAnArtifactAndSomethingToTakeIsEnough) {
  EXPECT_EQ(refusal_of(compiling()), "taken");
  EXPECT_EQ(refusal_of({.kind = "fake", .rules = test::relu_rules, .lower = test::lower_each}), "taken");
  EXPECT_EQ(refusal_of({.kind = "fake",
                        .rules = test::relu_rules,
                        .lower = test::lower_each,
                        .codegen = test::codegen_each,
                        .load = test::load_one}),
            "taken");
}

TEST(Hooks, RefusesTablesThatLackAHook) {
  BackendHooks hooks = compiling();
  hooks.kind = nullptr;
  EXPECT_EQ(refusal_of(hooks), "a table of hooks without kind");
  hooks = compiling();
  hooks.compile = nullptr;
  EXPECT_EQ(refusal_of(hooks), "neither compile nor lower");
  hooks = compiling();
  hooks.rules = nullptr;
  EXPECT_EQ(refusal_of(hooks), "neither rules nor support");
  hooks = compiling();
  hooks.load = nullptr;
  EXPECT_EQ(refusal_of(hooks), "compile without load");
  hooks = compiling();
  hooks.codegen = test::codegen_each;
  EXPECT_EQ(refusal_of(hooks), "codegen without lower");
  hooks = {.kind = "fake", .rules = test::relu_rules, .lower = test::lower_each, .codegen = test::codegen_each};
  EXPECT_EQ(refusal_of(hooks), "codegen without load");
  hooks = {.kind = "fake", .rules = test::relu_rules, .lower = test::lower_each};
  hooks.prepare_constants = [](const BackendOptions&, std::span<const LoadRequest>) {
    return std::vector<Result<std::optional<PreparedArtifact>>>();
  };
  EXPECT_EQ(refusal_of(hooks), "prepare_constants without load");
}

TEST(Hooks, RefusesOtherSizesAndVersions) {
  BackendHooks hooks = compiling();
  hooks.struct_size = 16;
  EXPECT_NE(refusal_of(hooks).find("table of 16 bytes"), std::string::npos);
  hooks = compiling();
  hooks.abi_version = kHooksVersion + 1;
  EXPECT_NE(refusal_of(hooks).find("hooks of version " + std::to_string(kHooksVersion + 1)), std::string::npos);
  EXPECT_EQ(checked_hooks(nullptr, "a.so").error().saw, "an entry point that returns nothing");
}

TEST(Hooks, ALongerTableOfTheSameVersionIsTaken) {
  struct Longer {
    BackendHooks hooks = compiling();
    void* unknown = nullptr;
  } longer;
  longer.hooks.struct_size = sizeof(Longer);
  const auto checked = checked_hooks(&longer.hooks, "a.so");
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->compile, test::compile_each);
}

}  // namespace
}  // namespace collage
