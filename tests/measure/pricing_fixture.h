// A pricer's surroundings: a small graph with its record, a store, and the worker program with the test backend.
#pragma once

#include "measure/pricer.h"
#include "tests/measure/measure_fixture.h"

namespace collage::test {

struct PricingLab {
  PricingLab() {
    EXPECT_TRUE(write_graph_file(folder.file("graph.onnx"), graph));
    auto writer = RecordWriter::create(folder.file("inputs"));
    EXPECT_TRUE(writer->add("x", numbers({2, 300}, 1)));
    EXPECT_TRUE(writer->finish());
    WorkerProcess worker(worker_command());
    EXPECT_TRUE(record_in(worker, {.graph_file = folder.file("graph.onnx"),
                                   .inputs_file = folder.file("inputs"),
                                   .record_file = folder.file("record"),
                                   .backend = "test",
                                   .all_values = true,
                                   .model_file = std::nullopt}));
  }

  PricerOptions options() const {
    return {.measure = {.worker_command = worker_command()},
            .graph = {.graph_file = folder.file("graph.onnx"), .record_file = folder.file("record")},
            .progress = {}};
  }

  PriceRequest request(const std::vector<std::size_t>& nodes, const std::vector<std::string>& backends) const {
    PriceRequest made{.region = region_of(graph, nodes), .candidates = {}};
    for (const std::string& backend : backends)
      made.candidates.push_back({.backend = backend, .variant = plain_variant(made.region)});
    return made;
  }

  std::vector<std::vector<PricedCandidate>> price(Pricer& pricer, const std::vector<PriceRequest>& requests,
                                                  const MeasureLimits& limits = {},
                                                  Effort effort = Effort::kTime) const {
    auto priced = pricer.price(graph, requests, limits, effort);
    EXPECT_TRUE(priced) << to_string(priced.error());
    return priced ? *priced : std::vector<std::vector<PricedCandidate>>();
  }

  static RefusalReason reason_of(const PricedCandidate& candidate) {
    const auto* infeasible = std::get_if<Infeasible>(&candidate.cost);
    EXPECT_NE(infeasible, nullptr);
    return infeasible ? infeasible->refusal.reason : RefusalReason::kOperator;
  }

  static bool is_measured(const PricedCandidate& candidate) { return std::holds_alternative<Measured>(candidate.cost); }

  Graph graph = chain_graph();
  ScratchFolder folder;
  Registry registry{module_folders()};
  Store store = std::move(*Store::open("sqlite:" + folder.file("costs.sqlite")));
};

}  // namespace collage::test
