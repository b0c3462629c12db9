// A small model tuned by honest backends, and their costs made fixed: what a backend that misbehaves must not change.
// The cost store makes that comparable: a first tune without the backend fills it, costs are then replaced by fixed
// ones, and all that later tunes still measure is the misbehaving backend.
#pragma once

#include <algorithm>
#include <memory>

#include "plan/file/plan_file.h"
#include "store/store.h"
#include "tests/tune/tune_fixture.h"
#include "tune/tune.h"

namespace collage::test {

using Costs = std::vector<std::pair<std::string, Cost>>;

/// Every stored candidate of the honest backends costs kFixedNs. Suites of their own for different costs.
template <std::int64_t kFixedNs>
class MisbehaviourOver : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    shared_ = std::make_unique<Scratch>();
    write_model(small_graph(), shared_->file("model.onnx"));
    if (!tune_with(options("base", "first.collage"))) return;
    {
      auto store = Store::open(shared_->file("base"));
      for (const auto& [key, cost] : store->costs_like(""))
        if (std::holds_alternative<Measured>(cost)) store->put_cost(key, kFixed);
    }
    const auto second = tune_with(options("base", "base.collage"));
    auto plan = load_plan(shared_->file("base.collage"));
    // Asserting here would skip the tests instead of failing them; SetUp looks for the plan.
    if (!second || second->measured != 0 || !plan) return;
    expected_ = std::make_unique<RealisedPlan>(std::move(*plan));
    expected_cover_ = second->cover;
  }
  static void TearDownTestSuite() {
    expected_.reset();
    shared_.reset();
  }

  void SetUp() override {
    ASSERT_NE(expected_, nullptr) << "the tune of the honest backends failed, or measured what it had measured";
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::ranges::replace(name, '/', '-');
    use_store(name);
  }

  /// From here on a store of this name with the fixed costs.
  void use_store(const std::string& name) {
    store_ = name;
    for (const char* suffix : {"", ".files"})
      std::filesystem::copy(shared_->file("base") + suffix, shared_->file(store_) + suffix,
                            std::filesystem::copy_options::recursive);
  }
  void TearDown() override {
    ::unsetenv("COLLAGE_TEST_ARMED");
    ::unsetenv("COLLAGE_TEST_ANNOUNCE");
    expect_nothing_left(store_);
  }

  static void expect_nothing_left(const std::string& store) {
    EXPECT_EQ(shared_->temporaries(), std::vector<std::string>{}) << "temporaries left behind";
    EXPECT_EQ(shared_->processes(), std::vector<pid_t>{}) << "processes left behind";
    for (const std::string& name : shared_->names_in(store + ".files"))
      EXPECT_EQ(name.find("partial"), std::string::npos) << name;
  }

  static TuneOptions options(const std::string& store, const std::string& plan,
                             const std::vector<std::string>& others = {}) {
    TuneOptions made;
    made.model = shared_->file("model.onnx");
    made.output = shared_->file(plan);
    made.backends = {"onnxruntime"};
    made.measures_all = true;  // else what is measured depends on the costs, which are replaced here
    made.backends.insert(made.backends.end(), others.begin(), others.end());
    made.store = shared_->file(store);
    made.budget_s = test::kAmpleBudgetSeconds;
    made.worker_command = worker_command();
    return made;
  }
  [[nodiscard]] TuneOptions options_with(const std::vector<std::string>& others) const {
    return options(store_, store_ + ".collage", others);
  }

  static Result<TuneReport> tune_with(const TuneOptions& options) {
    Registry registry(module_folders());
    return tune(options, registry);
  }

  /// The plan written is the one of the tune without the backend.
  void expect_the_same_plan() const {
    auto plan = load_plan(shared_->file(store_ + ".collage"));
    ASSERT_TRUE(plan) << to_string(plan.error());
    plan->plan.report = expected_->plan.report;  // counts refusals and candidates
    EXPECT_EQ(*plan, *expected_);
  }

  [[nodiscard]] Costs costs_of(const std::string& backend) const {
    auto store = Store::open(shared_->file(store_));
    return store->costs_like(" backend=" + backend + " ");
  }
  /// Everything in the store but what is known of `backend`.
  [[nodiscard]] Costs costs_but_of(const std::string& backend, const std::string& store) const {
    auto opened = Store::open(shared_->file(store));
    Costs costs = opened->costs_like("");
    std::erase_if(costs, [&](const auto& entry) { return entry.first.find(backend) != std::string::npos; });
    return costs;
  }

  /// Candidates of the instance were all refused for `reason`, there were some, and nothing else is new in the store.
  void expect_refused(const std::string& instance, RefusalReason reason) const {
    const Costs costs = costs_of(instance);
    EXPECT_GE(costs.size(), 4U) << instance;
    for (const auto& [key, cost] : costs) {
      const auto* infeasible = std::get_if<Infeasible>(&cost);
      ASSERT_NE(infeasible, nullptr) << key;
      EXPECT_EQ(infeasible->refusal.reason, reason) << key << ": " << infeasible->refusal.detail;
    }
    EXPECT_EQ(costs_but_of("backend=test", store_), costs_but_of("backend=test", "base"));
  }

  static inline std::unique_ptr<Scratch> shared_;
  static inline std::unique_ptr<RealisedPlan> expected_;
  static inline std::string expected_cover_;
  std::string store_;

 private:
  static constexpr Measured kFixed = {.median_ns = kFixedNs, .low_ns = kFixedNs, .high_ns = kFixedNs, .samples = 9};
};

}  // namespace collage::test
