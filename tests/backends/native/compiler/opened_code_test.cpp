// Tensor code of others, as the compiler takes it.
#include "compiler/codegen/opened_code.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/backends/native/compiler/code_text.h"

namespace collage::native {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Rows of six: sum(i) = a(i) + b(i), serialised.
collage::TensorCode sum() {
  const Halide::Var i("i");
  Halide::Func out("sum");
  out(i) = Halide::ImageParam(Halide::Float(32), 1, "b")(i) + Halide::ImageParam(Halide::Float(32), 1, "a")(i);
  std::vector<std::uint8_t> bytes;
  Halide::serialize_pipeline(out, bytes);
  return {.pipeline = {bytes.begin(), bytes.end()},
          .parameters = {"a", "b"},
          .arguments = {dense_argument(collage::ArgumentKind::kInput, 0, ElementType::kFloat32, {6}),
                        dense_argument(collage::ArgumentKind::kConstant, 0, ElementType::kFloat32, {6}),
                        dense_argument(collage::ArgumentKind::kOutput, 0, ElementType::kFloat32, {6})},
          .constants = {ValueId{3}},
          .libraries = {}};
}

std::string refusal_of(const collage::TensorCode& given) {
  const auto code = opened_code(given, "kernel");
  return code ? "opened" : code.error().detail;
}

TEST(OpenedCode, KeepsTheOrderOfTheDescription) {
  const auto code = opened_code(sum(), "kernel");
  ASSERT_TRUE(code);
  ASSERT_EQ(code->inputs.size(), 2U);
  EXPECT_EQ(code->inputs[0].name, "a");
  EXPECT_EQ(code->inputs[1].name, "b");
  EXPECT_EQ(code->arguments[1].kind, ArgumentKind::kConstant);
  EXPECT_EQ(code->arguments[2].extents, Extents{6});
  EXPECT_THAT(code->constants, ElementsAre(ValueId{3}));
  EXPECT_THAT(code->parts, ElementsAre(ConstantPart{.source = 0}));
}

TEST(OpenedCode, IsMadeForTheShapesOfTheDescription) {
  const auto code = opened_code(sum(), "kernel");
  ASSERT_TRUE(code);
  const std::string text = to_text(*code, *instruction_set_of("avx2"));
  EXPECT_THAT(text, HasSubstr(", 0, 6)"));                 // the loop
  EXPECT_THAT(text, ::testing::Not(HasSubstr("stride")));  // nothing is left to look up
}

TEST(OpenedCode, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(refusal_of(sum()), "opened");
  collage::TensorCode code = sum();
  code.parameters[1] = "c";
  EXPECT_EQ(refusal_of(code), "the pipeline reads b, which no argument describes");
  code = sum();
  code.parameters[1] = "a";
  EXPECT_EQ(refusal_of(code), "two arguments for parameter a");
  code = sum();
  code.arguments.push_back(code.arguments.back());
  EXPECT_EQ(refusal_of(code), "fewer outputs than arguments describe");
  code = sum();
  code.arguments.pop_back();
  EXPECT_EQ(refusal_of(code), "more outputs than arguments describe");
  code = sum();
  code.arguments.back().type = ElementType::kInt32;
  EXPECT_THAT(refusal_of(code), HasSubstr(" is float32 of rank 1 in the pipeline, i32 of rank 1 in its description"));
}

TEST(OpenedCode, LibrariesThatAreNotThereFailTheLink) {
  const auto code = opened_code(sum(), "kernel");
  ASSERT_TRUE(code);
  const InstructionSet& set = *instruction_set_of("avx2");
  EXPECT_TRUE(compile_codes({*code}, set));
  const auto compiled = compile_codes({*code}, set, {"/nowhere/libwoofles.a"});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code, "native/link-failed");
  EXPECT_THAT(compiled.error().saw, HasSubstr("libwoofles.a"));
}

}  // namespace
}  // namespace collage::native
