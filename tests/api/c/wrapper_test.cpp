// collage.hpp in C++23, and beside a program in C++17. The product's own types are in this process too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/c/c_fixture.h"
#include "tests/api/c/cpp17_program.h"

// Last: the product's headers mean their own types by names that this one has too.
#include "api/c/collage.hpp"

namespace collage::test {
namespace {

class Wrapper : public CApi {
 protected:
  static capi::Plan plan_of(const std::string& path) {
    auto plan = capi::Plan::load(path);
    EXPECT_TRUE(plan) << plan.error().message;
    return *std::move(plan);
  }
  static capi::Session session_of(const capi::Plan& plan) {
    auto session = plan.make_session();
    EXPECT_TRUE(session) << session.error().message;
    return *std::move(session);
  }
};

TEST_F(Wrapper, SaysWhatAPlanIs) {
  const capi::Plan plan = plan_of(rows_file());
  ASSERT_EQ(plan.inputs().size(), 1U);
  EXPECT_EQ(plan.inputs()[0].name, "x");
  ASSERT_TRUE(plan.inputs()[0].shape);
  EXPECT_EQ(plan.inputs()[0].shape->at(0).symbol, "n");
  EXPECT_EQ(plan.inputs()[0].shape->at(1).extent, static_cast<std::int64_t>(kCaseWidth));
  EXPECT_EQ(plan.outputs().size(), 1U);
  EXPECT_EQ(plan.threads(), 1);
  EXPECT_EQ(plan.verdict().kind, COLLAGE_SAME);
  EXPECT_THAT(plan.metadata(), testing::HasSubstr("collage.plan-metadata/1"));
  EXPECT_EQ(*plan.input_index("x"), 0U);
  EXPECT_EQ(plan.output_index("z").error().code, "output/unknown-name");
}

TEST_F(Wrapper, EndsRunsEarly) {
  capi::Session session = session_of(plan_of(doubling_file()));
  const std::int64_t forever = std::int64_t{1} << 60;
  ASSERT_TRUE(session.copy_input("trips", &forever, 1));
  const auto late = session.run({.time_limit = std::chrono::milliseconds(5), .cancel = {}});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "session/deadline");
  const capi::CancelToken token;
  token.cancel();
  EXPECT_EQ(session.run({.time_limit = {}, .cancel = token}).error().code, "session/cancelled");
}

TEST_F(Wrapper, TakesOnlyASignedPlanWhereAKeyIsGiven) {
  const std::string nobody =
      "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC "
      "KEY-----\n";
  const auto plan = capi::Plan::load(increment_file(), {.signed_by = nobody});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, "signature/missing");
  EXPECT_EQ(capi::Plan::load(increment_file(), {.signed_by = "no key"}).error().code, "signature/bad-key");
}

TEST_F(Wrapper, RunsWithTypedViews) {
  capi::Session session = session_of(plan_of(increment_file()));
  const auto input = session.input<float>("x");
  ASSERT_TRUE(input) << input.error().message;
  ASSERT_EQ(input->size(), kIncrements);
  float next = 0;
  for (float& value : *input) value = next++;
  ASSERT_TRUE(session.run());
  const auto output = session.output<float>(0);
  ASSERT_TRUE(output) << output.error().message;
  EXPECT_EQ(output->extents, (capi::Extents{6, 16}));
  for (std::size_t i = 0; i < output->values.size(); ++i) ASSERT_EQ(output->values[i], static_cast<float>(i) + 1) << i;
  EXPECT_EQ(session.input<double>("x").error().code, "api/wrong-type");
  EXPECT_EQ(session.output<std::int32_t>(0).error().code, "api/wrong-type");
  EXPECT_EQ(session.input<float>("nobody").error().code, "input/unknown-name");
  EXPECT_EQ(session.input<float>(3).error().code, "api/wrong-index");
}

TEST_F(Wrapper, SetsShapesAndBindsMemory) {
  capi::Session session = session_of(plan_of(rows_file()));
  EXPECT_EQ(session.run().error().code, "session/no-shape");
  ASSERT_TRUE(session.set_shapes({{2, kCaseWidth}}));
  EXPECT_EQ(session.inputs()[0].bytes, 8 * sizeof(float));
  alignas(64) std::array<float, 8> in{};
  alignas(64) std::array<float, 8> out{};
  ASSERT_TRUE(session.bind_input("x", in.data(), in.size()));
  ASSERT_TRUE(session.bind_output("y", out.data(), out.size()));
  ASSERT_TRUE(session.run());
  EXPECT_THAT(out, testing::ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
  EXPECT_EQ(session.bind_input("x", in.data(), 7).error().code, "api/wrong-bytes");
  EXPECT_EQ(session.set_shapes({{17, kCaseWidth}}).error().kind, COLLAGE_BAD_INPUT);
}

TEST_F(Wrapper, GivesErrorsAsValues) {
  const auto missing = capi::Plan::load(folder_.file("none.collage"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "io/cannot-read");
  EXPECT_EQ(missing.error().kind, COLLAGE_IO);
  EXPECT_THAT(missing.error().message, testing::StartsWith("error[io/cannot-read]: "));
  const auto empty = capi::Plan::load_memory("", 0);
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, "zip/damaged");
}

TEST_F(Wrapper, WorksBesideAProgramInCpp17) {
  const std::vector<float> in(kIncrements, 2.0F);
  const Cpp17Answer answer = cpp17_run(increment_file(), in);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.values, std::vector<float>(kIncrements, 3.0F));
  EXPECT_EQ(cpp17_run(folder_.file("none.collage"), in).error, "io/cannot-read");
  EXPECT_EQ(cpp17_run(increment_file(), {}).error, "api/wrong-bytes");
}

}  // namespace
}  // namespace collage::test
