#include "backend/extensions/format_extension.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace collage {
namespace {

class PlainBackend : public Backend {
 public:
  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return {}; }
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph&, const Region&,
                                                                     const CompileOptions&) const override {
    return std::vector<Variant>{};
  }
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest>,
                                                                      const CompileOptions&) override {
    return {};
  }
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest&) override {
    return fail(ExitCode::kBug, "backend/test", "load", "nothing");
  }

 private:
  BackendInfo info_;
};

class FixedCall : public Call {
 public:
  Result<void> run() override { return {}; }
};

ValueType type_of(std::string_view text) { return parse_value_type(text).value(); }

TEST(Accuracy, NamesReadBack) {
  for (const Accuracy accuracy : {Accuracy::kStrict, Accuracy::kStandard, Accuracy::kFast})
    EXPECT_EQ(accuracy_of(name_of(accuracy)), accuracy);
  EXPECT_EQ(accuracy_of("standard"), Accuracy::kStandard);
  EXPECT_EQ(accuracy_of("exact"), std::nullopt);
}

TEST(Backend, KnowsTheCommonFormatsByDefault) {
  const PlainBackend backend;
  EXPECT_EQ(format_bytes(backend, type_of("f32[1,3,4,4]"), plain()), 192U);
  EXPECT_EQ(format_bytes(backend, type_of("f32[1,3,4,4]"), channels_last()), 192U);
  EXPECT_EQ(format_bytes(backend, type_of("f32[3,4]"), plain()), 48U);
  EXPECT_EQ(format_bytes(backend, type_of("f32[3,4]"), channels_last()), std::nullopt);
  EXPECT_EQ(format_bytes(backend, type_of("f32[1,3,4,4]"), Format{"onednn:nChw16c"}), std::nullopt);
  EXPECT_EQ(format_bytes(backend, type_of("f32[N,3,4,4]"), plain()), std::nullopt);
}

TEST(Backend, ConvertsNothingByDefault) {
  PlainBackend backend;
  const auto artifact =
      compile_conversion(backend, {.type = type_of("f32[1,2,3]"), .to = {.format = channels_last()}}, {});
  ASSERT_FALSE(artifact);
  EXPECT_EQ(artifact.error().reason, RefusalReason::kFormat);
  EXPECT_EQ(artifact.error().detail, "no conversion of f32[1,2,3] from plain to channels_last");
}

TEST(Call, HasNoDynamicOutputsByDefault) {
  FixedCall call;
  const auto output = call.dynamic_output(2);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().where, "output port 2");
}

TEST(Guard, StopsExceptionsOfAnyType) {
  EXPECT_EQ(guard([] { return 3; }), 3);
  EXPECT_TRUE(guard([] {}));
  EXPECT_EQ(guard([]() -> int { throw std::runtime_error("broken"); }).error(), "broken");
  EXPECT_EQ(guard([] { throw 7; }).error(), "an exception of unknown type");
}

}  // namespace
}  // namespace collage
