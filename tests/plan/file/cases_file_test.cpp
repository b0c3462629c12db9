#include "plan/file/cases_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "base/json_numbers.h"
#include "onnx/import.h"
#include "plan/file/plan_file.h"
#include "plan/file/zip.h"
#include "tests/plan/plan_fixture.h"
#include "tests/support/dice.h"
#include "tests/support/flipped_file.h"
#include "tests/support/shape_cases.h"
#include "tests/support/whole_file.h"

namespace collage {
namespace {

PlanCases shared_cases(const std::vector<std::int64_t>& points = {2, 8}, bool has_generic = true) {
  PlanCases cases = test::rows_cases(points, has_generic);
  cases.generic_engine = "rows";
  EXPECT_TRUE(share_weights(cases, relocate_external_data));
  if (cases.generic) cases.generic->plan = with_checksums(*cases.generic);
  for (PlanCase& one : cases.cases) one.plan.plan = with_checksums(one.plan);
  return cases;
}

TEST(CasesFile, ReadsBackWhatItSaves) {
  const Folder folder;
  for (const bool has_generic : {true, false}) {
    const PlanCases cases = shared_cases({2, 8}, has_generic);
    const auto saved = save_cases(cases, folder.file("x.collage"));
    ASSERT_TRUE(saved) << to_string(saved.error());
    const auto loaded = load_cases(folder.file("x.collage"));
    ASSERT_TRUE(loaded) << to_string(loaded.error());
    EXPECT_EQ(*loaded, cases);
  }
}

TEST(CasesFile, HasTheDocumentedIndex) {
  EXPECT_EQ(to_json(shared_cases()), R"({
 "cases": [
  {
   "extents": {
    "n": 2
   },
   "generic_us": 20.0,
   "measured_us": 10.0,
   "plan": "cases/0.json",
   "weight": 1.0
  },
  {
   "extents": {
    "n": 8
   },
   "generic_us": 20.0,
   "measured_us": 10.0,
   "plan": "cases/1.json",
   "weight": 1.0
  }
 ],
 "domain": [
  {
   "high": 16,
   "low": 1,
   "name": "n"
  }
 ],
 "generic": true,
 "generic_engine": "rows",
 "generic_times_us": {},
 "inputs": [
  {
   "name": "x",
   "shape": [
    "n",
    4
   ],
   "type": "f32"
  }
 ],
 "model": {
  "hash": "abc",
  "path": "rows.onnx"
 },
 "schema": "collage.cases/1"
}
)");
}

TEST(CasesFile, HoldsEqualWeightsOnce) {
  const Folder folder;
  ASSERT_TRUE(save_cases(shared_cases({2}), folder.file("one.collage")));
  ASSERT_TRUE(save_cases(shared_cases({2, 3, 4, 5, 6, 7, 8}), folder.file("seven.collage")));
  const auto weights = [](const std::string& path) {
    const auto members = read_zip(Buffer::map_file(path).value(), path).value();
    for (const ZipMember& member : members)
      if (member.name == "weights.bin") return member.data.size();
    return std::size_t{0};
  };
  EXPECT_EQ(weights(folder.file("one.collage")), 4096U);
  EXPECT_EQ(weights(folder.file("seven.collage")), 4096U);
}

TEST(CasesFile, MovesWhatGraphsReadWithTheWeights) {
  PlanCases cases = test::rows_cases({2, 8}, true);
  // Another weight of the same size in one case: it lies behind the shared one.
  std::vector<float> other(1024, 7);
  cases.cases[1].plan.constants.begin()->second = make_tensor<float>(ElementType::kFloat32, {256, 4}, other);
  ASSERT_TRUE(share_weights(cases, relocate_external_data));
  const Folder folder;
  ASSERT_TRUE(save_cases(cases, folder.file("x.collage")));
  const auto file = Buffer::map_file(folder.file("x.collage")).value();
  const auto list = read_zip(file, "x").value();
  std::map<std::string, Buffer> members;
  for (const ZipMember& member : list) members[member.name] = member.data;
  EXPECT_EQ(members["weights.bin"].size(), 8192U);
  std::ofstream(folder.file("weights.bin"), std::ios::binary) << members["weights.bin"].text();
  const auto first_weight = [&](const std::string& member) {
    const auto graph = read_graph(std::string(members[member].text()), folder.path());
    EXPECT_TRUE(graph) << to_string(graph.error());
    for (const Value& value : graph->values)
      if (value.constant) return value.constant->data.as<float>()[0];
    return -1.0F;
  };
  EXPECT_EQ(first_weight("cases/0.onnx"), 1);
  EXPECT_EQ(first_weight("cases/1.onnx"), 7);
  EXPECT_EQ(first_weight("plan.onnx"), 1);
}

TEST(CasesFile, ReadsAPlanOfFixedShapesAsItsOnlyCase) {
  const Folder folder;
  RealisedPlan plan = rich_sketch().realise().value();
  plan.plan = with_checksums(plan);
  ASSERT_TRUE(save_plan(plan, folder.file("x.collage")));
  const auto loaded = load_cases(folder.file("x.collage"));
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_TRUE(loaded->domain.dimensions.empty());
  ASSERT_EQ(loaded->cases.size(), 1U);
  EXPECT_EQ(loaded->cases[0].plan, plan);
  EXPECT_EQ(plan_for(*loaded, {}).value(), &loaded->cases[0].plan);
}

TEST(CasesFile, IsRefusedWhereAPlanOfFixedShapesIsWanted) {
  const Folder folder;
  ASSERT_TRUE(save_cases(shared_cases(), folder.file("x.collage")));
  const auto loaded = load_plan(folder.file("x.collage"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, "plan/wrong-version");
  EXPECT_THAT(loaded.error().saw, testing::HasSubstr("collage.cases/1"));
}

TEST(PlanCases, RefuseWhatSessionsCouldNotRelyOn) {
  const auto broken = [](auto change) {
    PlanCases cases = shared_cases();
    change(cases);
    const auto checked = verify(cases);
    EXPECT_TRUE(checked || checked.error().code == "plan/damaged");
    return !checked;
  };
  EXPECT_FALSE(broken([](PlanCases&) {}));
  EXPECT_TRUE(broken([](PlanCases& cases) { std::swap(cases.cases[0].point, cases.cases[1].point); }));
  EXPECT_TRUE(broken([](PlanCases& cases) { std::swap(cases.cases[0], cases.cases[1]); })) << "out of order";
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[0].point = {8}; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[1].point = {9}; })) << "the plan is for another point";
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[0].point = {}; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.domain.dimensions[0].high = 7; })) << "a case outside";
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.domain.dimensions[0].low = 17; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.domain.dimensions[0].name = "m"; })) << "no input tells it";
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.domain.dimensions.push_back(cases.domain.dimensions[0]); }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.inputs[0].name = "z"; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.inputs.clear(); }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[0].plan.plan.model_hash = "other"; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[0].plan.plan.threads = 2; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[0].weight = 0; }));
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.generic = cases.cases[0].plan; })) << "its inputs are not open";
  EXPECT_TRUE(broken([](PlanCases& cases) { cases.cases[0].plan = *cases.generic; })) << "its inputs are open";
  EXPECT_TRUE(broken([](PlanCases& cases) {
    cases.cases.clear();
    cases.generic.reset();
  }));
}

TEST(PlanCases, FindThePlanOfAPoint) {
  const PlanCases cases = shared_cases();
  EXPECT_EQ(plan_for(cases, {2}).value(), &cases.cases[0].plan);
  EXPECT_EQ(plan_for(cases, {8}).value(), &cases.cases[1].plan);
  EXPECT_EQ(plan_for(cases, {3}).value(), &*cases.generic);
  EXPECT_EQ(plan_for(cases, {17}).error().code, "shape/outside");
  const PlanCases closed = shared_cases({2, 8}, false);
  EXPECT_EQ(plan_for(closed, {3}).error().code, "shape/no-case");
}

TEST(CasesFile, RefusesEveryPrefixAndGivesThePlansOrAnErrorForFlippedBytes) {
  const Folder folder;
  const PlanCases cases = shared_cases();
  ASSERT_TRUE(save_cases(cases, folder.file("x.collage")));
  const std::string whole = test::read_all(folder.file("x.collage"));
  for (std::size_t size = 0; size < whole.size(); size += size < 100 || size + 200 > whole.size() ? 1 : 997) {
    std::ofstream(folder.file("cut.collage"), std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(load_cases(folder.file("cut.collage"))) << size;
  }
  FlippedFile file(folder.file("x.collage"));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    file.flip(at, 0x55);
    const auto loaded = load_cases(folder.file("x.collage"));
    if (!loaded) ++refused;
    if (loaded) {
      ASSERT_EQ(*loaded, cases) << at;
    }
    file.flip(at, 0x55);
  }
  EXPECT_GT(refused, 1000U);
}

/// The file again with another text for one member.
void rewrite(const std::string& from, const std::string& member, const std::string& text, const std::string& to) {
  const auto members = read_zip(Buffer::map_file(from).value(), from).value();
  std::vector<ZipSource> sources;
  for (const ZipMember& one : members) {
    sources.push_back({.name = one.name, .parts = {one.data.bytes()}, .alignment = 64});
    if (one.name == member) sources.back().parts = {std::as_bytes(std::span(text))};
  }
  const int descriptor = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  EXPECT_TRUE(write_zip(descriptor, sources, to));
  ::close(descriptor);
}

TEST(CasesFile, NeverCrashesOnStrangeIndices) {
  const Folder folder;
  const std::string path = folder.file("x.collage");
  const PlanCases cases = shared_cases();
  ASSERT_TRUE(save_cases(cases, path));
  const nlohmann::json whole = nlohmann::json::parse(to_json(cases));
  const nlohmann::json flat = whole.flatten();
  const std::vector<nlohmann::json> strange = {
      nullptr, -1, 1e300, "text", nlohmann::json::array(), nlohmann::json::object(), 18446744073709551615ULL, true, 7};
  for (const auto& [key, value] : flat.items()) {
    for (const nlohmann::json& replacement : strange) {
      nlohmann::json object = whole;
      object[nlohmann::json::json_pointer(key)] = replacement;
      rewrite(path, "plan.json", object.dump(), folder.file("strange.collage"));
      const auto loaded = load_cases(folder.file("strange.collage"));
      if (!loaded) {
        EXPECT_THAT(loaded.error().code, testing::AnyOf("plan/damaged", "plan/wrong-version")) << key;
      }
    }
  }
  rewrite(path, "cases/0.json", "{}", folder.file("strange.collage"));
  EXPECT_EQ(load_cases(folder.file("strange.collage")).error().code, "plan/damaged");
}

}  // namespace
}  // namespace collage
