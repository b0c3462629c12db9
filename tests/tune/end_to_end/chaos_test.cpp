// Twenty kinds of misbehaviour at six stages, each in a whole tune: the tune ends, its plan is the one without the
// backend, nothing is left behind, and what happened to the backend is what the table says. By default eight cells of
// eight kinds; COLLAGE_LONG=1 (./dev soak chaos) runs all 120, COLLAGE_LONG=STAGE-KIND one. The outcomes are printed as
// a table.
#include <array>
#include <cstdlib>
#include <iostream>
#include <map>

#include <fmt/format.h>

#include "tests/support/long_run.h"
#include "tests/tune/end_to_end/misbehaviour_fixture.h"
#include "worker/process_state.h"
#include "worker/resource_check.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

/// Less than any time the test backend takes with its delay: a candidate of it that is accepted is never the best.
constexpr std::int64_t kFixedNs = 1'000;

constexpr std::array<const char*, 6> kStages = {"probe", "propose", "compile", "load", "verify", "run"};

/// What must become of the backend: "out" = takes no part, with a note; "fine" = some candidate is measured, with its
/// honest time; a refusal's reason = every candidate that was tried is refused for it; "any" = depends on the machine
/// or on the order of things, and the plan is right all the same.
struct Kind {
  const char* name;
  std::array<const char*, 6> outcome;  ///< by stage
};

constexpr std::array<Kind, 20> kKinds = {{
    //                   probe   propose compile          load            verify          run
    {"crash", {"out", "out", "crashed", "crashed", "crashed", "crashed"}},
    {"abort", {"out", "out", "crashed", "crashed", "crashed", "crashed"}},
    {"exit", {"out", "out", "crashed", "crashed", "crashed", "crashed"}},
    {"hang", {"out", "out", "timeout", "timeout", "timeout", "timeout"}},
    {"deaf", {"out", "out", "timeout", "timeout", "timeout", "timeout"}},
    {"wrong", {"out", "no candidates", "wrong-result", "wrong-result", "wrong-result", "wrong-result"}},
    {"overrun", {"out", "out", "crashed", "crashed", "wrong-result", "wrong-result"}},
    // Of the constants at load: those that are mapped cannot be written, and not every region has one.
    {"change-input", {"fine", "out", "wrong-result", "any", "wrong-result", "wrong-result"}},
    {"state", {"out", "out", "wrong-result", "wrong-result", "wrong-result", "wrong-result"}},
    // What is taken once is what libraries do; what is taken with every run is a leak.
    {"leak-memory", {"fine", "out", "fine", "fine", "fine", "resources"}},
    {"leak-descriptors", {"fine", "out", "fine", "fine", "fine", "resources"}},
    {"print", {"fine", "fine", "fine", "fine", "fine", "fine"}},
    {"slow-start", {"fine", "fine", "fine", "fine", "fine", "fine"}},
    {"slow-drift", {"fine", "fine", "fine", "fine", "fine", "fine"}},
    {"fork", {"out", "out", "wrong-result", "wrong-result", "wrong-result", "any"}},
    {"throw", {"out", "no candidates", "compile", "compile", "compile", "compile"}},
    {"garbage", {"out", "no candidates", "compile", "crashed", "wrong-result", "wrong-result"}},
    {"refuse", {"out", "fine", "compile", "compile", "compile", "compile"}},
    // Noticed where there is more than one processor, and none but its own work on them.
    {"threads", {"any", "any", "any", "any", "fine", "any"}},
    {"once", {"fine", "out", "any", "any", "any", "crashed"}},
}};

std::int64_t descriptors() { return usage_now().descriptors; }

class Chaos : public test::MisbehaviourOver<kFixedNs> {
 protected:
  static bool is_asked(std::size_t stage, std::size_t kind) {
    const char* asked = std::getenv("COLLAGE_LONG");
    if (asked == nullptr) return kind % kStages.size() == stage && kind % 5 < 2;
    return std::string_view(asked) == "1" || asked == fmt::format("{}-{}", kStages[stage], kKinds[kind].name);
  }

  static std::string instance_of(const std::string& stage, const std::string& kind) {
    std::string name = fmt::format("test:delay_us=50,fault={}-{}", stage, kind);
    if (stage == "run") name += ",good_runs=8";
    return name;
  }

  /// "out", "fine", the one reason of all refusals, or several words.
  [[nodiscard]] std::string outcome_of(const std::string& instance, const TuneReport& report) const {
    for (const std::string& note : report.notes)
      if (note.starts_with(instance + " takes no part")) return "out";
    std::map<std::string, int> seen;
    for (const auto& [key, cost] : costs_of(instance)) {
      const auto* infeasible = std::get_if<Infeasible>(&cost);
      ++seen[infeasible != nullptr ? std::string(name_of(infeasible->refusal.reason)) : "fine"];
    }
    std::string words;
    for (const auto& [word, count] : seen) words += (words.empty() ? "" : " ") + word;
    return words.empty() ? "no candidates" : words;
  }

  static bool fits(const std::string& outcome, const std::string& expected) {
    if (expected == "any") return true;
    if (expected == "fine") return outcome.find("fine") != std::string::npos;
    return outcome == expected;
  }

  /// The backend changed nothing. One that was accepted competes, and other contests may end otherwise among the rest:
  /// then the cover of least cost is the one to compare.
  void expect_nothing_changed(const std::string& instance, const TuneReport& report, const std::string& outcome) const {
    EXPECT_EQ(report.cover, expected_cover_) << ::testing::PrintToString(report.notes);
    EXPECT_EQ(report.backends.count(instance), 0U);
    if (outcome.find("fine") == std::string::npos) expect_the_same_plan();
    const auto plan = load_plan(report.plan);
    ASSERT_TRUE(plan) << to_string(plan.error());
    for (const PlanStep& step : plan->plan.steps) EXPECT_NE(step.backend, instance);
  }

  std::string run_cell(const std::string& stage, const Kind& kind, const std::string& expected) {
    const std::string instance = instance_of(stage, kind.name);
    SCOPED_TRACE(instance);
    use_store(fmt::format("{}-{}", stage, kind.name));
    TuneOptions with = options_with({instance});
    const bool hangs = std::string(kind.name) == "hang" || std::string(kind.name) == "deaf";
    if (hangs) with.run_limit = 200ms;
    if (hangs && (stage == "compile" || stage == "load" || stage == "propose")) with.compile_limit = 2s;
    if (hangs && stage == "probe") with.compile_limit = 3s;
    // What is noticed late must not use up the others' time.
    if (stage == "run") with.budget_s = 40;
    const ProcessState before = process_state();
    const std::int64_t files = descriptors();
    const auto report = tune_with(with);
    EXPECT_TRUE(report) << to_string(report.error());
    if (!report) return "no plan";
    // One that it takes when the instance is made is its own, like a library's, as long as the instance lives.
    const bool keeps_one = instance.ends_with("probe-leak-descriptors");
    EXPECT_EQ(descriptors(), files + (keeps_one ? 1 : 0));
    EXPECT_EQ(differences(before, process_state()), std::vector<std::string>{});
    const std::string outcome = outcome_of(instance, *report);
    EXPECT_TRUE(fits(outcome, expected)) << "saw \"" << outcome << "\", expected \"" << expected << "\"\n"
                                         << ::testing::PrintToString(report->notes);
    expect_nothing_changed(instance, *report, outcome);
    expect_nothing_left(store_);
    return outcome;
  }
};

TEST_F(Chaos, ChangesNothingButItself) {
  for (std::size_t stage = 0; stage < kStages.size(); ++stage)
    for (std::size_t k = 0; k < kKinds.size(); ++k) {
      if (!is_asked(stage, k)) continue;
      const std::string outcome = run_cell(kStages[stage], kKinds[k], kKinds[k].outcome[stage]);
      std::cout << fmt::format("chaos {:<8} {:<17} {}\n", kStages[stage], kKinds[k].name, outcome) << std::flush;
    }
}

/// What a misbehaving backend does in a worker is not taken for the doing of another one whose candidates are measured
/// there.
TEST_F(Chaos, IsNotBlamedOnOptionalBackends) {
  for (const std::string name : {"xnnpack", "onednn3", "mnn", "blas:lib=mkl", "tvm"}) {
    Registry registry(test::module_folders());
    const auto backend = registry.get(name);
    const std::string why = !backend ? backend.error().saw : (*backend)->info().unusable;
    if (!why.empty()) {
      std::cout << fmt::format("chaos beside {}: skipped: {}\n", name, why);
      continue;
    }
    for (const char* kind : test::by_length<std::vector<const char*>>({"crash"}, {"crash", "wrong", "state"})) {
      const std::string instance = instance_of("load", kind);
      SCOPED_TRACE(name + " beside " + instance);
      use_store(fmt::format("beside-{}-{}", name, kind));
      const ProcessState before = process_state();
      const auto report = tune_with(options_with({name, instance}));
      ASSERT_TRUE(report) << to_string(report.error());
      EXPECT_EQ(differences(before, process_state()), std::vector<std::string>{});
      EXPECT_EQ(report->backends.count(instance), 0U);
      std::size_t measured = 0;
      for (const auto& [key, cost] : costs_of(name)) {
        measured += std::holds_alternative<Measured>(cost) ? 1 : 0;
        const auto* infeasible = std::get_if<Infeasible>(&cost);
        if (infeasible == nullptr) continue;
        EXPECT_NE(infeasible->refusal.reason, RefusalReason::kCrashed) << key;
        EXPECT_NE(infeasible->refusal.reason, RefusalReason::kWrongResult) << key;
      }
      // Products are all that blas takes, and the model has none.
      EXPECT_EQ(measured > 0, !name.starts_with("blas")) << name;
      test::expect_small_graph_numbers(report->plan, registry, {1.0F, -0.5F});
      expect_nothing_left(store_);
      std::cout << fmt::format("chaos beside {}, {}: {} measured\n", name, kind, measured) << std::flush;
    }
  }
}

}  // namespace
}  // namespace collage
