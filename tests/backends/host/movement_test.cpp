// Operators that move elements, in every variant offered, against index formulas written out here.
#include <algorithm>

#include "host_fixture.h"

namespace collage {
namespace {

using Index = std::vector<std::int64_t>;

ValueType type_like(const Tensor& tensor, const Extents& extents) { return ValueType::tensor(tensor.type, extents); }

void expect_all(const HostCase& under_test, const std::vector<Tensor>& expected, std::size_t least_variants = 1) {
  const std::vector<VariantRun> runs = run_all(under_test);
  EXPECT_GE(runs.size(), least_variants);
  for (const VariantRun& run : runs) EXPECT_EQ(run.outputs, expected) << text_of(run.variant);
}

std::vector<std::string> offered(const HostCase& under_test) {
  std::vector<std::string> texts;
  const auto variants = host_support(under_test);
  EXPECT_TRUE(variants);
  if (variants)
    for (const Variant& variant : *variants) texts.push_back(text_of(variant));
  return texts;
}

HostCase transpose_case(const Tensor& in, const Index& perm) {
  HostCase under_test;
  Extents extents;
  for (const std::int64_t axis : perm) extents.push_back(in.extents[static_cast<std::size_t>(axis)]);
  const ValueId x = under_test.input(in);
  under_test.output(under_test.node("Transpose", {x}, {type_like(in, extents)}, {{"perm", perm}})[0]);
  return under_test;
}

TEST(HostTranspose, MovesEveryElementForEveryPermutationTypeAndFormat) {
  const std::vector<Extents> shapes = {{3, 5},         {2, 3, 4},       {1, 3, 9, 7},
                                       {2, 17, 33, 5}, {2, 4, 3, 2, 5}, {1, 2, 16, 16}};
  for (const Extents& extents : shapes) {
    Index perm(extents.size());
    for (std::size_t i = 0; i < perm.size(); ++i) perm[i] = static_cast<std::int64_t>(i);
    do {
      for (const ElementType type :
           {ElementType::kFloat32, ElementType::kInt64, ElementType::kUint8, ElementType::kFloat16}) {
        Tensor in = counting<std::uint8_t>(ElementType::kUint8, {element_count(extents) * bits_of(type) / 8});
        in.type = type;
        in.extents = extents;
        const HostCase under_test = transpose_case(in, perm);
        const Extents out = under_test.graph.value(under_test.graph.outputs[0]).type.extents();
        expect_all(under_test, {rearranged(in, out, [&](const Index& index) {
                     Index from(index.size());
                     for (std::size_t i = 0; i < index.size(); ++i) from[static_cast<std::size_t>(perm[i])] = index[i];
                     return from;
                   })});
      }
    } while (std::next_permutation(perm.begin(), perm.end()) && extents.size() < 5);
  }
}

TEST(HostTranspose, IsAViewBetweenTheFormatsItTranslates) {
  const auto to_last = offered(transpose_case(random_floats({2, 3, 4, 5}), {0, 2, 3, 1}));
  EXPECT_THAT(to_last, testing::UnorderedElementsAre("copy plain->plain", "view channels_last->plain",
                                                     "copy plain->channels_last", "copy channels_last->channels_last"));
  const auto to_first = offered(transpose_case(random_floats({2, 3, 4, 5}), {0, 3, 1, 2}));
  EXPECT_THAT(to_first, testing::Contains("view plain->channels_last"));
  EXPECT_THAT(offered(transpose_case(random_floats({2, 3, 4}), {0, 2, 1})),
              testing::IsSupersetOf({"view plain->channels_last", "view channels_last->plain"}));
  EXPECT_THAT(offered(transpose_case(random_floats({2, 3, 4, 5, 6}), {0, 2, 3, 4, 1})),
              testing::Contains("view channels_last->plain"));
  EXPECT_THAT(offered(transpose_case(random_floats({1, 1, 4, 5}), {1, 2, 0, 3})),
              testing::Contains("view plain->plain"));
  EXPECT_THAT(offered(transpose_case(random_floats({2, 3}), {1, 0})), testing::ElementsAre("copy plain->plain"));
}

HostCase reshape_case(const std::string& op, const Tensor& in, const Extents& to) {
  HostCase under_test;
  const ValueId x = under_test.input(in);
  std::vector<ValueId> inputs = {x};
  if (op == "Reshape") inputs.push_back(under_test.integers(to));
  under_test.output(under_test.node(op, inputs, {type_like(in, to)})[0]);
  return under_test;
}

TEST(HostReshape, KeepsTheRowMajorOrderInEveryFormat) {
  const std::vector<std::pair<Extents, Extents>> shapes = {{{2, 12}, {8, 3}},
                                                           {{2, 3, 4, 5}, {2, 3, 20}},
                                                           {{2, 3, 20}, {2, 3, 4, 5}},
                                                           {{2, 3, 4, 5}, {6, 20}},
                                                           {{1, 6, 4, 4}, {1, 2, 3, 16}},
                                                           {{6, 1, 1, 1}, {6}},
                                                           {{2, 8, 3, 3}, {2, 2, 4, 3, 3}},
                                                           {{}, {1, 1, 1}}};
  for (const auto& [from, to] : shapes) {
    const Tensor in = counting<>(ElementType::kFloat32, from);
    Tensor out = in;
    out.extents = to;
    expect_all(reshape_case("Reshape", in, to), {out});
  }
}

TEST(HostReshape, IsAViewWhereTheBytesStay) {
  const Tensor in = random_floats({2, 3, 4, 5});
  EXPECT_THAT(
      offered(reshape_case("Reshape", in, {2, 3, 20})),
      testing::IsSupersetOf({"view plain->plain", "view channels_last->channels_last", "copy channels_last->plain"}));
  EXPECT_THAT(offered(reshape_case("Reshape", in, {6, 20})),
              testing::UnorderedElementsAre("view plain->plain", "copy channels_last->plain"));
  EXPECT_THAT(offered(reshape_case("Flatten", random_floats({2, 8, 1, 1}), {2, 8})),
              testing::UnorderedElementsAre("view plain->plain", "view channels_last->plain"));
  EXPECT_THAT(offered(reshape_case("Identity", in, {2, 3, 4, 5})),
              testing::IsSupersetOf({"view plain->plain", "view channels_last->channels_last"}));
  // Axes of the one shape cut across those of the other: only the row-major bytes make a view.
  EXPECT_THAT(offered(reshape_case("Reshape", random_floats({1, 4, 3, 5}), {1, 6, 5, 2})),
              testing::ElementsAre("view plain->plain"));
}

TEST(HostReshape, RefusesDropoutInTrainingAndCastsThatChangeTheType) {
  HostCase training;
  const ValueId x = training.input(random_floats({4}));
  const ValueId ratio = training.constant(make_tensor<float>(ElementType::kFloat32, {}, {0.5F}));
  const ValueId flag = training.constant(make_tensor<std::uint8_t>(ElementType::kBool, {}, {1}));
  training.output(training.node("Dropout", {x, ratio, flag}, {ValueType::tensor(ElementType::kFloat32, {4})})[0]);
  const auto refused = host_support(training);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, RefusalReason::kAttribute);
}

TEST(HostConcat, JoinsPartsAlongEveryAxisInBothFormats) {
  for (std::size_t axis = 0; axis < 4; ++axis) {
    HostCase under_test;
    Extents extents = {2, 3, 4, 5};
    std::vector<Tensor> parts;
    std::int64_t sum = 0;
    for (const std::int64_t extent : {1, 16, 3}) {
      extents[axis] = extent;
      sum += extent;
      parts.push_back(random_floats(extents, static_cast<std::uint64_t>(extent)));
    }
    extents[axis] = sum;
    const ValueId first = under_test.input(parts[0]);
    const ValueId second = under_test.constant(parts[1]);
    const ValueId third = under_test.input(parts[2]);
    under_test.output(under_test.node("Concat", {first, second, third, first},
                                      {ValueType::tensor(ElementType::kFloat32,
                                                         [&] {
                                                           Extents all = extents;
                                                           all[axis] += 1;
                                                           return all;
                                                         }())},
                                      {{"axis", static_cast<std::int64_t>(axis) - 4}})[0]);
    Extents all = extents;
    all[axis] += 1;
    Tensor expected{.type = ElementType::kFloat32, .extents = all, .data = {}, .strings = {}};
    std::vector<float> values;
    for_each_index(all, [&](Index index) {
      std::size_t part = 0;
      const std::vector<std::size_t> order = {0, 1, 2, 0};
      while (index[axis] >= parts[order[part]].extents[axis]) index[axis] -= parts[order[part++]].extents[axis];
      const Tensor& from = parts[order[part]];
      values.push_back(from.data.as<float>()[static_cast<std::size_t>(flat(from.extents, index))]);
    });
    expect_all(under_test, {make_tensor(ElementType::kFloat32, all, values)}, 2);
  }
}

TEST(HostSplit, CutsInBothFormatsAndSkipsPartsNobodyReads) {
  const Tensor in = random_floats({2, 7, 3, 4});
  HostCase under_test;
  const ValueId x = under_test.input(in);
  const auto part_type = [](std::int64_t channels) {
    return ValueType::tensor(ElementType::kFloat32, {2, channels, 3, 4});
  };
  const auto outputs = under_test.node("Split", {x, under_test.integers({2, 1, 4})},
                                       {part_type(2), part_type(1), part_type(4)}, {{"axis", std::int64_t{1}}});
  under_test.output(outputs[0]);
  under_test.output(outputs[2]);
  const auto part = [&](std::int64_t first, std::int64_t channels) {
    return rearranged(in, {2, channels, 3, 4}, [first](Index index) {
      index[1] += first;
      return index;
    });
  };
  expect_all(under_test, {part(0, 2), part(3, 4)}, 2);
}

TEST(HostSlice, TakesNegativeBoundsAndSteps) {
  struct Case {
    Index starts, ends, axes, steps;
    Extents out;
    std::vector<std::pair<std::int64_t, std::int64_t>> map;  // per axis: first, step
  };
  const std::vector<Case> cases = {
      {{1, 0}, {3, 5}, {1, 3}, {1, 2}, {2, 2, 4, 3}, {{0, 1}, {1, 1}, {0, 1}, {0, 2}}},
      {{-1}, {-100}, {2}, {-1}, {2, 3, 4, 5}, {{0, 1}, {0, 1}, {3, -1}, {0, 1}}},
      {{100}, {0}, {-1}, {-2}, {2, 3, 4, 2}, {{0, 1}, {0, 1}, {0, 1}, {4, -2}}},
      {{-2, -3}, {9, 9}, {1, 2}, {1, 1}, {2, 2, 3, 5}, {{0, 1}, {1, 1}, {1, 1}, {0, 1}}},
  };
  const Tensor in = random_floats({2, 3, 4, 5});
  for (const Case& c : cases) {
    HostCase under_test;
    const ValueId x = under_test.input(in);
    under_test.output(under_test.node("Slice",
                                      {x, under_test.integers(c.starts), under_test.integers(c.ends),
                                       under_test.integers(c.axes), under_test.integers(c.steps)},
                                      {ValueType::tensor(ElementType::kFloat32, c.out)})[0]);
    expect_all(under_test,
               {rearranged(in, c.out,
                           [&](Index index) {
                             for (std::size_t i = 0; i < 4; ++i) index[i] = c.map[i].first + index[i] * c.map[i].second;
                             return index;
                           })},
               2);
  }
}

TEST(HostSlice, OfAPartThatLiesAtTheStartIsNoView) {
  HostCase under_test;
  const Tensor in = random_floats({1, 6, 4});
  const ValueId x = under_test.input(in);
  under_test.output(under_test.node("Slice",
                                    {x, under_test.integers({0}), under_test.integers({2}), under_test.integers({2})},
                                    {ValueType::tensor(ElementType::kFloat32, {1, 6, 2})})[0]);
  const auto variants = host_support(under_test);
  ASSERT_TRUE(variants);
  for (const Variant& variant : *variants) EXPECT_NE(variant.name, "view") << text_of(variant);
}

/// The name of every variant with the format of its first input, for the node of this name.
std::vector<std::string> variants_at(const std::string& lines, const std::string& name) {
  const auto graph = parse_graph("graph g(%x: f32[1,8,4,4]) -> (%z) {\n  opset ai.onnx 26\n" + lines + "}\n");
  EXPECT_TRUE(graph) << to_string(graph.error());
  NodeSet nodes(graph->nodes.size());
  for (std::size_t n = 0; n < graph->nodes.size(); ++n)
    if (graph->nodes[n].name == name) nodes.insert(n);
  const auto variants = host_backend().support(*graph, make_region(*graph, uses_of(*graph), nodes), {});
  std::vector<std::string> names;
  if (variants)
    for (const Variant& variant : *variants) names.push_back(variant.name + " " + variant.input_formats[0].name);
  return names;
}

TEST(HostConcat, IsAViewWhereItsPartsCanBeWrittenInPlace) {
  const std::string parts = "  %a: f32[1,8,4,4] = Relu(%x) \"a\"\n  %b: f32[1,8,4,4] = Neg(%x) \"b\"\n";
  const std::string reader = "  %z: f32[1,16,4,4] = Relu(%c) \"z\"\n";
  EXPECT_THAT(variants_at(parts + "  %c: f32[1,16,4,4] = Concat(%a, %b) {axis=1} \"c\"\n" + reader, "c"),
              testing::ElementsAre("view plain", "copy channels_last"));
  EXPECT_THAT(variants_at(parts + "  %c: f32[1,16,4,4] = Concat(%a, %x) {axis=1} \"c\"\n" + reader, "c"),
              testing::ElementsAre("copy plain", "copy channels_last"));
}

TEST(HostSplit, IsAViewWhereItsPartsAreRunsOfBytes) {
  const auto split = [](int axis, const std::string& part) {
    return variants_at("  %a: f32[" + part + "], %b: f32[" + part + "] = Split(%x) {axis=" + std::to_string(axis) +
                           ", num_outputs=2} \"s\"\n  %z: f32[" + part + "] = Add(%a, %b) \"z\"\n",
                       "s");
  };
  EXPECT_THAT(split(1, "1,4,4,4"), testing::ElementsAre("view plain", "copy channels_last"));
  EXPECT_THAT(split(2, "1,8,2,4"), testing::ElementsAre("copy plain", "view channels_last"));
  EXPECT_THAT(split(3, "1,8,4,2"), testing::ElementsAre("copy plain", "copy channels_last"));
}

TEST(HostExpand, RepeatsAxesOfOneAndNewAxes) {
  const Tensor in = random_floats({3, 1, 5});
  HostCase under_test;
  const ValueId x = under_test.input(in);
  under_test.output(under_test.node("Expand", {x, under_test.integers({2, 3, 4, 5})},
                                    {ValueType::tensor(ElementType::kFloat32, {2, 3, 4, 5})})[0]);
  expect_all(under_test, {rearranged(in, {2, 3, 4, 5}, [](const Index& i) { return Index{i[1], 0, i[3]}; })});
}

TEST(HostTile, RepeatsWholeTensors) {
  const Tensor in = random_floats({2, 3, 1, 5});
  HostCase under_test;
  const ValueId x = under_test.input(in);
  under_test.output(under_test.node("Tile", {x, under_test.integers({1, 2, 3, 2})},
                                    {ValueType::tensor(ElementType::kFloat32, {2, 6, 3, 10})})[0]);
  expect_all(under_test,
             {rearranged(in, {2, 6, 3, 10},
                         [](const Index& i) {
                           return Index{i[0], i[1] % 3, 0, i[3] % 5};
                         })},
             2);
}

TEST(HostPad, FillsBordersAndCutsWhereNegative) {
  const Tensor in = random_floats({2, 3, 4, 5});
  HostCase under_test;
  const ValueId x = under_test.input(in);
  const ValueId value = under_test.constant(make_tensor<float>(ElementType::kFloat32, {}, {7.5F}));
  const Extents out = {2, 4, 4, 7};  // pads: channels +1 before, rows -1 before and +1 after, columns +1 and +1
  under_test.output(under_test.node("Pad", {x, under_test.integers({0, 1, -1, 1, 0, 0, 1, 1}), value},
                                    {ValueType::tensor(ElementType::kFloat32, out)})[0]);
  std::vector<float> values;
  for_each_index(out, [&](const Index& i) {
    const Index from = {i[0], i[1] - 1, i[2] + 1, i[3] - 1};
    const bool inside = from[1] >= 0 && from[2] < 4 && from[3] >= 0 && from[3] < 5;
    values.push_back(inside ? in.data.as<float>()[static_cast<std::size_t>(flat(in.extents, from))] : 7.5F);
  });
  expect_all(under_test, {make_tensor(ElementType::kFloat32, out, values)}, 2);
}

TEST(HostPad, RefusesReflection) {
  HostCase under_test;
  const ValueId x = under_test.input(random_floats({4}));
  under_test.output(under_test.node("Pad", {x, under_test.integers({1, 1})},
                                    {ValueType::tensor(ElementType::kFloat32, {6})},
                                    {{"mode", std::string("reflect")}})[0]);
  EXPECT_FALSE(host_support(under_test));
}

TEST(HostDepthToSpace, FollowsBothModesAndItsInverse) {
  const Tensor in = random_floats({2, 12, 3, 5});
  for (const std::string mode : {"DCR", "CRD"}) {
    HostCase under_test;
    const ValueId x = under_test.input(in);
    under_test.output(under_test.node("DepthToSpace", {x}, {ValueType::tensor(ElementType::kFloat32, {2, 3, 6, 10})},
                                      {{"blocksize", std::int64_t{2}}, {"mode", mode}})[0]);
    expect_all(
        under_test,
        {rearranged(in, {2, 3, 6, 10},
                    [&](const Index& i) {
                      const std::int64_t block = i[2] % 2 * 2 + i[3] % 2;
                      return Index{i[0], mode == "DCR" ? block * 3 + i[1] : i[1] * 4 + block, i[2] / 2, i[3] / 2};
                    })},
        2);
  }
  const Tensor wide = random_floats({1, 3, 4, 6});
  HostCase inverse;
  const ValueId x = inverse.input(wide);
  inverse.output(inverse.node("SpaceToDepth", {x}, {ValueType::tensor(ElementType::kFloat32, {1, 12, 2, 3})},
                              {{"blocksize", std::int64_t{2}}})[0]);
  expect_all(inverse,
             {rearranged(wide, {1, 12, 2, 3},
                         [](const Index& i) {
                           return Index{0, i[1] % 3, i[2] * 2 + i[1] / 6, i[3] * 2 + i[1] / 3 % 2};
                         })},
             2);
}

TEST(HostResize, RepeatsPixelsForWholeMultiples) {
  const Tensor in = random_floats({1, 5, 3, 4});
  for (const std::int64_t scale : {2, 3, 4}) {
    HostCase under_test;
    const ValueId x = under_test.input(in);
    const ValueId scales = under_test.constant(
        make_tensor<float>(ElementType::kFloat32, {4}, {1, 1, static_cast<float>(scale), static_cast<float>(scale)}));
    const Extents out = {1, 5, 3 * scale, 4 * scale};
    under_test.output(under_test.node("Resize", {x, ValueId{}, scales}, {ValueType::tensor(ElementType::kFloat32, out)},
                                      {{"mode", std::string("nearest")}})[0]);
    expect_all(under_test,
               {rearranged(in, out,
                           [scale](const Index& i) {
                             return Index{0, i[1], i[2] / scale, i[3] / scale};
                           })},
               2);
  }
}

TEST(HostResize, RefusesRoundingThatShiftsPixelsAndOtherModes) {
  const auto resize = [](const std::string& mode, const std::string& nearest) {
    HostCase under_test;
    const ValueId x = under_test.input(random_floats({1, 1, 3, 3}));
    const ValueId scales = under_test.constant(make_tensor<float>(ElementType::kFloat32, {4}, {1, 1, 2, 2}));
    under_test.output(under_test.node(
        "Resize", {x, ValueId{}, scales}, {ValueType::tensor(ElementType::kFloat32, {1, 1, 6, 6})},
        {{"coordinate_transformation_mode", std::string("asymmetric")}, {"mode", mode}, {"nearest_mode", nearest}})[0]);
    return host_support(under_test).has_value();
  };
  EXPECT_TRUE(resize("nearest", "floor"));
  EXPECT_FALSE(resize("nearest", "ceil"));
  EXPECT_FALSE(resize("cubic", "floor"));
}

TEST(HostGather, PicksRowsByConstantAndComputedIndices) {
  const Tensor in = random_floats({3, 5, 2});
  const Index picks = {4, 0, -1, 2, 2, 1};
  for (const bool computed : {false, true}) {
    HostCase under_test;
    const ValueId x = under_test.input(in);
    const Tensor indices = make_tensor(ElementType::kInt64, {2, 3}, picks);
    const ValueId i = computed ? under_test.input(indices) : under_test.constant(indices);
    under_test.output(under_test.node("Gather", {x, i}, {ValueType::tensor(ElementType::kFloat32, {3, 2, 3, 2})},
                                      {{"axis", std::int64_t{1}}})[0]);
    expect_all(under_test, {rearranged(in, {3, 2, 3, 2}, [&](const Index& at) {
                 const std::int64_t pick = picks[static_cast<std::size_t>(at[1] * 3 + at[2])];
                 return Index{at[0], pick < 0 ? pick + 5 : pick, at[3]};
               })});
  }
}

TEST(HostGather, ReportsAnIndexOutsideTheAxis) {
  HostCase under_test;
  const ValueId x = under_test.constant(random_floats({3, 2}));
  const ValueId i = under_test.input(make_tensor<std::int32_t>(ElementType::kInt32, {2}, {1, 3}));
  under_test.output(under_test.node("Gather", {x, i}, {ValueType::tensor(ElementType::kFloat32, {2, 2})})[0]);
  const test::VariantRunner runner = runner_of(under_test);
  const auto variants = runner.offered();
  ASSERT_TRUE(variants);
  const auto artifact = runner.compile(variants->front());
  ASSERT_TRUE(artifact);
  const LoadRequest request = test::request_of(under_test.graph, variants->front(), *artifact);
  const auto kernel = host_backend().load(request);
  ASSERT_TRUE(kernel);
  auto bound = test::BoundKernel::create(**kernel, request, runner.inputs(), test::converter());
  ASSERT_TRUE(bound);
  const auto done = bound->run();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, "host/bad-index");
  EXPECT_EQ(done.error().saw, "index 3");
}

TEST(HostArtifact, IsRefusedWhenDamagedForeignOrTooLargeForItsPorts) {
  const ValueType value = ValueType::tensor(ElementType::kFloat32, {1, 4, 3, 3});
  auto artifact = compile_conversion(host_backend(), {.type = value, .to = {.format = channels_last()}}, {});
  ASSERT_TRUE(artifact);
  LoadRequest request{.artifact = *artifact,
                      .constants = {},
                      .inputs = {{"x", value}},
                      .outputs = {{"x", value, {.format = channels_last()}}}};
  LoadRequest smaller = request;
  smaller.outputs[0].type = ValueType::tensor(ElementType::kFloat32, {1, 4, 3, 2});
  EXPECT_EQ(host_backend().load(smaller).error().code, "backend/bad-artifact");
  for (std::size_t cut = 0; cut < artifact->bytes.size(); cut += 7) {
    Artifact damaged = *artifact;
    damaged.bytes.resize(cut);
    request.artifact = damaged;
    EXPECT_EQ(host_backend().load(request).error().code, "backend/bad-artifact");
  }
  Artifact foreign = *artifact;
  foreign.compatibility = "host/0";
  request.artifact = foreign;
  EXPECT_EQ(host_backend().load(request).error().code, "backend/bad-artifact");
}

/// Artifacts come with plan files of others: products of what they say may not wrap into the ports.
TEST(HostArtifact, IsRefusedWhenItsNumbersWrapOrItsPortsAreNone) {
  const ValueType value = ValueType::tensor(ElementType::kFloat32, {2, 6});
  const ValueType indices = ValueType::tensor(ElementType::kInt64, {2});
  const std::string compatibility =
      compile_conversion(
          host_backend(),
          {.type = ValueType::tensor(ElementType::kFloat32, {1, 4, 3, 3}), .to = {.format = channels_last()}}, {})
          ->compatibility;
  const auto code_of = [&](const std::string& bytes) {
    const Artifact artifact{.bytes = bytes, .compatibility = compatibility};
    const LoadRequest request{
        .artifact = artifact, .constants = {}, .inputs = {{"x", value}, {"i", indices}}, .outputs = {{"y", value}}};
    const auto kernel = host_backend().load(request);
    return kernel ? "" : kernel.error().code;
  };
  const auto copy = [](const std::string& block) {
    return R"({"family":"movement","program":{"element_bytes":4,"blocks":[)" + block + "]}}";
  };
  EXPECT_EQ(code_of(copy(R"({"axes":[[2,6,6],[6,1,1]],"from":0,"input":0,"output":0,"to":0})")), "");
  for (const char* block : {R"({"axes":[[2,6,6],[6,1,9223372036854775807]],"from":0,"input":0,"output":0,"to":0})",
                            R"({"axes":[[9223372036854775807,0,1]],"fill":[0,0,0,0],"output":0,"to":0})",
                            R"({"axes":[[2,-2147483648,6]],"fill":[0,0,0,0],"output":0,"to":0})",
                            R"({"axes":[[2,6,6],[6,1,1]],"from":0,"input":0,"output":0,"to":9223372036854775807})",
                            R"({"axes":[[0,6,6]],"from":0,"input":0,"output":1,"to":0})",
                            R"({"axes":[[0,6,6]],"from":0,"input":4294967295,"output":0,"to":0})"})
    EXPECT_EQ(code_of(copy(block)), "backend/bad-artifact") << block;
  const auto gather = [](const std::string& data, const std::string& row_bytes) {
    return R"({"family":"gather","program":{"outer":1,"extent":2,"indices":2,"index":1,"wide":true,"data":)" + data +
           R"(,"row_bytes":)" + row_bytes + "}}";
  };
  EXPECT_EQ(code_of(gather("0", "24")), "");
  EXPECT_EQ(code_of(gather("256", "0")), "backend/bad-artifact");
  const auto reduce = [](const std::string& length) {
    return R"({"family":"reduce","program":{"outer":2,"inner":6,"input":0,"operator":"ReduceSum","length":)" + length +
           "}}";
  };
  EXPECT_EQ(code_of(reduce("1")), "");
  EXPECT_EQ(code_of(reduce("4611686018427387905")), "backend/bad-artifact") << "2^62 + 1: the product wraps to 12";
}

}  // namespace
}  // namespace collage
