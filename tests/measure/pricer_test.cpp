#include "measure/pricer.h"

#include <signal.h>

#include <fstream>
#include <thread>

#include "tests/measure/pricing_fixture.h"

namespace collage {
namespace {

using namespace std::chrono_literals;

class Pricing : public ::testing::Test, protected test::PricingLab {};

TEST_F(Pricing, EqualStructuresAreMeasuredOnce) {
  Pricer pricer(options(), registry, store);
  const auto priced = price(pricer, {request({0}, {"test"}), request({1}, {"test"}), request({3}, {"test"})});
  EXPECT_EQ(pricer.counts().measured, 1U);
  EXPECT_TRUE(is_measured(priced[0][0]));
  EXPECT_EQ(priced[0], priced[1]);
  EXPECT_EQ(priced[0], priced[2]);
  EXPECT_EQ(store.counts().costs, 1U);
}

TEST_F(Pricing, WhatIsStoredIsNotMeasuredAgain) {
  const std::vector<PriceRequest> requests = {request({0}, {"test", "test:fault=run-wrong"}), request({2}, {"test"})};
  Pricer first(options(), registry, store);
  const auto measured = price(first, requests);
  EXPECT_EQ(first.counts().measured, 2U);
  EXPECT_EQ(first.counts().refused, 1U);
  Store again = std::move(*Store::open(folder.file("costs.sqlite")));
  Pricer second(options(), registry, again);
  const auto reused = price(second, requests);
  EXPECT_EQ(second.counts().measured, 0U);
  EXPECT_EQ(second.counts().reused, 3U);
  EXPECT_EQ(second.counts().refused, 1U);
  EXPECT_FALSE(second.worker().is_running());
  for (std::size_t r = 0; r < requests.size(); ++r)
    for (std::size_t c = 0; c < requests[r].candidates.size(); ++c) {
      EXPECT_EQ(reused[r][c].cost, measured[r][c].cost);
      EXPECT_TRUE(reused[r][c].reused);
      EXPECT_FALSE(measured[r][c].reused);
    }
}

TEST_F(Pricing, ASampleIsKeptButNeverStandsForACost) {
  const std::vector<PriceRequest> requests = {request({0}, {"test", "test:fault=run-wrong"})};
  Pricer first(options(), registry, store);
  const auto sampled = price(first, requests, {}, Effort::kSample);
  EXPECT_TRUE(is_sampled(sampled[0][0].cost));
  EXPECT_EQ(reason_of(sampled[0][1]), RefusalReason::kWrongResult);
  EXPECT_EQ(store.counts().artifacts, 0U) << "its numbers were judged on the record alone";
  EXPECT_TRUE(is_measured(price(first, requests)[0][0]));
  EXPECT_EQ(first.counts().measured, 1U) << "one candidate, however often it was timed";
  EXPECT_EQ(store.counts().artifacts, 1U);
  // The same tune again sees the same, the sample included.
  Pricer second(options(), registry, store);
  const auto again = price(second, requests, {}, Effort::kSample);
  EXPECT_EQ(again[0][0].cost, sampled[0][0].cost);
  EXPECT_TRUE(is_measured(price(second, requests)[0][0]));
  EXPECT_EQ(second.counts().measured, 0U);
}

TEST_F(Pricing, WhereACostIsKnownNobodySamples) {
  Pricer pricer(options(), registry, store);
  (void)price(pricer, {request({0}, {"test"})});
  EXPECT_TRUE(is_measured(price(pricer, {request({0}, {"test"})}, {}, Effort::kSample)[0][0]));
  EXPECT_EQ(pricer.counts().measured, 1U);
}

TEST_F(Pricing, AnotherBuildOrThreadCountIsAnotherQuestion) {
  Pricer first(options(), registry, store);
  (void)price(first, {request({0}, {"test"})});
  PricerOptions two_threads = options();
  two_threads.measure.threads = 2;
  Pricer second(two_threads, registry, store);
  (void)price(second, {request({0}, {"test"})});
  EXPECT_EQ(second.counts().measured, 1U);
  Pricer third(options(), registry, store);
  (void)price(third, {request({0}, {"test:build=other"})});
  EXPECT_EQ(third.counts().measured, 1U);
}

/// Each kind of death, in the middle of right candidates: they keep their costs, the guilty one is refused.
class PricingDeaths : public Pricing, public ::testing::WithParamInterface<std::pair<const char*, RefusalReason>> {};

TEST_P(PricingDeaths, CostExactlyTheGuiltyCandidate) {
  const auto [fault, reason] = GetParam();
  PricerOptions short_limits = options();
  if (reason == RefusalReason::kTimeout) short_limits.measure.compile_limit = short_limits.measure.run_limit = 1500ms;
  Pricer pricer(short_limits, registry, store);
  const std::string guilty = std::string("test:fault=") + fault;
  const auto priced = price(pricer, {request({0}, {"test:build=a", guilty, "test:build=b"}), request({2}, {"test"})});
  EXPECT_TRUE(is_measured(priced[0][0]));
  EXPECT_EQ(reason_of(priced[0][1]), reason);
  EXPECT_TRUE(is_measured(priced[0][2]));
  EXPECT_TRUE(is_measured(priced[1][0]));
  EXPECT_EQ(pricer.counts().measured, 3U);
  EXPECT_EQ(pricer.counts().refused, 1U);
  // Known from here on.
  Pricer next(options(), registry, store);
  const auto again = price(next, {request({0}, {guilty})});
  EXPECT_EQ(reason_of(again[0][0]), reason);
  EXPECT_EQ(next.counts().reused, 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, PricingDeaths,
    ::testing::Values(
        std::pair("compile-crash", RefusalReason::kCrashed), std::pair("compile-exit", RefusalReason::kCrashed),
        std::pair("compile-throw", RefusalReason::kCompile), std::pair("compile-hang", RefusalReason::kTimeout),
        std::pair("run-crash", RefusalReason::kCrashed), std::pair("run-hang", RefusalReason::kTimeout),
        std::pair("run-kill", RefusalReason::kResources), std::pair("run-late-crash", RefusalReason::kCrashed),
        std::pair("run-close", RefusalReason::kCrashed), std::pair("run-throw-int", RefusalReason::kCompile),
        std::pair("run-wrong", RefusalReason::kWrongResult), std::pair("run-overrun", RefusalReason::kWrongResult),
        std::pair("unload-crash", RefusalReason::kCrashed)),
    [](const auto& tested) {
      std::string name = tested.param.first;
      std::erase(name, '-');
      return name;
    });

TEST_F(Pricing, CrashKeepsTheWordsOfTheLibrary) {
  Pricer pricer(options(), registry, store);
  const auto priced = price(pricer, {request({0}, {"test:fault=run-crash"})});
  const Refusal refusal = std::get<Infeasible>(priced[0][0].cost).refusal;
  EXPECT_NE(refusal.detail.find("SIGSEGV during verify: about to crash"), std::string::npos) << refusal.detail;
}

TEST_F(Pricing, BackendThatKeepsHangingIsNotTriedForEver) {
  PricerOptions impatient = options();
  impatient.measure.run_limit = 100ms;
  Pricer pricer(impatient, registry, store);
  std::vector<PriceRequest> requests;
  const std::vector<std::vector<std::size_t>> regions = {{0}, {2}, {0, 1}, {1, 2}, {2, 3}, {0, 1, 2}, {1, 2, 3}};
  for (const auto& nodes : regions) requests.push_back(request(nodes, {"test:fault=run-hang", "test"}));
  std::size_t tried = 0;
  for (const auto& answers : price(pricer, requests)) {
    EXPECT_EQ(reason_of(answers[0]), RefusalReason::kTimeout);
    tried += std::get<Infeasible>(answers[0].cost).refusal.detail.find("not tried") == std::string::npos;
    EXPECT_TRUE(is_measured(answers[1]));
  }
  EXPECT_EQ(tried, 5U);
  EXPECT_EQ(pricer.counts().refused, regions.size());
  EXPECT_EQ(store.counts().costs, tried + regions.size());
}

TEST_F(Pricing, MissingBackendIsARefusalThatIsNotStored) {
  Pricer pricer(options(), registry, store);
  const auto priced = price(pricer, {request({0}, {"absent", "test"})});
  EXPECT_EQ(reason_of(priced[0][0]), RefusalReason::kMissing);
  EXPECT_TRUE(is_measured(priced[0][1]));
  EXPECT_EQ(store.counts().costs, 1U);
}

TEST_F(Pricing, ValueThatTheRecordLacksRefusesItsRegion) {
  auto writer = RecordWriter::create(folder.file("record"));
  EXPECT_TRUE(writer->add("x", test::numbers({2, 300}, 1)));
  EXPECT_TRUE(writer->finish());
  Pricer pricer(options(), registry, store);
  EXPECT_EQ(reason_of(price(pricer, {request({0}, {"test"})})[0][0]), RefusalReason::kShape);
}

TEST_F(Pricing, FilesThatCannotBeReadAreAnError) {
  PricerOptions wrong = options();
  wrong.graph.record_file = folder.file("absent");
  Pricer pricer(wrong, registry, store);
  const std::vector<PriceRequest> requests = {request({0}, {"test"})};
  EXPECT_EQ(pricer.price(graph, requests).error().code, "record/cannot-read");
  EXPECT_EQ(store.counts().costs, 0U);
  PricerOptions no_worker = options();
  no_worker.measure.worker_command = {"/nonexistent"};
  Pricer without(no_worker, registry, store);
  EXPECT_EQ(without.price(graph, requests).error().code, "worker/cannot-start");
}

TEST_F(Pricing, ConversionsHaveCostsAndArtifacts) {
  Pricer pricer(options(), registry, store);
  const Conversion conversion = {.type = test::f32_type({4, 5}), .to = {.format = {"test:reversed"}}};
  const std::vector<ConversionRequest> requests = {
      {.conversion = conversion, .backends = {"test", "test:fault=run-hang"}}};
  PricerOptions short_limits = options();
  short_limits.measure.run_limit = 1500ms;
  Pricer impatient(short_limits, registry, store);
  const auto priced = impatient.price(requests);
  ASSERT_TRUE(priced);
  EXPECT_TRUE(is_measured((*priced)[0][0]));
  EXPECT_EQ(reason_of((*priced)[0][1]), RefusalReason::kTimeout);
  const auto artifact = pricer.artifact_for(conversion, "test");
  ASSERT_TRUE(artifact);
  ASSERT_TRUE(*artifact);
  EXPECT_FALSE(pricer.worker().is_running());  // it was kept by the measurement
}

TEST_F(Pricing, ArtifactOfAMeasuredCandidateIsReused) {
  Pricer pricer(options(), registry, store);
  const PriceRequest sum = request({2}, {"test"});
  (void)price(pricer, {sum});
  Pricer next(options(), registry, store);
  const auto artifact = next.artifact_for(graph, sum.region, sum.candidates[0]);
  ASSERT_TRUE(artifact);
  ASSERT_TRUE(*artifact);
  EXPECT_EQ((*artifact)->artifact.constants, sum.region.constants);
  EXPECT_EQ((*artifact)->artifact.compatibility, "test 1");
  EXPECT_FALSE(next.worker().is_running());
}

TEST_F(Pricing, WrongNumbersThatWorkersFindAheadAreNotJudgedAgain) {
  if (WorkersAhead(test::worker_command()).width(1) < 2) GTEST_SKIP() << "one processor: no work ahead";
  const PriceRequest first = request({0}, {"test:fault=run-wrong"});
  const PriceRequest second = request({2}, {"test:fault=run-wrong"});
  Pricer making(options(), registry, store);
  making.make_ahead(graph, std::vector{first, second}, {}, Clock::time_point::max());
  const auto artifact = making.artifact_for(graph, first.region, first.candidates[0]);
  ASSERT_TRUE(artifact);
  ASSERT_FALSE(*artifact);
  EXPECT_EQ(artifact->error().reason, RefusalReason::kWrongResult);
  EXPECT_FALSE(making.worker().is_running());
  Pricer pricer(options(), registry, store);
  for (const auto& answers : price(pricer, {first, second}))
    EXPECT_EQ(reason_of(answers[0]), RefusalReason::kWrongResult);
  EXPECT_EQ(pricer.counts().refused, 2U);
  EXPECT_FALSE(pricer.worker().is_running());
}

TEST_F(Pricing, ArtifactOfAnotherPlaceIsPreparedAndVerified) {
  Pricer pricer(options(), registry, store);
  (void)price(pricer, {request({0}, {"test"})});
  pricer.worker().stop();
  const PriceRequest other = request({3}, {"test"});
  const auto artifact = pricer.artifact_for(graph, other.region, other.candidates[0]);
  ASSERT_TRUE(artifact);
  ASSERT_TRUE(*artifact);
  EXPECT_TRUE(pricer.worker().is_running());
  EXPECT_EQ(pricer.counts().measured, 1U);
}

TEST_F(Pricing, ArtifactIsPreparedAlthoughTheIdleWorkerWasKilled) {
  Pricer pricer(options(), registry, store);
  (void)price(pricer, {request({0}, {"test"})});
  ::kill(pricer.worker().pid(), SIGKILL);
  const PriceRequest other = request({3}, {"test"});
  const auto artifact = pricer.artifact_for(graph, other.region, other.candidates[0]);
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(*artifact) << artifact->error().detail;
}

TEST_F(Pricing, DamagedArtifactIsMadeAgain) {
  Pricer pricer(options(), registry, store);
  const PriceRequest sum = request({2}, {"test"});
  (void)price(pricer, {sum});
  const auto first = pricer.artifact_for(graph, sum.region, sum.candidates[0]);
  std::ofstream(store.artifact_folder() + "/" + (*first)->hash, std::ios::app) << "damage";
  const auto second = pricer.artifact_for(graph, sum.region, sum.candidates[0]);
  ASSERT_TRUE(second);
  ASSERT_TRUE(*second);
  EXPECT_EQ(**second, **first);
}

TEST_F(Pricing, ArtifactThatFailsItsCheckIsARefusalAndRemembered) {
  for (const char* fault : {"run-wrong", "compile-crash"}) {
    Pricer pricer(options(), registry, store);
    const PriceRequest wrong = request({0}, {std::string("test:fault=") + fault});
    const auto artifact = pricer.artifact_for(graph, wrong.region, wrong.candidates[0]);
    ASSERT_TRUE(artifact);
    EXPECT_FALSE(*artifact);
    Pricer next(options(), registry, store);
    const auto again = next.artifact_for(graph, wrong.region, wrong.candidates[0]);
    EXPECT_EQ(again->error(), artifact->error());
    EXPECT_FALSE(next.worker().is_running());
  }
}

TEST_F(Pricing, PortableArtifactIsVerifiedAsALesserProcessorRunsItToo) {
  for (const char* fault : {"none", "run-wrong", "load-fail"}) {
    SCOPED_TRACE(fault);
    const bool is_good = std::string(fault) == "none";
    Pricer pricer(options(), registry, store);
    const PriceRequest one = request({0}, {std::string("test:baseline=") + fault});
    const auto usual = pricer.artifact_for(graph, one.region, one.candidates[0]);
    ASSERT_TRUE(usual);
    EXPECT_TRUE(*usual) << "it is made for this processor";
    const auto portable = pricer.artifact_for(graph, one.region, one.candidates[0], {}, true);
    ASSERT_TRUE(portable);
    EXPECT_EQ(portable->has_value(), is_good);
    Pricer next(options(), registry, store);
    EXPECT_EQ(next.artifact_for(graph, one.region, one.candidates[0], {}, true)->has_value(), is_good);
    EXPECT_FALSE(next.worker().is_running()) << "remembered";
    EXPECT_TRUE(next.artifact_for(graph, one.region, one.candidates[0])->has_value());
  }
}

TEST_F(Pricing, StopLeavesTheRestUnknown) {
  std::stop_source source;
  PricerOptions stoppable = options();
  std::size_t reports = 0;
  stoppable.progress = [&](const ProgressEvent& event) {
    ++reports;
    EXPECT_EQ(event.phase, "price");
    EXPECT_EQ(event.total, 2U);
    source.request_stop();
  };
  Pricer pricer(stoppable, registry, store);
  const auto priced = price(pricer, {request({0}, {"test"}), request({2}, {"test"})}, {.stop = source.get_token()});
  EXPECT_EQ(reports, 1U);
  const int unknown =
      std::holds_alternative<Unknown>(priced[0][0].cost) + std::holds_alternative<Unknown>(priced[1][0].cost);
  EXPECT_EQ(unknown, 1);
  EXPECT_EQ(store.counts().costs, 1U);
}

TEST_F(Pricing, StopInterruptsAHangingCandidateWithoutBlamingIt) {
  std::stop_source source;
  Pricer pricer(options(), registry, store);
  std::jthread stopper([&] {
    std::this_thread::sleep_for(300ms);
    source.request_stop();
  });
  const auto priced = price(pricer, {request({0}, {"test:fault=run-hang"})}, {.stop = source.get_token()});
  EXPECT_TRUE(std::holds_alternative<Unknown>(priced[0][0].cost));
  EXPECT_EQ(store.counts().costs, 0U);
  const PriceRequest usual = request({0}, {"test"});
  EXPECT_EQ(pricer.artifact_for(graph, usual.region, usual.candidates[0], source.get_token()).error().code,
            "measure/stopped");
}

TEST_F(Pricing, WorksWithAStoreInMemory) {
  Store memory = std::move(*Store::open("memory:"));
  Pricer pricer(options(), registry, memory);
  const PriceRequest sum = request({2}, {"test"});
  EXPECT_TRUE(is_measured(price(pricer, {sum})[0][0]));
  const auto artifact = pricer.artifact_for(graph, sum.region, sum.candidates[0]);
  ASSERT_TRUE(artifact);
  EXPECT_TRUE(*artifact);
}

}  // namespace
}  // namespace collage
