// A tuner for tests that share a store between processes: prices random candidates of the small graph until its time is
// over, and writes down what it learned. Arguments: a folder with graph.onnx and record, a seed, the first and the last
// candidate's number, seconds.
#include <cstdio>

#include "measure/pricer.h"
#include "tests/measure/measure_fixture.h"
#include "tests/measure/tuner_journal.h"
#include "tests/measure/tuner_regions.h"
#include "tests/support/dice.h"

namespace collage::test {
namespace {

struct Request {
  std::string folder;
  std::uint64_t seed = 0;
  std::size_t first = 0;
  std::size_t last = 0;
  double seconds = 0;
};

/// A few regions with a few candidates each; half of them from all numbers, half from the newest.
std::vector<PriceRequest> draw(const Request& request, const Graph& graph, Dice& dice) {
  std::vector<PriceRequest> drawn;
  const std::size_t count = request.last - request.first;
  for (std::size_t r = 0; r < 1 + dice.below(3); ++r) {
    PriceRequest one{.region = region_of(graph, dice.pick(tuner_regions())), .candidates = {}};
    for (std::size_t c = 0; c < 1 + dice.below(3); ++c) {
      const std::size_t build = request.last - 1 - dice.below(dice.one_in(2) ? count : (count + 7) / 8);
      one.candidates.push_back(
          {.backend = "test:build=" + std::to_string(build), .variant = plain_variant(one.region)});
    }
    drawn.push_back(std::move(one));
  }
  return drawn;
}

int tune(const Request& request) {
  const Graph graph = chain_graph();
  Registry registry(module_folders());
  Store store = std::move(*Store::open(request.folder + "/costs.sqlite"));
  Pricer pricer({.measure = {.worker_command = worker_command()},
                 .graph = {.graph_file = request.folder + "/graph.onnx", .record_file = request.folder + "/record"},
                 .progress = {}},
                registry, store);
  const std::string journal = request.folder + "/journal";
  const std::string tuner = std::getenv(kTunerVariable);
  Dice dice(request.seed);
  const auto end = Clock::now() + std::chrono::duration<double>(request.seconds);
  while (Clock::now() < end) {
    const std::vector<PriceRequest> requests = draw(request, graph, dice);
    const auto priced = pricer.price(graph, requests);
    if (!priced) return std::fprintf(stderr, "%s\n", to_string(priced.error()).c_str()), 1;
    for (std::size_t r = 0; r < requests.size(); ++r)
      for (std::size_t c = 0; c < requests[r].candidates.size(); ++c) {
        const auto* measured = std::get_if<Measured>(&(*priced)[r][c].cost);
        if (measured == nullptr) return std::fprintf(stderr, "a candidate without a time\n"), 1;
        std::vector<std::uint32_t> nodes;
        for (const std::size_t node : requests[r].region.nodes.members())
          nodes.push_back(static_cast<std::uint32_t>(node));
        append_line(journal, "ack " + name_of_candidate(nodes, requests[r].candidates[c].backend) + " " +
                                 std::to_string(measured->median_ns) + " " + tuner);
      }
  }
  for (const std::string& warning : store.warnings()) std::fprintf(stderr, "%s\n", warning.c_str());
  return store.warnings().empty() ? 0 : 1;
}

}  // namespace
}  // namespace collage::test

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  return collage::test::tune({.folder = argv[1],
                              .seed = std::strtoull(argv[2], nullptr, 10),
                              .first = std::strtoull(argv[3], nullptr, 10),
                              .last = std::strtoull(argv[4], nullptr, 10),
                              .seconds = std::atof(argv[5])});
}
