#include "tune/explain/what_if.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/json_numbers.h"
#include "plan/file/plan_report_json.h"
#include "tests/support/schema_check.h"
#include "tests/tune/pool_fixture.h"

namespace collage {
namespace {

using test::PoolProblem;

/// The best cover of the pool's candidates of which those that compute the node are the backend's.
Result<SearchResult> best_of_pool(const PoolProblem& problem, std::size_t node, const std::string& backend) {
  PoolProblem ruled = problem;
  for (std::size_t c = 0; c < ruled.costs.size(); ++c) {
    const Candidate& candidate = ruled.pool.candidates[c];
    if (candidate.backend != backend && ruled.pool.regions[candidate.region].covered().contains(node))
      ruled.costs[c] = Unknown{};
  }
  return ruled.best();
}

/// As `explain` reads it from a plan.
Explanation stored(const Explanation& explanation) {
  return explanation_from_json(explanation_to_json(explanation), "test").value();
}

TEST(WhatIf, TellsThePriceOfEveryOfferOfRandomGraphs) {
  std::size_t asked = 0;
  std::size_t as_good_as_the_pool = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const PoolProblem problem = PoolProblem::random(seed);
    const Cover cover = problem.best()->cover;
    const Explanation explanation = stored(explain_cover(problem.inputs(cover)));
    for (std::size_t n = 0; n < explanation.nodes.size(); ++n)
      for (const std::uint32_t c : explanation.nodes[n].offers) {
        const ExplainedCandidate& offer = explanation.candidates[c];
        const auto answer =
            what_if(explanation, {{.node = explanation.nodes[n].name, .backend = offer.backend, .variant = ""}});
        ASSERT_TRUE(answer) << to_string(answer.error());
        EXPECT_EQ(answer->best_ns, cover.cost_ns);
        const std::int64_t least = best_of_pool(problem, n, offer.backend)->cover.cost_ns;
        EXPECT_GE(answer->under_ns, least);
        if (offer.margin_ns) {
          EXPECT_LE(answer->under_ns, cover.cost_ns + *offer.margin_ns);
        }
        ++asked;
        as_good_as_the_pool += answer->under_ns == least ? 1 : 0;
      }
  }
  EXPECT_GT(asked, 500U);
  // An explanation keeps the best candidate of each backend at a node, and only that.
  EXPECT_GT(as_good_as_the_pool, asked * 9 / 10);
}

/// Two nodes, each cheapest with "a" in plain; "b" runs both in channels_last.
PoolProblem two_nodes() {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("a", {1}, 10, "plain", "quick");
  problem.add("a", {1}, 14, "plain", "slow");
  problem.add("b", {0}, 9, "channels_last");
  problem.add("b", {1}, 12, "channels_last");
  return problem;
}

Explanation explained(const PoolProblem& problem) {
  const Cover cover = problem.best()->cover;
  return stored(explain_cover(problem.inputs(cover)));
}

WhatIf answer_to(const Explanation& explanation, const std::vector<std::string>& questions) {
  std::vector<WhatIfRule> rules;
  for (const std::string& question : questions) {
    auto rule = parse_what_if(explanation, question);
    EXPECT_TRUE(rule) << (rule ? "" : to_string(rule.error()));
    if (rule) rules.push_back(*rule);
  }
  auto answer = what_if(explanation, rules);
  EXPECT_TRUE(answer) << (answer ? "" : to_string(answer.error()));
  return answer.value_or(WhatIf());
}

TEST(WhatIf, CountsTheConversionsThatOtherFormatsNeed) {
  const Explanation explanation = explained(two_nodes());
  EXPECT_EQ(answer_to(explanation, {"n0=b"}).under_ns, 9 + 10 + 2 * 3);
  EXPECT_EQ(answer_to(explanation, {"n0=b", "n1=b"}).under_ns, 9 + 12 + 2 * 3) << "none between the two";
  EXPECT_EQ(answer_to(explanation, {"n1=a/slow"}).under_ns, 24);
  EXPECT_EQ(answer_to(explanation, {"n1=a"}).under_ns, 20) << "as it is";
}

/// From plain to channels_last costs 1, from there to blocked 1; the direct way 50.
std::optional<BoundaryChoice> stepwise(const Place& from, const Place& to) {
  const auto costs = [](std::int64_t ns) {
    return BoundaryChoice{.backend = "host", .cost = Measured{.median_ns = ns, .low_ns = ns, .high_ns = ns}};
  };
  const bool is_step = (from.format.is_plain() && to.format.is_channels_last()) ||
                       (from.format.is_channels_last() && to.format.name == "blocked");
  return costs(is_step ? 1 : 50);
}

TEST(WhatIf, KnowsWaysOverFormatsThatOnlyOtherCandidatesHave) {
  PoolProblem problem = PoolProblem::chain(2);
  problem.add("a", {0}, 10);
  problem.add("b", {1}, 90, "channels_last");
  problem.add("c", {1}, 20, "blocked");
  ExplainInputs inputs = problem.inputs(Cover());
  inputs.conversions = [](ValueId, const Place& from, const Place& to) { return stepwise(from, to); };
  std::vector<SearchCandidate> usable;
  for (std::size_t c = 0; c < problem.costs.size(); ++c)
    usable.push_back({.region = &problem.pool.regions[problem.pool.candidates[c].region],
                      .backend = problem.pool.candidates[c].backend,
                      .variant = problem.pool.candidates[c].variant,
                      .cost = problem.costs[c]});
  const Cover best = choose_cover(problem.graph, problem.uses, usable, inputs.conversions, {.launch_ns = 0})->cover;
  inputs.plans[0].cover = &best;
  const auto answer = what_if(stored(explain_cover(inputs)), {});
  ASSERT_TRUE(answer) << to_string(answer.error());
  EXPECT_EQ(best.cost_ns, 10 + 2 + 20 + 50);
  EXPECT_EQ(answer->best_ns, best.cost_ns);
}

TEST(WhatIf, NamesTheStepsThatGoAndThoseThatCome) {
  const WhatIf answer = answer_to(explained(two_nodes()), {"n1=b"});
  EXPECT_EQ(to_text(answer),
            "if b runs n1: +0.0 us (+35.0 %)\n"
            "  the best cover of the plan's candidates adds up to 0.0 us, under this to 0.0 us\n"
            "steps that go\n"
            "       0.0 us  a/v\n"
            "               n0\n"
            "       0.0 us  a/quick\n"
            "               n1\n"
            "steps that come\n"
            "       0.0 us  host\n"
            "               input: plain to channels_last\n"
            "       0.0 us  b/v.channels_last\n"
            "               n0\n"
            "       0.0 us  b/v.channels_last\n"
            "               n1\n"
            "       0.0 us  host\n"
            "               v1: channels_last to plain\n");
  WhatIf measured = answer;
  const MeasuredWhatIf times{.who = "mixed", .us = 2, .plan_us = 1, .faster = {.ratio = 0.5, .low = 0.4, .high = 0.6}};
  EXPECT_EQ(test::schema_problem(nlohmann::json::parse(to_json(answer))), "");
  EXPECT_EQ(test::schema_problem(nlohmann::json::parse(to_json(measured, times))), "");
  EXPECT_NE(
      to_text(measured, times).find("timed end to end: 2.0 us (mixed), the plan at hand 1.0 us: 0.50x [0.40, 0.60]"),
      std::string::npos);
}

TEST(WhatIf, RefusesWhatThePlanKnowsNoCostOf) {
  const Explanation explanation = explained(two_nodes());
  const auto code = [&](const std::string& text) {
    const auto rule = parse_what_if(explanation, text);
    return rule ? "" : rule.error().code;
  };
  EXPECT_EQ(code("n1"), "cli/bad-option");
  EXPECT_EQ(code("n1="), "cli/bad-option");
  EXPECT_EQ(code("n7=a"), "plan/no-such-node");
  EXPECT_EQ(code("n1=c"), "plan/no-such-offer");
  EXPECT_EQ(code("n1=a/other"), "plan/no-such-offer");
  EXPECT_NE(to_string(parse_what_if(explanation, "n1=c").error()).find("a/quick, a/slow, b/v.channels_last"),
            std::string::npos);
  EXPECT_EQ(what_if(explanation,
                    {{.node = "n1", .backend = "a", .variant = ""}, {.node = "n1", .backend = "b", .variant = ""}})
                .error()
                .code,
            "plan/no-cover");
  const auto answer = what_if(Explanation(), {});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, "plan/no-problem");
}

/// What damages an explanation in one place.
using Damage = std::function<void(Explanation&)>;

TEST(WhatIf, RefusesADamagedPlan) {
  const Explanation sound = explained(two_nodes());
  const std::vector<std::pair<std::string, Damage>> damages = {
      {"a node that reads itself", [](Explanation& e) { e.nodes[0].inputs = e.nodes[0].outputs; }},
      {"a value made twice", [](Explanation& e) { e.nodes[1].outputs = e.nodes[0].outputs; }},
      {"an output that nobody makes", [](Explanation& e) { e.nodes[1].outputs.clear(); }},
      {"values of one name", [](Explanation& e) { e.problem.values[1] = e.problem.values[0]; }},
      {"a value without a name", [](Explanation& e) { e.problem.values[1].clear(); }},
      {"nodes of one name", [](Explanation& e) { e.nodes[1].name = e.nodes[0].name; }},
      {"a candidate of nothing", [](Explanation& e) { e.candidates[0].nodes.clear(); }},
      {"a candidate that recomputes all", [](Explanation& e) { e.candidates[0].repeated = e.candidates[0].nodes; }},
      {"nodes out of order",
       [](Explanation& e) {
         e.candidates[0].nodes = {1, 0};
       }},
      {"a time below 0", [](Explanation& e) { e.candidates[0].cost_ns = -5; }},
      {"an endless time", [](Explanation& e) { e.candidates[0].cost_ns = std::numeric_limits<Nanoseconds>::max(); }},
      {"a conversion below 0", [](Explanation& e) { e.problem.conversions[0].ns = -1000; }},
      {"a launch below 0", [](Explanation& e) { e.problem.launch_ns = -1; }},
      {"formats of other ports",
       [](Explanation& e) {
         e.candidates[0].input_formats = {"plain", "plain"};
       }},
      {"a candidate for each of forty formats", [](Explanation& e) {
         for (int i = 0; i < 40; ++i) {
           e.candidates.push_back(e.candidates[0]);
           e.candidates.back().input_formats = {"far:" + std::to_string(i)};
         }
       }}};
  EXPECT_TRUE(what_if(sound, {}));
  for (const auto& [what, damage] : damages) {
    SCOPED_TRACE(what);
    Explanation damaged = sound;
    damage(damaged);
    const auto answer = what_if(damaged, {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "plan/no-problem");
  }
}

}  // namespace
}  // namespace collage
