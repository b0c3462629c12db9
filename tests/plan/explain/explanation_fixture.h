// An explanation with everything in it, about the plan of rich_sketch().
#pragma once

#include "plan/explain/explanation.h"
#include "plan/file/plan_json.h"
#include "tests/plan/plan_fixture.h"

namespace collage {

/// Steps of a and d are in 16 bits. Node a: other offers; c: test is cheaper alone, and its operations are counted; d:
/// pinned; e: test was never measured, far refused.
inline Explanation rich_explanation() {
  Explanation made;
  made.plan = made.cover = "mixed";
  made.backends = {"fake", "other", "test:opt=1", "far"};
  made.fillers = {"filler"};
  made.absent = {{"gone", "no library"}};
  made.cover_ns = 1000;
  made.sum = {.measured_ns = 500, .estimated_ns = 100, .launch_ns = 400, .measured = 5, .estimated = 1};
  made.model_bound_ns = 900;
  made.proven_bound_ns = 600;
  made.measured_ns = 1500;
  made.apparent_loss_ns = -250;
  made.apparent_loss_against = "quick engine";
  made.candidates = {{.backend = "fake", .variant = "direct", .nodes = {0}, .cost_ns = 100},
                     {.backend = "other",
                      .variant = "direct",
                      .nodes = {0, 1, 2},
                      .cost_ns = 112,
                      .margin_by = MarginBy::kExchange,
                      .margin_ns = 34,
                      .input_formats = {"channels_last"},
                      .output_formats = {"channels_last", "plain"},
                      .location = "far"},
                     {.backend = "fake", .variant = "direct", .nodes = {1, 2, 3, 4}, .cost_ns = 400},
                     {.backend = "test:opt=1",
                      .variant = "fast",
                      .nodes = {1},
                      .cost_ns = 20,
                      .estimated = true,
                      .margin_by = MarginBy::kEndToEnd,
                      .margin_ns = -7},
                     {.backend = "test:opt=1",
                      .variant = "slow",
                      .nodes = {3},
                      .cost_at_least_ns = 11,
                      .margin_at_least_ns = -60,
                      .why_unmeasured = Unmeasured::kOutOfTime},
                     {.backend = "other", .variant = "direct", .nodes = {2, 3, 4}, .repeated = {2}, .cost_ns = 290}};
  made.refusals = {{.backend = "far", .variant = "", .reason = "type", .detail = "f32[3,7]", .nodes = 1},
                   {.backend = "far", .variant = "quick", .reason = "crashed", .detail = "", .nodes = 3}};
  made.rules = {{.is_pin = true, .glob = "d*", .backend = "fake"}, {.is_pin = false, .glob = "?", .backend = "other"}};
  made.user_rules = {{.where = "r.txt:3", .text = "fuse fake block: c d e", .backend = "fake", .takes_others = true}};
  made.proposals = {{"far", "operators(Conv|Gemm)"}};
  made.alternatives = {{.cost_ns = 990, .changed = 1, .steps = {3}},
                       {.cost_ns = 1234, .changed = 3, .steps = {5, 1, 3}}};
  made.alternatives_complete = true;
  made.nodes = {{.name = "a", .chosen = 0, .offers = {1}},
                {.name = "c", .flops = 2000, .chosen = 2, .offers = {3}, .user_rules = {0}},
                {.name = "d", .chosen = 2, .rules = {0}, .user_rules = {0}},
                {.name = "e", .chosen = 2, .unmeasured = {4}, .refusals = {0, 1}, .rules = {1}},
                {.name = "dynamic", .chosen = 2}};
  made.precision = {.bound = "max=1e-3",
                    .share = 0.25,
                    .sets = 4,
                    .predicted_share = 0.125,
                    .steps = {{.step = 0, .element = "f16", .gain_ns = 1200, .share = 0.0625},
                              {.step = 4, .element = "bf16", .gain_ns = std::nullopt, .share = std::nullopt}}};
  made.problem = {
      .values = {"x", "y", "z"},
      .inputs = {0},
      .outputs = {2, 1},
      .conversions = {{.from = "plain", .to = "far/channels_last", .backend = "other", .ns = 7, .values = {0, 2}}},
      .launch_ns = 500};
  made.nodes[0].inputs = {0};
  made.nodes[0].outputs = {2, 1};
  made.peak = {.flops_per_ns = 16, .cache_bytes_per_ns = 64, .memory_bytes_per_ns = 8};
  return made;
}

inline Plan explained_plan(const Explanation& explanation = rich_explanation()) {
  Plan plan = rich_sketch().realise().value().plan;
  plan.report = PlanReport{.search = {.model_bound_us = 0.5, .measured_us = 1.5},
                           .rivals = {{"slow engine", 9.5}, {"quick engine", 2.25}},
                           .plans = {{.name = "slow engine as a whole",
                                      .us = 9.5,
                                      .faster = FasterBy{.ratio = 6.5, .low = 6.25, .high = 7},
                                      .is_engine = true},
                                     {.name = "quick alone", .us = 2.25}},
                           .explanation = explanation};
  return plan;
}

}  // namespace collage
