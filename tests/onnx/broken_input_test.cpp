// Files that are cut off, flipped, or no models at all are refused with a code; nothing ends the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "onnx/files/model_file.h"
#include "onnx/proto.h"
#include "tests/onnx/model_text.h"

namespace collage::testing {
namespace {

std::string sample_model() {
  return bytes_of(model_of(R"(<ir_version: 7, opset_import: ["" : 11, "local" : 1], producer_name: "test">
      g (bool c, float[1, 4, 4] x, float[4] w) => (float[a, b] y) <float[4] w = {1, 2, 3, 4}, int64[2] shape = {4, -1}> {
        s = Softmax(x)
        t = local.twice(s)
        u = Add(t, w)
        r = Reshape(u, shape)
        y = If(c) <then_branch = g1 () => (float[a0, a1] p) { p = Relu(r) }, else_branch = g2 () => (float[b0, b1] q) { q = Neg(r) }>
      }
      <domain: "local", opset_import: ["" : 11]> twice (a) => (b) { b = Add(a, a) })"));
}

ImportOptions lenient() {
  return {.shapes = {}, .allow_unbound = true, .knows_vendor_operator = [](auto, auto) { return true; }};
}

TEST(BrokenInput, TheSampleItselfIsFine) {
  const auto imported = import_model(sample_model(), "", lenient());
  ASSERT_TRUE(imported) << to_string(imported.error());
}

TEST(BrokenInput, EveryPrefixIsRefused) {
  const std::string model = sample_model();
  std::set<std::string> codes;
  for (std::size_t length = 0; length < model.size(); ++length) {
    const auto imported = import_model(model.substr(0, length), "", {});
    ASSERT_FALSE(imported) << length;
    // A cut between two fields may leave a whole model that lacks an operator set or a function.
    EXPECT_THAT(imported.error().exit, ::testing::AnyOf(ExitCode::kBadInput, ExitCode::kUnsupported))
        << to_string(imported.error());
    codes.insert(imported.error().code);
  }
  EXPECT_THAT(codes, ::testing::IsSupersetOf({"import/truncated", "import/not-onnx"}));
}

TEST(BrokenInput, FlippedBytesNeverEndTheProcess) {
  const std::string model = sample_model();
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string broken = model;
    const auto flips = 1 + random() % 3;
    for (std::size_t i = 0; i < flips; ++i) {
      const std::size_t at = random() % broken.size();
      if (random() % 2 == 0)
        broken[at] = static_cast<char>(random());
      else
        broken[at] = static_cast<char>(broken[at] ^ (1 << random() % 8));
    }
    const auto imported = import_model(broken, "", lenient());
    if (imported) {
      EXPECT_TRUE(verify(imported->graph));
    } else {
      EXPECT_TRUE(imported.error().code.starts_with("import/")) << to_string(imported.error());
      EXPECT_NE(imported.error().exit, ExitCode::kBug) << to_string(imported.error());
    }
  }
}

TEST(BrokenInput, BytesThatAreNotOnnxAreCalledSo) {
  for (const std::string& bytes : {std::string("hello, this is text\n"), std::string("PK\3\4 a zip"),
                                   std::string(64, '\0'), std::string("\x89PNG\r\n\x1a\n"), std::string()})
    EXPECT_EQ(code_of(import_model(bytes, "", {})), "import/not-onnx") << bytes.substr(0, 8);
}

TEST(BrokenInput, AMissingFileAFolderAndAnEmptyFileAreToldApart) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto empty = folder / "empty.onnx";
  std::ofstream(empty).close();
  const auto missing = import_model((folder / "missing.onnx").string());
  EXPECT_EQ(code_of(missing), "import/not-found");
  EXPECT_EQ(missing.error().exit, ExitCode::kIo);
  EXPECT_EQ(code_of(import_model(folder.string())), "import/not-a-file");
  EXPECT_EQ(code_of(import_model(empty.string())), "import/empty");
  std::filesystem::remove(empty);
}

TEST(BrokenInput, ConstantsWhoseDataDoesNotFitTheirShapeAreRefused) {
  auto model = model_of(
      R"(<ir_version: 8, opset_import: ["" : 13]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add(x, w) })");
  auto& tensor = *model.mutable_graph()->mutable_initializer(0);
  for (const std::int64_t dim : {std::int64_t{3}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    tensor.set_dims(0, dim);
    const auto imported = import_with(bytes_of(model));
    ASSERT_FALSE(imported) << dim;
    EXPECT_EQ(imported.error().exit, ExitCode::kBadInput) << to_string(imported.error());
  }
}

TEST(BrokenInput, ALongVectorCostsNoMemory) {
  const auto imported = import_with(
      opset_model(13, "g (int64[2147483648] x) => (int64[2147483648] y) { t = Cast<to = 7>(x) y = Add(t, x) }"));
  EXPECT_TRUE(imported) << to_string(imported.error());
}

TEST(BrokenInput, AnAxisBeyondAnyRankIsRefused) {
  const auto imported = import_with(opset_model(17,
                                                "g (float[2, 8] x, float[8] s) => (float[2, 8] y, float[2, 1] m) { y, "
                                                "m = LayerNormalization<axis = 9223372036854775807>(x, s) }"));
  EXPECT_EQ(code_of(imported), "import/invalid-model");
}

TEST(BrokenInput, WhatALibraryThrowsBecomesAnError) {
  const auto thrown = guarded(ExitCode::kBadInput, "import/test", "here",
                              [] { throw std::runtime_error("a.cc:3: f: Assertion `x` failed: why\nmore"); });
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().saw, "why");
  EXPECT_EQ(code_of(guarded(ExitCode::kBug, "a/b", "here", [] { throw std::bad_alloc(); })), "import/out-of-memory");
  EXPECT_EQ(code_of(guarded(ExitCode::kBug, "a/b", "here", [] { throw 3; })), "a/b");
}

}  // namespace
}  // namespace collage::testing
