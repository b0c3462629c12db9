// What an artifact says beside its machine code, as bytes.
#include "program.h"
#include "program_binary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "tests/support/dice.h"
#include "tests/support/long_run.h"

namespace collage::native {
namespace {

Program sample() {
  return {
      .symbol = "kernel",
      .threads = 2,
      .arguments =
          {{.kind = ArgumentKind::kInput,
            .index = 0,
            .type = ElementType::kFloat32,
            .extents = {2, 3, 64},
            .strides = {192, 64, 1}},
           {.kind = ArgumentKind::kConstant, .index = 1, .type = ElementType::kInt8, .extents = {64}, .strides = {0}},
           {.kind = ArgumentKind::kOutput, .index = 0, .type = ElementType::kBool, .extents = {}, .strides = {}}},
      .constants = {{.source = 3,
                     .packing = {.kind = PackingKind::kPanels, .numbers = {64, 9, 3, 27, 1, 9, 32}},
                     .is_packed = false},
                    {.source = 0, .packing = {}, .is_packed = true}},
      .library = "openblas",
      .codes = {{.instruction_set = "avx512", .serial_bytes = 1024, .per_thread_bytes = 4096},
                {.instruction_set = "avx2", .serial_bytes = 8192, .per_thread_bytes = 1024}}};
}

std::string written(const std::string& first, const std::string& second,
                    const std::vector<std::string_view>& objects = {}) {
  return to_bytes(sample(), std::array<CodeBytes, 2>{CodeBytes{first, objects}, CodeBytes{second, {}}});
}

/// Eight bytes of length and the text.
std::string bytes_of(std::uint64_t length, std::string_view rest) {
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(rest);
}

std::string code_of(std::string_view bytes) {
  const auto read = program_of(bytes);
  return read ? "" : read.error().code;
}

/// The sample's text with a piece exchanged.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = written("", "").substr(8);
  const std::size_t at = text.find(from);
  COLLAGE_CHECK(at != std::string::npos, from + " in " + text);
  text.replace(at, from.size(), to);
  return bytes_of(text.size(), text);
}

TEST(Program, ReadsBackWhatItWrote) {
  const std::string first = std::string("\x7f") + "ELF and\0more";
  const std::string second = "another";
  const std::string bytes = written(first, second, {"object", "files"});
  const auto read = program_of(bytes);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->program, sample());
  ASSERT_EQ(read->codes.size(), 2U);
  EXPECT_EQ(read->codes[0].shared_object, first);
  EXPECT_THAT(read->codes[0].objects, testing::ElementsAre("object", "files"));
  EXPECT_EQ(read->codes[1].shared_object, second);
  EXPECT_THAT(read->codes[1].objects, testing::IsEmpty());
  EXPECT_EQ(read->codes[1].shared_object.data(), bytes.data() + bytes.size() - second.size()) << "not copied";
  EXPECT_EQ(to_bytes(read->program, read->codes), bytes);
}

// What the dynamic loader maps it trusts: a cut object crashes a process that loads it.
TEST(Program, IsRefusedWhenItsSharedObjectIsCutOrChanged) {
  const std::string bytes = written(std::string(50, 'o'), std::string(50, 'p'));
  for (std::size_t cut = 1; cut <= 100; ++cut) {
    const auto read = program_of(std::string_view(bytes).substr(0, bytes.size() - cut));
    ASSERT_FALSE(read) << cut;
    EXPECT_EQ(read.error().code, "backend/bad-artifact");
  }
  for (const std::size_t from_end : {1, 51}) {
    std::string changed = bytes;
    changed[bytes.size() - from_end] = 'x';
    EXPECT_EQ(code_of(changed), "backend/bad-artifact") << "either of the two";
  }
  EXPECT_EQ(code_of(bytes + 'x'), "backend/bad-artifact");
}

TEST(Unit, ReadsBackWhatItWrote) {
  Program other = sample();
  other.threads = 1;
  const Programs programs = {{"a", sample()}, {"b", other}};
  const std::vector<CodeBytes> codes = {{.shared_object = "first", .objects = {"a", "b"}},
                                        {.shared_object = "second", .objects = {}}};
  const std::string bytes = unit_to_bytes(programs, codes);
  const auto read = unit_of(bytes);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->programs, programs);
  ASSERT_EQ(read->codes.size(), 2U);
  EXPECT_EQ(read->codes[0].shared_object, "first");
  EXPECT_THAT(read->codes[0].objects, testing::ElementsAre("a", "b"));
  EXPECT_EQ(read->codes[1].shared_object, "second");
  for (std::size_t cut = 1; cut < bytes.size(); ++cut)
    ASSERT_FALSE(unit_of(std::string_view(bytes).substr(0, bytes.size() - cut))) << cut;
  EXPECT_EQ(program_of(bytes).error().code, "backend/bad-artifact") << "not that of one kernel";
  EXPECT_EQ(unit_of(written("first", "second")).error().code, "backend/bad-artifact") << "that of one kernel";
}

/// One kernel for f32[n, 32], another for n of at least 8.
KernelSet sample_set() {
  const Member member = {
      .symbol = "wide",
      .variant = "rows",
      .arguments = {sample().arguments[0]},
      .views = {{.extents = {{.factor = 1, .sizes = {0}}}, .strides = {{.factor = 32, .sizes = {}}}}},
      .guards = {{.term = {.factor = 2, .sizes = {0}}, .least = 8}}};
  Member other = member;
  other.guards.clear();
  return {.symbols = {{.name = "n", .input = 0, .axis = 0, .low = 1, .high = 64}},
          .sizes = {{.symbol = 0, .add = -1, .divide = 2, .plus = 1}},
          .inputs = {{{.factor = 1, .sizes = {0}}, {.factor = 32, .sizes = {}}}},
          .outputs = {{{.factor = 3, .sizes = {0, 0}}}},
          .members = {member, other},
          .cases = {{.low = {8}, .high = {64}, .member = 0}, {.low = {1}, .high = {64}, .member = 1}}};
}

TEST(BinaryArtifact, OfAProgramReadsBackWhatItWrote) {
  StoredProgram stored = {.program = sample(), .codes = {{.shared_object = "code", .objects = {}}}};
  stored.program.set = sample_set();
  const std::string bytes = to_binary_artifact(stored);
  const auto read = program_from_binary(bytes);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->program, stored.program);
  ASSERT_EQ(read->codes.size(), 1U);
  EXPECT_EQ(read->codes[0].shared_object, "code");
}

TEST(BinaryArtifact, OfAUnitReadsBackWhatItWrote) {
  const StoredUnit unit = {
      .programs = {{"a", sample()}, {"b", Program()}},
      .codes = {{.shared_object = "first", .objects = {}}, {.shared_object = "x", .objects = {"o"}}}};
  const std::string bytes = to_binary_artifact(unit);
  const auto read = unit_from_binary(bytes);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->programs, unit.programs);
  ASSERT_EQ(read->codes.size(), 2U);
  EXPECT_EQ(read->codes[0].shared_object, "first");
  EXPECT_THAT(read->codes[1].objects, testing::ElementsAre("o"));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(unit_from_binary(std::string_view(bytes).substr(0, size)).error().code, "backend/bad-artifact") << size;
}

TEST(Program, ReadsBackWithoutAnything) {
  const std::string bytes = to_bytes({}, {});
  ASSERT_TRUE(program_of(bytes));
  EXPECT_EQ(program_of(bytes)->program, Program());
}

TEST(Program, CountsItsWorkspace) {
  EXPECT_EQ(sample().workspace_bytes(), 8192U + 2U * 1024U) << "enough for any of its codes";
  EXPECT_EQ(Program().workspace_bytes(), 0U);
}

TEST(Program, SaysWhatItNeeds) {
  EXPECT_EQ(compatibility_of(sample()), "native/2 avx512 avx2 with openblas");
  const auto needs = needs_of("native/2 avx512 avx2 with openblas");
  ASSERT_TRUE(needs);
  EXPECT_THAT(needs->sets, testing::ElementsAre(instruction_set_of("avx512"), instruction_set_of("avx2")));
  EXPECT_EQ(needs->library, "openblas");
  ASSERT_TRUE(needs_of("native/2 avx2"));
  EXPECT_EQ(needs_of("native/2 avx2")->library, "");
  for (const char* other : {"", "native/2", "native/1 avx512", "native/2 sse9", "native/2 avx512 sse9", "blas/1",
                            "native/2 with openblas", "native/2 avx2 with"})
    EXPECT_EQ(needs_of(other).error().code, "backend/incompatible-artifact") << other;
}

TEST(Program, IsAnErrorWhenTruncated) {
  const std::string bytes = written("", "");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(code_of(std::string_view(bytes).substr(0, length)), "backend/bad-artifact") << length;
}

TEST(Program, IsAnErrorWhenTheTextIsLongerThanTheArtifact) {
  const std::string text = written("", "").substr(8);
  for (const std::uint64_t length :
       {std::uint64_t{text.size() + 1}, std::uint64_t{1} << 40, UINT64_MAX, UINT64_MAX - 7})
    EXPECT_EQ(code_of(bytes_of(length, text)), "backend/bad-artifact") << length;
}

TEST(Program, IsAnErrorWhenTheTextIsSomethingElse) {
  for (const std::string text :
       {"", "garbage", "[]", "{}", "null", "7", "\"kernel\"", "{\"symbol\":\"kernel\"}", "\xff\xfe"})
    EXPECT_EQ(code_of(bytes_of(text.size(), text)), "backend/bad-artifact") << text;
  EXPECT_EQ(code_of(bytes_of(50000, std::string(50000, '['))), "backend/bad-artifact") << "deep";
}

TEST(Program, IsAnErrorWhenAMemberIsOfAnotherKind) {
  EXPECT_EQ(code_of(changed("\"threads\":2", "\"threads\":2")), "");
  EXPECT_EQ(code_of(changed("\"threads\":2", "\"threads\":\"2\"")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"threads\":2", "\"thread\":2")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"bool\"", "\"boolean\"")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"panels\"", "\"pages\"")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"kind\":2", "\"kind\":3")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"kind\":2", "\"kind\":-1")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"extents\":[64]", "\"extents\":64")), "backend/bad-artifact");
  EXPECT_EQ(code_of(changed("\"packed\":true", "\"packed\":1")), "backend/bad-artifact");
}

TEST(Program, SurvivesRandomDamage) {
  const std::string whole = written("machine code", "more of it");
  const std::uint64_t flips = test::by_length<std::uint64_t>(2000, 200000);
  for (std::uint64_t seed = 0; seed < flips; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    std::string bytes = whole;
    for (std::size_t i = 0; i <= dice.below(3); ++i)
      bytes[dice.below(bytes.size())] ^= static_cast<char>(1U << dice.below(8));
    if (const auto read = program_of(bytes)) {
      EXPECT_EQ(read->codes.size(), read->program.codes.size());
      for (const CodeBytes& code : read->codes) EXPECT_LE(code.shared_object.size(), bytes.size());
      for (const Argument& argument : read->program.arguments) EXPECT_LE(static_cast<int>(argument.kind), 2);
    } else {
      EXPECT_EQ(read.error().code, "backend/bad-artifact");
    }
  }
}

}  // namespace
}  // namespace collage::native
