// Conversions between formats, narrow ones included.
#include "host_fixture.h"

namespace collage {
namespace {

/// The host's conversion of the tensor, read back in plain format, is the one expected.
void expect_converted(const Tensor& in, const Format& from, const Format& to, const Tensor& expected) {
  const ValueType value = in.value_type();
  SCOPED_TRACE(to_string(value) + " " + from.name + " to " + to.name);
  const auto artifact =
      compile_conversion(host_backend(), {.type = value, .from = {.format = from}, .to = {.format = to}}, {});
  ASSERT_TRUE(artifact);
  LoadRequest request{.artifact = *artifact,
                      .constants = {},
                      .inputs = {{"x", value, {.format = from}}},
                      .outputs = {{"x", value, {.format = to}}}};
  const auto kernel = host_backend().load(request);
  ASSERT_TRUE(kernel) << to_string(kernel.error());
  EXPECT_EQ(test::run_twice(**kernel, request, {in}), std::vector{expected});
}

TEST(HostConversion, IsRightForOddShapesTypesAndDirections) {
  const std::vector<Extents> shapes = {{1, 3, 224, 224}, {2, 17, 13, 1}, {1, 1, 5, 7},  {3, 64, 7, 7}, {1, 5, 9},
                                       {2, 4, 3, 5, 7},  {1, 2, 9, 9},   {1, 4, 33, 3}, {1, 0, 4, 4},  {1, 70, 1, 1}};
  for (const Extents& extents : shapes) {
    for (const ElementType type :
         {ElementType::kFloat32, ElementType::kUint8, ElementType::kFloat16, ElementType::kInt64}) {
      Tensor in = random_tensor<std::uint8_t>(ElementType::kUint8,
                                              {static_cast<std::int64_t>(byte_count(type, extents))}, 3, 0, 255);
      in.type = type;
      in.extents = extents;
      for (const auto& [from, to] : std::vector<std::pair<Format, Format>>{{plain(), channels_last()},
                                                                           {channels_last(), plain()},
                                                                           {plain(), plain()},
                                                                           {channels_last(), channels_last()}}) {
        expect_converted(in, from, to, in);
      }
    }
  }
}

/// As it comes back from the narrower of two formats.
Tensor rounded(const Tensor& tensor, const Format& from, const Format& to) {
  const Format narrow = stored_as(plain(), from.narrow().value_or(to.narrow().value_or(ElementType::kBfloat16)));
  if (!from.narrow() && !to.narrow()) return tensor;
  std::vector<std::byte> stored(*common_format_bytes(tensor.value_type(), narrow));
  convert_common_format(tensor.value_type(), plain(), tensor.data.data(), narrow, stored.data());
  Tensor back = tensor;
  back.data = Buffer::make(tensor.data.size(), [&](std::span<std::byte> out) {
    convert_common_format(tensor.value_type(), narrow, stored.data(), plain(), out.data());
  });
  return back;
}

TEST(HostConversion, CastsBetweenFullAndNarrowElementsInEveryOrder) {
  std::vector<Format> formats = {plain(), channels_last()};
  for (const ElementType element : {ElementType::kBfloat16, ElementType::kFloat16})
    for (const Format& full : {plain(), channels_last()}) formats.push_back(stored_as(full, element));
  for (const Extents& extents :
       std::vector<Extents>{{}, {7}, {3, 5}, {2, 5, 9}, {1, 1, 5, 7}, {2, 17, 3, 4}, {1, 70, 1, 1}, {2, 4, 3, 5, 7}}) {
    const Tensor in = random_floats(extents);
    const ValueType value = in.value_type();
    for (const Format& from : formats)
      for (const Format& to : formats) {
        // Between two kinds of narrow elements a value goes by f32.
        if (from.narrow() && to.narrow() && from.narrow() != to.narrow()) continue;
        if (!can_have_common_format(value, from) || !can_have_common_format(value, to)) continue;
        expect_converted(in, from, to, rounded(in, from, to));
      }
  }
}

TEST(HostConversion, AProgramForFullElementsTakesNoNarrowPorts) {
  const ValueType value = ValueType::tensor(ElementType::kFloat32, {1, 4, 3, 3});
  const auto artifact = compile_conversion(host_backend(), {.type = value, .to = {.format = channels_last()}}, {});
  ASSERT_TRUE(artifact);
  for (const auto& [from, to] : {std::pair(stored_as(plain(), ElementType::kBfloat16), channels_last()),
                                 std::pair(plain(), stored_as(channels_last(), ElementType::kBfloat16))}) {
    const LoadRequest request{.artifact = *artifact,
                              .constants = {},
                              .inputs = {{"x", value, {.format = from}}},
                              .outputs = {{"x", value, {.format = to}}}};
    EXPECT_FALSE(host_backend().load(request)) << from.name << " to " << to.name;
  }
}

TEST(HostConversion, RefusesNamedFormatsAndRanksWithoutChannels) {
  const ValueType matrix = ValueType::tensor(ElementType::kFloat32, {2, 3});
  EXPECT_FALSE(compile_conversion(host_backend(), {.type = matrix, .to = {.format = channels_last()}}, {}));
  const ValueType image = ValueType::tensor(ElementType::kFloat32, {1, 8, 2, 2});
  EXPECT_FALSE(compile_conversion(host_backend(), {.type = image, .to = {.format = {"onednn:nChw16c"}}}, {}));
}

}  // namespace
}  // namespace collage
