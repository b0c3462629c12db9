// Failures of the test backend as reproduction bundles, and a reader of their folder.
#pragma once

#include "base/json_numbers.h"
#include "measure/repro_keeper.h"
#include "measure/repro_replay.h"
#include "tests/measure/pricing_fixture.h"

namespace collage::test {

struct ReproLab : PricingLab {
  std::string repros = folder.file("repros");
  ReproKeeper keeper{repros};

  PricerOptions watched() {
    PricerOptions made = options();
    made.repros = &keeper;
    return made;
  }

  /// The bundle of one candidate that fails.
  std::string bundle_of(const std::string& backend, const std::vector<std::size_t>& nodes = {1, 2}) {
    PricerOptions impatient = watched();
    if (backend.find("hang") != std::string::npos)
      impatient.measure.compile_limit = impatient.measure.run_limit = std::chrono::milliseconds(800);
    Pricer pricer(impatient, registry, store);
    (void)price(pricer, {request(nodes, {backend})});
    EXPECT_EQ(keeper.kept().size(), 1U) << backend;
    if (keeper.kept().empty()) return {};
    EXPECT_EQ(keeper.kept()[0].note, "");
    return keeper.kept()[0].folder;
  }

  ReplayReport replay(const std::string& bundle, const std::vector<std::string>& backends = {}) {
    auto report = replay_bundle(
        bundle, {.worker_command = worker_command(), .backends = backends, .limit = std::nullopt, .stop = {}},
        registry);
    EXPECT_TRUE(report) << to_string(report.error());
    return report ? std::move(*report) : ReplayReport{.folder = {}, .recorded = {}, .replays = {}};
  }

  [[nodiscard]] std::vector<std::string> bundles() const {
    std::vector<std::string> names;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(repros, missing))
      names.push_back(entry.path().filename());
    return names;
  }
};

}  // namespace collage::test
