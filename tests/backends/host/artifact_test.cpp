// Programs that do not fit their ports, as a plan file of others may hold them: refused before anything runs.
#include "host_fixture.h"

namespace collage {
namespace {

ValueType floats(const Extents& extents) { return ValueType::tensor(ElementType::kFloat32, extents); }
ValueType whole_bytes(const Extents& extents) { return ValueType::tensor(ElementType::kUint8, extents); }

struct Ports {
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<Tensor> constants = {};
};

/// "" where the program is taken.
std::string load_program(const std::string& family, const std::string& program, const Ports& ports) {
  const ValueType image = floats({1, 4, 3, 3});
  const auto other = compile_conversion(host_backend(), {.type = image, .to = {.format = channels_last()}}, {});
  const Artifact artifact{.bytes = R"({"family":")" + family + R"(","program":)" + program + "}",
                          .compatibility = other->compatibility};
  const LoadRequest request{
      .artifact = artifact, .constants = ports.constants, .inputs = ports.inputs, .outputs = ports.outputs};
  const auto kernel = host_backend().load(request);
  return kernel ? "" : kernel.error().code;
}

constexpr const char* kBad = "backend/bad-artifact";

TEST(HostArtifact, OfSoftmaxNeedsFloatsAsManyAsItReadsAndWrites) {
  const std::string program = R"({"outer":2,"length":6,"inner":1,"logarithmic":false})";
  const Port x{"x", floats({2, 6})};
  EXPECT_EQ(load_program("softmax", program, {{x}, {{"y", floats({2, 6})}}}), "");
  EXPECT_EQ(load_program("softmax", program, {{{"x", floats({1})}}, {{"y", floats({2, 6})}}}), kBad);
  EXPECT_EQ(load_program("softmax", program, {{{"x", whole_bytes({2, 6})}}, {{"y", floats({2, 6})}}}), kBad);
  EXPECT_EQ(load_program("softmax", program, {{x}, {{"y", whole_bytes({2, 6})}}}), kBad);
}

TEST(HostArtifact, OfReductionNormalisationAndResizeNeedsFloats) {
  const std::string reduce = R"({"outer":2,"inner":1,"input":0,"operator":"ReduceSum","length":6})";
  EXPECT_EQ(load_program("reduce", reduce, {{{"x", floats({2, 6})}}, {{"y", floats({2})}}}), "");
  EXPECT_EQ(load_program("reduce", reduce, {{{"x", whole_bytes({2, 6})}}, {{"y", floats({2})}}}), kBad);
  EXPECT_EQ(load_program("reduce", reduce, {{{"x", floats({2, 6})}}, {{"y", whole_bytes({2})}}}), kBad);
  const std::string normalise = R"({"outer":2,"length":6,"layer":true,"epsilon":0.1,"input":0,"scale":1,"bias":-1})";
  const Port x{"x", floats({2, 6})};
  const Port y{"y", floats({2, 6})};
  const Tensor scale = counting(ElementType::kFloat32, {6});
  Tensor cut = scale;
  cut.data = cut.data.slice(0, 8);
  EXPECT_EQ(load_program("normalise", normalise, {{x}, {y}, {scale}}), "");
  EXPECT_EQ(load_program("normalise", normalise, {{x}, {y}, {cut}}), kBad) << "fewer bytes than its extents say";
  EXPECT_EQ(load_program("normalise", normalise, {{x}, {y}, {counting<std::uint8_t>(ElementType::kUint8, {6})}}), kBad);
  EXPECT_EQ(load_program("normalise", normalise, {{x}, {{"y", whole_bytes({2, 6})}}, {scale}}), kBad);
}

TEST(HostArtifact, NeedsPortsOfKnownSize) {
  const std::string program = R"({"outer":1,"length":1,"inner":1,"logarithmic":false})";
  ValueType any_rank = floats({});
  any_rank.shape.reset();
  EXPECT_EQ(load_program("softmax", program, {{{"x", floats({1})}}, {{"y", floats({1})}}}), "");
  EXPECT_EQ(load_program("softmax", program, {{{"x", floats({1})}}, {{"y", any_rank}}}), kBad);
  EXPECT_EQ(load_program("softmax", program, {{{"x", floats({1})}}, {{"y", floats({1}), {.format = {"unheard_of"}}}}}),
            kBad);
}

TEST(HostArtifact, OfACopyMovesWholeElementsAndEachOfTheOutputOnce) {
  const auto copy = [](const std::string& bytes, const std::string& axes, const std::string& fill) {
    return R"({"element_bytes":)" + bytes + R"(,"blocks":[{"axes":)" + axes + R"(,"fill":[)" + fill +
           R"(],"output":0,"to":0}]})";
  };
  const auto code_of = [&](const std::string& program) {
    return load_program("movement", program, {{}, {{"y", whole_bytes({3000})}}});
  };
  EXPECT_EQ(code_of(copy("1", "[[3000,0,1]]", "7")), "");
  EXPECT_EQ(code_of(copy("3", "[[1000,0,1]]", "7,7,7")), kBad);
  EXPECT_EQ(code_of(copy("1", "[[72057594037927936,0,0]]", "7")), kBad) << "for ever";
  std::string many = "[2,0,0]";
  for (int i = 0; i < 100; ++i) many += ",[1,0,0]";
  EXPECT_EQ(code_of(copy("1", "[" + many + "]", "7")), kBad) << "too deep";
}

TEST(HostArtifact, OfAChainHasElementsThatATileHoldsAndAnOutput) {
  const auto chain = [](const std::string& count, const std::string& operand, const std::string& outputs) {
    return R"({"count":)" + count + R"(,"operands":[{"source":0,"type":1,"run":1,"period":)" + count +
           R"(,"axes":[]},)" + operand +
           R"(],"instructions":[{"operation":"Relu","from":1,"to":1,"in":[0],"params":[]}],"outputs":[)" + outputs +
           "]}";
  };
  const ValueType complex = ValueType::tensor(ElementType::kComplex128, {2048});
  const auto code_of = [&](const std::string& program, std::int64_t count) {
    return load_program("elementwise", program, {{{"x", floats({count})}, {"z", complex}}, {{"y", floats({count})}}});
  };
  const std::string same = R"({"source":0,"type":1,"run":1,"period":1,"axes":[]})";
  EXPECT_EQ(code_of(chain("2048", same, "2"), 2048), "");
  EXPECT_EQ(code_of(chain("2048", R"({"source":1,"type":15,"run":1,"period":1,"axes":[[2048,1]]})", "2"), 2048), kBad);
  EXPECT_EQ(code_of(chain("0", R"({"source":0,"type":1,"run":1,"period":-1,"axes":[]})", "2"), 0), kBad);
  EXPECT_EQ(load_program("elementwise", chain("2048", same, ""), {{{"x", floats({2048})}}, {}}), kBad);
}

}  // namespace
}  // namespace collage
