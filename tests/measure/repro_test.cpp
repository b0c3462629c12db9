// Failures become bundles, bundles replay the failures, and few of them are kept.
#include "tests/measure/repro_fixture.h"

#include <fstream>

#include "tests/support/schema_check.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

class Repro : public ::testing::Test, protected test::ReproLab {
 protected:
  void TearDown() override { ::unsetenv("COLLAGE_TEST_ARMED"); }
};

struct Failure {
  const char* fault;
  RefusalReason reason;
  const char* stage;
};

class ReproOfFailure : public Repro, public ::testing::WithParamInterface<Failure> {};

TEST_P(ReproOfFailure, ReplaysItAndPassesWhenTheFaultIsGone) {
  const auto [fault, reason, stage] = GetParam();
  const std::string backend = std::string("test:fault=") + fault;
  const std::string path = bundle_of(backend);
  ASSERT_NE(path, "");
  EXPECT_EQ(keeper.kept()[0].backend, backend);
  EXPECT_EQ(keeper.kept()[0].stage, stage);
  const ReplayReport again = replay(path);
  EXPECT_FALSE(again.passes);
  ASSERT_EQ(again.replays.size(), 1U);
  EXPECT_EQ(again.replays[0].verdict, ReplayVerdict::kSame) << to_text(again);
  EXPECT_EQ(again.replays[0].refusal->reason, reason);
  EXPECT_EQ(again.replays[0].stage, stage);
  // Another instance is right.
  const ReplayReport other = replay(path, {"test"});
  EXPECT_TRUE(other.passes) << to_text(other);
  // And so is this one once its fault is gone.
  ::setenv("COLLAGE_TEST_ARMED", folder.file("absent").c_str(), 1);
  const ReplayReport repaired = replay(path);
  EXPECT_TRUE(repaired.passes) << to_text(repaired);
  EXPECT_TRUE(repaired.replays[0].measured);
}

INSTANTIATE_TEST_SUITE_P(Faults, ReproOfFailure,
                         ::testing::Values(Failure{"compile-crash", RefusalReason::kCrashed, "compile"},
                                           Failure{"compile-throw", RefusalReason::kCompile, "compile"},
                                           Failure{"load-crash", RefusalReason::kCrashed, "load"},
                                           Failure{"run-crash", RefusalReason::kCrashed, "verify"},
                                           Failure{"run-late-crash", RefusalReason::kCrashed, "sample"},
                                           Failure{"run-hang", RefusalReason::kTimeout, "verify"},
                                           Failure{"run-kill", RefusalReason::kResources, "verify"},
                                           Failure{"run-throw", RefusalReason::kCompile, "verify"},
                                           Failure{"run-wrong", RefusalReason::kWrongResult, "verify"},
                                           Failure{"unload-crash", RefusalReason::kCrashed, "unload"}),
                         [](const auto& tested) {
                           std::string name = tested.param.fault;
                           std::erase(name, '-');
                           return name;
                         });

TEST_F(Repro, FolderHoldsWhatIsPromised) {
  const std::string path = bundle_of("test:fault=run-wrong");
  for (const char* name : {"region.onnx", "input_0.npy", "output_0.npy", "repro.json", "README.txt"})
    EXPECT_TRUE(std::filesystem::is_regular_file(path + "/" + name)) << name;
  std::ifstream file(path + "/repro.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const auto schema = test::published_schema("repro.schema.json");
  EXPECT_EQ(test::SchemaCheck(schema).problem(json), "");
  EXPECT_NE(json["command"].get<std::string>().find(path), std::string::npos);
  const auto bundle = read_bundle(path);
  ASSERT_TRUE(bundle) << to_string(bundle.error());
  EXPECT_EQ(bundle->graph, extract(graph, test::region_of(graph, {1, 2})));
  EXPECT_EQ(bundle->refusal, keeper.kept()[0].refusal);
  EXPECT_EQ(bundle->version, "1");
}

TEST_F(Repro, FailingConversionHasOneToo) {
  Pricer pricer(watched(), registry, store);
  const ConversionRequest request{
      .conversion = {.type = test::f32_type({4, 8}), .from = {}, .to = {.format = {"test:reversed"}}},
      .backends = {"test:fault=run-wrong"}};
  ASSERT_TRUE(pricer.price(std::vector{request}));
  ASSERT_EQ(keeper.kept().size(), 1U);
  const ReplayReport again = replay(keeper.kept()[0].folder);
  EXPECT_EQ(again.replays.at(0).verdict, ReplayVerdict::kSame) << to_text(again);
  EXPECT_TRUE(replay(keeper.kept()[0].folder, {"test"}).passes);
}

TEST_F(Repro, ArraysOfAnyTypeComeBack) {
  Graph small = test::empty_graph();
  std::vector<Tensor> tensors;
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBfloat16, ElementType::kInt4, ElementType::kBool,
                                 ElementType::kInt64, ElementType::kFloat8E5M2, ElementType::kComplex64}) {
    Tensor tensor{.type = type, .extents = {2, 3}, .data = {}, .strings = {}};
    tensor.data = Buffer::make(byte_count(type, tensor.extents), [](std::span<std::byte> bytes) {
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 2);
    });
    const ValueId in = add_value(small, "x" + std::string(name_of(type)), tensor.value_type());
    small.inputs.push_back(in);
    small.outputs.push_back(test::add_op(small, "Identity", {in}, "y" + std::string(name_of(type))));
    tensors.push_back(std::move(tensor));
  }
  ReproBundle bundle{.backend = "test", .graph = small, .inputs = tensors, .expected = tensors};
  bundle.variant = {.name = "default",
                    .input_formats = std::vector<Format>(tensors.size()),
                    .output_formats = std::vector<Format>(tensors.size())};
  ASSERT_TRUE(write_bundle(folder.path().string(), "here", bundle));
  const auto back = read_bundle(folder.path().string());
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(back->inputs, tensors);
  EXPECT_EQ(back->expected, tensors);
  EXPECT_EQ(back->graph, small);
}

TEST_F(Repro, RefusalIsNoFailure) {
  Pricer pricer(watched(), registry, store);
  auto asked = request({0}, {"test", "absent"});
  asked.candidates.push_back({.backend = "test", .variant = {.name = "default", .input_formats = {}}});
  (void)price(pricer, {asked});
  EXPECT_EQ(pricer.counts().refused, 1U);
  EXPECT_TRUE(keeper.kept().empty());
  EXPECT_FALSE(std::filesystem::exists(repros));
}

TEST_F(Repro, OneForEachBuildStructureAndReason) {
  const std::string wrong = "test:fault=run-wrong";
  const std::string crash = "test:fault=compile-crash";
  Pricer pricer(watched(), registry, store);
  PriceRequest reversed = request({0}, {wrong});
  reversed.candidates.push_back(
      {.backend = wrong,
       .variant = {.name = "reversed", .input_formats = {{"test:reversed"}}, .output_formats = {{"test:reversed"}}}});
  // The first three are one structure with one reason; the others differ in reason, structure, build.
  (void)price(pricer, {reversed, request({1}, {wrong}), request({0}, {crash}), request({2}, {wrong}),
                       request({0}, {"test:build=b,fault=run-wrong"})});
  EXPECT_EQ(keeper.kept().size(), 4U);
  EXPECT_EQ(bundles().size(), 4U);
}

TEST_F(Repro, LaterTuneNamesTheBundleThatIsThere) {
  const std::string path = bundle_of("test:fault=run-wrong");
  const auto written = std::filesystem::last_write_time(path + "/repro.json");
  ReproKeeper second(repros);
  PricerOptions options = watched();
  options.repros = &second;
  Store forgetful = std::move(*Store::open("memory:"));
  Pricer pricer(options, registry, forgetful);
  (void)price(pricer, {request({1, 2}, {"test:fault=run-wrong"})});
  ASSERT_EQ(second.kept().size(), 1U);
  EXPECT_EQ(second.kept()[0].folder, path);
  EXPECT_EQ(std::filesystem::last_write_time(path + "/repro.json"), written);
}

TEST_F(Repro, TuneWritesSoMany) {
  ReproKeeper few(repros, {.most_per_tune = 2});
  PricerOptions options = watched();
  options.repros = &few;
  Pricer pricer(options, registry, store);
  const std::string wrong = "test:fault=run-wrong";
  (void)price(pricer, {request({1}, {wrong}), request({2}, {wrong}), request({0, 1}, {wrong})});
  ASSERT_EQ(few.kept().size(), 3U);
  EXPECT_EQ(few.kept()[1].note, "");
  EXPECT_EQ(few.kept()[2].note, "2 bundles were written already");
  EXPECT_EQ(few.kept()[2].folder, "");
  EXPECT_EQ(bundles().size(), 2U);
}

TEST_F(Repro, LargeOnesAreNotWritten) {
  // Two arrays of 2400 bytes, and a constant of as many.
  ReproKeeper small(repros, {.most_bytes = 5000});
  PricerOptions options = watched();
  options.repros = &small;
  Pricer pricer(options, registry, store);
  (void)price(pricer, {request({2}, {"test:fault=run-wrong"})});
  (void)price(pricer, {request({1}, {"test:fault=run-wrong"})});
  ASSERT_EQ(small.kept().size(), 2U);
  EXPECT_NE(small.kept()[0].note.find("repro/too-large"), std::string::npos);
  EXPECT_NE(small.kept()[0].note.find("7200 bytes"), std::string::npos);
  EXPECT_EQ(small.kept()[1].note, "");
  EXPECT_EQ(bundles().size(), 1U);
}

TEST_F(Repro, PlaceThatCannotBeWrittenIsANoteAndPricingGoesOn) {
  std::ofstream(repros) << "a file where the folder should be";
  Pricer pricer(watched(), registry, store);
  const auto priced = price(pricer, {request({0}, {"test", "test:fault=run-wrong"})});
  EXPECT_TRUE(is_measured(priced[0][0]));
  ASSERT_EQ(keeper.kept().size(), 1U);
  EXPECT_EQ(keeper.kept()[0].folder, "");
  EXPECT_NE(keeper.kept()[0].note, "");
}

TEST_F(Repro, OldOnesGo) {
  const auto make = [&](const std::string& name, std::chrono::hours age, const char* inside) {
    std::filesystem::create_directories(repros + "/" + name);
    std::ofstream(repros + "/" + name + "/" + inside) << "{}";
    std::filesystem::last_write_time(repros + "/" + name, std::filesystem::file_time_type::clock::now() - age);
  };
  make("old", std::chrono::hours(24 * 40), "repro.json");
  make("older", std::chrono::hours(24 * 20), "repro.json");
  make("newer", std::chrono::hours(2), "repro.json");
  make("newest", std::chrono::hours(1), "repro.json");
  make(".half-abcdef", std::chrono::hours(3), "region.onnx");
  make("somebody's photographs", std::chrono::hours(24 * 400), "me.jpg");
  EXPECT_EQ(prune_repros(repros, {.most_kept = 2}), 3U);
  std::vector<std::string> left = bundles();
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"newer", "newest", "somebody's photographs"}));
}

}  // namespace
}  // namespace collage
