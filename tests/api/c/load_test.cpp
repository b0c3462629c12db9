// Loading plans from files and from memory, and what is refused.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "plan/signature/plan_signature.h"
#include "tests/api/c/c_fixture.h"
#include "tests/support/scratch_folder.h"

namespace collage {
namespace {

using test::CApi;
using test::code_of;
using test::is_good;
using test::PlanHandle;
using test::SessionHandle;

class CApiLoad : public CApi {
 protected:
  static std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static Buffer aligned(const std::string& bytes) { return Buffer::copy_of(std::as_bytes(std::span(bytes))); }

  /// The code of what loading these bytes gives; the plan with them.
  std::string load(const void* bytes, std::size_t count, bool is_borrowed = false) {
    collage_plan_options options{};
    options.size = sizeof options;
    options.borrow_memory = is_borrowed ? 1 : 0;
    collage_plan* plan = nullptr;
    const std::string code = code_of(api_.plan_load_memory(bytes, count, &options, &plan));
    plan_.reset(plan);
    return code;
  }
  std::string load_file(const std::string& path, const collage_plan_options* options = nullptr) {
    collage_plan* plan = nullptr;
    const std::string code = code_of(api_.plan_load_file(path.c_str(), options, &plan));
    EXPECT_EQ(plan != nullptr, code.empty());
    plan_.reset(plan);
    return code;
  }

  /// What the plan makes of 0, 1, 2, ...
  std::vector<float> numbers() {
    const SessionHandle session = session_of(plan_);
    std::vector<float> in(test::kIncrements);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
    EXPECT_TRUE(is_good(api_.session_copy_input(session.get(), 0, in.data(), in.size() * sizeof(float))));
    EXPECT_TRUE(is_good(api_.session_run(session.get())));
    return output_of(session, 0);
  }

  PlanHandle plan_;
};

TEST_F(CApiLoad, FromMemoryGivesTheSameAsFromAFile) {
  const std::string path = increment_file();
  ASSERT_EQ(load_file(path), "");
  const std::vector<float> expected = numbers();
  EXPECT_EQ(expected.front(), 1);
  std::string bytes = bytes_of(path);
  ASSERT_EQ(load(bytes.data(), bytes.size()), "");
  std::ranges::fill(bytes, 'x');  // the plan has a copy
  EXPECT_EQ(numbers(), expected);
}

TEST_F(CApiLoad, UsesBorrowedMemoryWhereItIs) {
  const std::string bytes = bytes_of(increment_file());
  const Buffer whole = aligned(bytes);
  ASSERT_EQ(load(whole.data(), whole.size(), true), "");
  EXPECT_EQ(numbers().front(), 1);
  // At an odd address it is copied: every byte may be at any address.
  for (const std::size_t shift : {1, 8, 32}) {
    const Buffer shifted = aligned(std::string(shift, ' ') + bytes);
    ASSERT_EQ(load(shifted.data() + shift, bytes.size(), true), "") << shift;
    EXPECT_EQ(numbers().back(), static_cast<float>(test::kIncrements)) << shift;
  }
}

TEST_F(CApiLoad, RefusesWhatIsNoPlan) {
  EXPECT_EQ(load_file(folder_.file("none.collage")), "io/cannot-read");
  EXPECT_EQ(load_file(folder_.path().string()), "io/cannot-read");
  std::ofstream(folder_.file("text.collage")) << "no plan";
  EXPECT_EQ(load_file(folder_.file("text.collage")), "zip/damaged");
  std::ofstream(folder_.file("empty.collage"));
  EXPECT_EQ(load_file(folder_.file("empty.collage")), "zip/damaged");
  const std::string onnx(test::plan_of_rows(3).onnx.text());
  std::ofstream(folder_.file("model.onnx"), std::ios::binary) << onnx;
  EXPECT_EQ(load_file(folder_.file("model.onnx")), "plan/is-a-model");
  EXPECT_EQ(load(onnx.data(), onnx.size()), "plan/is-a-model");
  EXPECT_EQ(load("", 0), "zip/damaged");
}

TEST_F(CApiLoad, RefusesDamagedPlans) {
  const std::string path = increment_file();
  const std::string bytes = bytes_of(path);
  for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{64}, std::size_t{1}})
    EXPECT_THAT(load(bytes.data(), size), testing::MatchesRegex("(zip|plan)/damaged")) << size;
  std::string changed = bytes;
  const std::size_t at = changed.find("\"Add\"");
  changed[at == std::string::npos ? changed.find("schema") : at + 1] ^= 1;
  EXPECT_THAT(load(changed.data(), changed.size()), testing::MatchesRegex("(zip|plan)/damaged"));
  std::filesystem::resize_file(path, bytes.size() - 7);
  EXPECT_THAT(load_file(path), testing::MatchesRegex("(zip|plan)/damaged"));
}

TEST_F(CApiLoad, SaysAllOfAnErrorInParts) {
  collage_plan* plan = nullptr;
  const std::string path = folder_.file("none.collage");
  collage_status* const status = api_.plan_load_file(path.c_str(), nullptr, &plan);
  ASSERT_NE(status, nullptr);
  EXPECT_EQ(plan, nullptr);
  EXPECT_STREQ(api_.status_code(status), "io/cannot-read");
  EXPECT_EQ(api_.status_where(status), path);
  EXPECT_STREQ(api_.status_saw(status), std::strerror(ENOENT));
  EXPECT_STREQ(api_.status_allowed(status), "a readable file");
  EXPECT_EQ(api_.status_kind(status), COLLAGE_IO);
  EXPECT_EQ(api_.status_message(status),
            "error[io/cannot-read]: " + path + ": saw " + std::strerror(ENOENT) + "; allowed a readable file");
  api_.status_free(status);
  api_.status_free(nullptr);
  EXPECT_STREQ(api_.status_message(nullptr), "");
  EXPECT_STREQ(api_.status_code(nullptr), "");
  EXPECT_EQ(api_.status_kind(nullptr), COLLAGE_GOOD);
}

TEST_F(CApiLoad, TakesNoOtherNumberOfThreadsThanThePlans) {
  const std::string path = increment_file();
  collage_plan_options options{};
  options.size = sizeof options;
  const std::vector<std::pair<int, std::string>> answers = {
      {0, ""}, {1, ""}, {7, "plan/other-threads"}, {-1, "api/wrong-option"}};
  for (const auto& [threads, code] : answers) {
    options.threads = threads;
    EXPECT_EQ(load_file(path, &options), code) << threads;
  }
}

/// Options as another version of the header may have them.
struct OtherOptions {
  collage_plan_options known{};
  std::int64_t more = 0;
};

TEST_F(CApiLoad, TakesOptionsOfOtherHeaders) {
  const std::string path = increment_file();
  OtherOptions other;
  const auto load_sized = [&](std::size_t size) {
    other.known.size = size;
    return load_file(path, &other.known);
  };
  EXPECT_EQ(load_sized(sizeof other), "") << "longer, and the rest is 0";
  other.more = 1;
  EXPECT_EQ(load_sized(sizeof other), "api/unknown-option");
  other.known.threads = 7;
  EXPECT_EQ(load_sized(sizeof(std::size_t)), "") << "shorter: threads is not part of it";
  EXPECT_EQ(load_sized(offsetof(collage_plan_options, borrow_memory)), "plan/other-threads");
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{1} << 40})
    EXPECT_EQ(load_sized(size), "api/wrong-size") << size;
}

TEST_F(CApiLoad, TakesOnlyWhatOneOfTheKeysSigned) {
  const test::ScratchFolder folder;
  const std::string signed_file = folder.file("signed.collage");
  const PrivateKey key = make_key();
  ASSERT_TRUE(sign_plan(increment_file(), key, signed_file));
  const std::string right = to_pem(public_half(key));
  const std::string other = to_pem(public_half(make_key()));
  std::string bytes = bytes_of(signed_file);
  const auto load_signed = [&](const std::string& keys, bool is_in_memory) {
    collage_plan_options options{};
    options.size = sizeof options;
    options.signed_by = keys.c_str();
    if (!is_in_memory) return load_file(signed_file, &options);
    collage_plan* plan = nullptr;
    const std::string code = code_of(api_.plan_load_memory(bytes.data(), bytes.size(), &options, &plan));
    plan_.reset(plan);
    return code;
  };
  for (const bool is_in_memory : {false, true}) {
    EXPECT_EQ(load_signed(right, is_in_memory), "");
    EXPECT_EQ(numbers()[5], 6);
    const char* metadata = nullptr;
    ASSERT_TRUE(is_good(api_.plan_metadata(plan_.get(), &metadata)));
    EXPECT_THAT(metadata, testing::HasSubstr("\"signature_checked\":true"));
    EXPECT_EQ(load_signed(other + right, is_in_memory), "");
    EXPECT_EQ(load_signed(other, is_in_memory), "signature/other-key");
    EXPECT_EQ(load_signed("", is_in_memory), "signature/bad-key") << "nobody's signature would do";
  }
  bytes[bytes.find("plan.json") + 200] ^= 1;
  EXPECT_EQ(load_signed(right, true), "signature/changed");
  bytes = bytes_of(increment_file());
  EXPECT_EQ(load_signed(right, true), "signature/missing");
}

TEST_F(CApiLoad, RefusesNullPointers) {
  collage_plan* plan = nullptr;
  EXPECT_EQ(code_of(api_.plan_load_file(nullptr, nullptr, &plan)), "api/null-argument");
  EXPECT_EQ(code_of(api_.plan_load_file("x", nullptr, nullptr)), "api/null-argument");
  EXPECT_EQ(code_of(api_.plan_load_memory(nullptr, 8, nullptr, &plan)), "api/null-argument");
  EXPECT_EQ(code_of(api_.plan_load_memory("x", 1, nullptr, nullptr)), "api/null-argument");
  api_.plan_free(nullptr);
}

TEST_F(CApiLoad, TurnsExceptionsIntoStatuses) {
  const std::string thrown = saved(single_case(test::plan_of_rows(13)), "throws.collage");
  collage_plan* plan = nullptr;
  collage_status* const status = api_.plan_load_file(thrown.c_str(), nullptr, &plan);
  EXPECT_EQ(plan, nullptr);
  EXPECT_STREQ(api_.status_code(status), "api/exception");
  EXPECT_STREQ(api_.status_saw(status), "13 rows");
  EXPECT_STREQ(api_.status_where(status), "plan_load_file");
  EXPECT_EQ(api_.status_kind(status), COLLAGE_BUG);
  api_.status_free(status);
  EXPECT_EQ(load_file(saved(single_case(test::plan_of_rows(11)), "memory.collage")), "api/out-of-memory");
}

TEST_F(CApiLoad, SaysWhichBackendIsMissing) {
  RealisedPlan plan = test::plan_of_rows(3);
  const std::string path = saved(single_case(std::move(plan)), "rows3.collage");
  ::unsetenv("COLLAGE_BACKEND_PATH");
  EXPECT_EQ(load_file(path), "plan/missing-backend");
  SetUpTestSuite();
  EXPECT_EQ(load_file(path), "");
}

/// Pages of this process that are in memory.
std::size_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident;
}

TEST_F(CApiLoad, ThousandTimesKeepsNoMemory) {
  const std::string path = increment_file();
  const auto cycle = [&] {
    ASSERT_EQ(load_file(path), "");
    ASSERT_EQ(numbers().front(), 1);
    plan_.reset();
  };
  for (int i = 0; i < 100; ++i) cycle();
  const std::size_t before = resident_pages();
  for (int i = 0; i < 1000; ++i) cycle();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they keep what is freed
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_LT((resident_pages() - std::min(before, resident_pages())) * page, std::size_t{512} << 10);
#else
  (void)before;
#endif
}

}  // namespace
}  // namespace collage
