#include "store/find_costs.h"

#include <gmock/gmock.h>

#include "measure/roofline.h"
#include "store/keys.h"
#include "tests/measure/pricing_fixture.h"
#include "timing/machine.h"

namespace collage {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FindCosts : public ::testing::Test, protected test::PricingLab {
 protected:
  /// Prices single nodes and a pair of the chain for a model of this name.
  void price_for(const std::string& model) {
    PricerOptions named = options();
    named.graph.model = model;
    Pricer pricer(named, registry, store);
    (void)price(pricer,
                {request({0}, {"test", "test:fault=run-wrong"}), request({1}, {"test"}), request({0, 1}, {"test"})});
  }
  std::vector<FoundCost> found(const CostFilter& filter) { return find_costs(store, filter); }
};

TEST_F(FindCosts, ByOperatorBackendNodeAndModel) {
  price_for("cat.onnx");
  const std::string op = graph.nodes[0].op_type;
  const std::string node = graph.nodes[0].name;
  const std::size_t all = found({}).size();
  EXPECT_EQ(all, store.counts().costs);
  EXPECT_EQ(found({.text = op}).size(), all);
  EXPECT_EQ(found({.operator_name = op}).size(), all);
  EXPECT_EQ(found({.backend = "test"}).size(), all) << "a kind means all its instances";
  EXPECT_EQ(found({.backend = "test:fault=run-wrong"}).size(), 1U);
  EXPECT_EQ(found({.node = node}).size(), all) << "all of them have it in a place of their structure";
  EXPECT_EQ(found({.text = "cat.onnx", .backend = "test:fault=run-wrong"}).size(), 1U);
  EXPECT_THAT(found({.operator_name = "Con"}), IsEmpty());
  EXPECT_THAT(found({.node = "nobody*"}), IsEmpty());
}

TEST_F(FindCosts, TheFirstPlaceDescribesARegionAndEqualPlacesAddTheirNodes) {
  price_for("cat.onnx");
  price_for("dog.onnx");
  const auto single = store.region(region_key(structure_key(graph, test::region_of(graph, {0}))));
  ASSERT_TRUE(single);
  const auto facts = parse_facts(*single);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->model, "cat.onnx");
  EXPECT_EQ(facts->node_count, 1U);
  EXPECT_THAT(facts->inputs, ElementsAre("f32[2,300]"));
  EXPECT_THAT(facts->outputs, ElementsAre("f32[2,300]"));
  EXPECT_THAT(facts->nodes, ElementsAre(graph.nodes[0].name, graph.nodes[1].name));
}

TEST_F(FindCosts, TheFastestComesFirstAndWhatWasRefusedLast) {
  price_for("cat.onnx");
  std::string region;
  bool refused = false;
  for (const FoundCost& one : found({})) {
    if (region_in(one.key) != region) refused = false;
    region = region_in(one.key);
    EXPECT_FALSE(refused && nanoseconds_of(one.cost)) << one.key;
    refused = !nanoseconds_of(one.cost);
  }
}

TEST_F(FindCosts, AMistypedWordSuggestsAKnownOne) {
  price_for("cat.onnx");
  const std::string op = graph.nodes[0].op_type;
  EXPECT_EQ(suggestion_for(store, {.text = op + "u"}), "; did you mean " + op + "?");
  EXPECT_EQ(suggestion_for(store, {.operator_name = op.substr(0, op.size() - 1)}), "; did you mean " + op + "?");
  EXPECT_EQ(suggestion_for(store, {.backend = "tset"}), "; did you mean test?");
  EXPECT_EQ(suggestion_for(store, {.operator_name = op, .backend = "tset"}), "; did you mean test?");
  EXPECT_EQ(suggestion_for(store, {.text = "nothing like it"}), "");
}

TEST(PeakRates, OfAnotherFormAreMeasuredAnew) {
  for (const char* text : {R"({"flops_per_ns":"x","bytes_per_ns":1,"memory_bytes_per_ns":1})",
                           R"({"flops_per_ns":0,"bytes_per_ns":1,"memory_bytes_per_ns":1})", "[]", "{"}) {
    Store store = Store::open("memory:").value();
    store.put_verdict("peak rates|" + machine_print(), text);
    EXPECT_GT(peak_rates(store).flops_per_ns, 0) << text;
  }
}

}  // namespace
}  // namespace collage
