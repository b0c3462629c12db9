#include "tune/price/cost_model.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace collage {
namespace {

/// Operations that ways compute, each of the two with an effect of its own.
class CostModels : public ::testing::Test {
 protected:
  /// The same computation whenever asked.
  const CostModel::Computation& of(const std::string& way, const std::string& operation) {
    return chain(way, {operation});
  }
  const CostModel::Computation& chain(const std::string& way, const std::vector<std::string>& operations) {
    std::string name = way;
    for (const std::string& operation : operations) name += "|" + operation;
    const auto [found, added] = made_.try_emplace(name);
    if (!added) return found->second;
    for (const std::string& operation : operations)
      found->second.parts.push_back(
          {.base_ns = 1000, .effects = {model.effect(ways_, way), model.effect(operations_, operation)}});
    return found->second;
  }
  void learn(const std::string& way, const std::string& operation, double ns) {
    model.learn(of(way, operation), ns);
    model.fit();
  }
  double ns(const std::string& way, const std::string& operation) { return model.predict(of(way, operation)).ns; }

  CostModel model;

 private:
  std::size_t ways_ = model.add_level("way", 1, true);
  std::size_t operations_ = model.add_level("operation", 1, false);
  std::map<std::string, CostModel::Computation> made_;
};

TEST_F(CostModels, KnowsNothingButTheBaseAtFirst) {
  EXPECT_DOUBLE_EQ(ns("a", "p"), 1000);
  EXPECT_GT(model.predict(of("a", "p")).spread, 1);
}

TEST_F(CostModels, TellsAProductOfEffectsFromOneRowAndOneColumn) {
  const std::array<double, 4> operations = {1000, 2000, 4000, 1500};
  const std::array<double, 4> ways = {1, 1.5, 0.7, 2};
  const auto truth = [&](std::size_t w, std::size_t o) { return ways.at(w) * operations.at(o); };
  for (std::size_t i = 0; i < 4; ++i) learn("0", std::to_string(i), truth(0, i));
  for (std::size_t i = 1; i < 4; ++i) learn(std::to_string(i), "0", truth(i, 0));
  for (std::size_t w = 1; w < 4; ++w)
    for (std::size_t o = 1; o < 4; ++o) {
      SCOPED_TRACE(std::to_string(w) + " " + std::to_string(o));
      EXPECT_NEAR(ns(std::to_string(w), std::to_string(o)) / truth(w, o), 1, 0.1);
    }
}

TEST_F(CostModels, LearnsThePartsOfAChainFromTheWhole) {
  learn("a", "p", 1000);
  learn("a", "q", 1000);
  model.learn(chain("a", {"p", "q", "r"}), 5000);
  model.fit();
  EXPECT_NEAR(ns("a", "r"), 3000, 300);
  EXPECT_NEAR(ns("a", "p"), 1000, 100);
  EXPECT_NEAR(model.predict(chain("a", {"r", "r"})).ns, 6000, 600);
}

TEST_F(CostModels, DoesNotCondemnAWayForOneOddTime) {
  for (const char* operation : {"p", "q", "r"}) learn("a", operation, 1000);
  learn("b", "p", 30000);
  EXPECT_LT(ns("b", "q"), 3500);
  EXPECT_NEAR(ns("a", "p"), 1000, 300);
}

TEST_F(CostModels, BelievesThatAWayIsSlowWhenAllOfItIs) {
  for (const char* operation : {"p", "q", "r", "s", "t", "u"}) learn("a", operation, 1000);
  for (const char* operation : {"p", "q", "r", "s", "t"}) learn("b", operation, 30000);
  EXPECT_GT(ns("b", "u"), 5000);
}

TEST_F(CostModels, IsSurerTheMoreWasMeasuredNearby) {
  const double nothing = model.predict(of("a", "p")).spread;
  learn("a", "q", 1000);
  const CostModel::Prediction way_known = model.predict(of("a", "p"));
  learn("b", "p", 1000);
  learn("b", "q", 1000);
  const CostModel::Prediction both_known = model.predict(of("a", "p"));
  EXPECT_LT(way_known.spread, nothing);
  EXPECT_LT(both_known.spread, way_known.spread);
  EXPECT_LT(way_known.shared_spread, way_known.spread);
}

}  // namespace
}  // namespace collage
