// The evolutionary search, by an example: ten nodes, one engine E, one backend P. A genome has one line for each
// segment.
//
//   level 1's cover        E alone               a range of E
//   0 10 level1            0 10 region E         0 4 level1
//                                                4 10 region E
//
// These seeds are evaluated: 100, 90 and 80 us end to end. A generation makes children of them:
//   tournament   of a few drawn at random the fastest is a parent: the second and the third
//   crossed      between the common borders 0 and 10, or after a move between 4 and 10
//   moved        one of: merge two segments, split a region, assign a range to another owner, shift a border:
//                "4 10 region E" split at 7 gives 4..7 and 7..10, two regions of E
// Each child is decoded to a cover (genome_cover.h) and predicted from the times of regions that are known. One half of
// those evaluated are predicted best, the other half are drawn, since the prediction ignores cache effects. Covers
// seen before are dropped. The next population has the best of all so far, then winners of tournaments.
#include "search/evolve.h"

#include <algorithm>
#include <set>

namespace collage {
namespace {

/// A genome with its cover, not evaluated yet.
struct Child {
  Genome genome;
  Cover cover;
};

class Evolution {
 public:
  Evolution(const Level2Problem& problem, const CoverEvaluator& evaluate, const EvolveOptions& options)
      : evaluate_(evaluate), options_(options), decoder_(problem), random_(options.seed) {}

  Result<EvolveResult> run() {
    COLLAGE_TRY_VOID(prepare());
    evaluate(seeds());
    report();
    std::size_t idle = 0;
    while (result_.finished && result_.generations < options_.generations && idle < options_.patience) {
      const std::int64_t before = best_ns();
      std::vector<Child> children = select(breed());
      if (children.empty()) break;
      evaluate(std::move(children));
      next_population();
      ++result_.generations;
      report();
      idle = static_cast<double>(best_ns()) < (1 - options_.least_gain) * static_cast<double>(before) ? 0 : idle + 1;
    }
    if (!population_.empty()) result_.best = std::move(population_.front());
    return std::move(result_);
  }

 private:
  Result<void> prepare() {
    const Level2Problem& problem = decoder_.problem();
    COLLAGE_TRY(level1_, decoder_.cover_of(genome_of_one(problem.graph->nodes.size(), {})));
    space_.places = block_places(*problem.graph, *problem.uses);
    space_.genes = choose_genes(decoder_, space_.places, level1_);
    space_.owners = {{}};
    for (const std::string& engine : problem.engines) space_.owners.push_back({OwnerKind::kRegion, engine});
    for (const std::string& backend : problem.backends) space_.owners.push_back({OwnerKind::kOnly, backend});
    space_.rates = options_.moves;
    return {};
  }

  std::vector<Child> seeds() {
    std::vector<Child> children;
    for (Genome& genome : seed_genomes(decoder_, space_.places, level1_, options_.ranges_per_engine))
      add_if_new(std::move(genome), children);
    return children;
  }

  /// Genomes without a cover and covers seen before are dropped.
  void add_if_new(Genome genome, std::vector<Child>& children) {
    if (!seen_genomes_.insert(to_text(genome)).second) return;
    auto cover = decoder_.cover_of(genome);
    if (!cover) return;
    Cover steps = *cover;
    steps.cost_ns = 0;
    if (!seen_covers_.insert(to_text(*decoder_.problem().graph, steps)).second) return;
    children.push_back({std::move(genome), std::move(*cover)});
  }

  [[nodiscard]] bool must_end() const {
    return options_.stop.stop_requested() || result_.evaluations >= options_.max_evaluations ||
           (options_.out_of_time && options_.out_of_time());
  }

  void evaluate(std::vector<Child> children) {
    for (Child& child : children) {
      if (must_end()) {
        result_.finished = false;
        break;
      }
      ++result_.evaluations;
      Result<Evaluation> evaluation = evaluate_(child.cover);
      if (!evaluation) {
        ++result_.failures;
        if (evaluation.error().exit != ExitCode::kInterrupted) continue;
        result_.finished = false;
        break;
      }
      decoder_.learn(child.cover, *evaluation);
      population_.push_back({std::move(child.genome), std::move(child.cover), std::move(*evaluation)});
    }
    // Of equal times the one found first: it is the simpler one.
    std::ranges::stable_sort(population_, {}, [](const Evolved& one) { return one.evaluation.ns; });
  }

  [[nodiscard]] std::int64_t best_ns() const { return population_.empty() ? 0 : population_.front().evaluation.ns; }

  void report() const {
    if (options_.on_generation && !population_.empty())
      options_.on_generation({result_.generations, result_.evaluations, &population_.front()});
  }

  /// The best of a few drawn; the population is sorted.
  std::size_t tournament(std::size_t first) {
    std::size_t winner = population_.size();
    for (std::size_t i = 0; i < options_.tournament; ++i)
      winner = std::min(winner, first + below(random_, population_.size() - first));
    return winner;
  }

  std::vector<Child> breed() {
    std::vector<Child> children;
    if (population_.empty()) return children;
    const std::size_t wanted = options_.children * options_.broods;
    for (std::size_t tries = 0; tries < 8 * wanted && children.size() < wanted && !options_.stop.stop_requested();
         ++tries) {
      Genome child = population_[tournament(0)].genome;
      const bool crosses = happens(random_, options_.crossover);
      if (crosses) child = crossed_at_random(child, population_[tournament(0)].genome, random_);
      if (!crosses || happens(random_, options_.further_move)) child = moved(child, space_, random_);
      while (happens(random_, options_.further_move)) child = moved(child, space_, random_);
      add_if_new(std::move(child), children);
    }
    return children;
  }

  /// One half by prediction, so that what was learnt counts; one half at random, because predictions are sums of parts.
  std::vector<Child> select(std::vector<Child> children) {
    std::ranges::stable_sort(children, {}, [](const Child& child) { return child.cover.cost_ns; });
    std::vector<Child> chosen;
    std::size_t by_prediction = (options_.children + 1) / 2;
    while (!children.empty() && chosen.size() < options_.children) {
      const std::size_t next = chosen.size() < by_prediction ? 0 : below(random_, children.size());
      chosen.push_back(std::move(children[next]));
      children.erase(children.begin() + static_cast<std::ptrdiff_t>(next));
    }
    for (const Child& child : children) forget(child);
    return chosen;
  }

  /// What was not evaluated may come again.
  void forget(const Child& child) {
    Cover steps = child.cover;
    steps.cost_ns = 0;
    seen_genomes_.erase(to_text(child.genome));
    seen_covers_.erase(to_text(*decoder_.problem().graph, steps));
  }

  void next_population() {
    while (population_.size() > options_.population) {
      // The loser of a tournament among those outside the elite goes.
      const std::size_t first = std::min(options_.elite, options_.population);
      std::size_t loser = first;
      for (std::size_t i = 0; i < options_.tournament; ++i)
        loser = std::max(loser, first + below(random_, population_.size() - first));
      population_.erase(population_.begin() + static_cast<std::ptrdiff_t>(loser));
    }
  }

  const CoverEvaluator& evaluate_;
  const EvolveOptions& options_;
  GenomeDecoder decoder_;
  std::mt19937_64 random_;
  Cover level1_;
  MoveSpace space_;
  std::vector<Evolved> population_;  ///< best first
  std::set<std::string> seen_genomes_;
  std::set<std::string> seen_covers_;
  EvolveResult result_;
};

}  // namespace

Result<EvolveResult> evolve(const Level2Problem& problem, const CoverEvaluator& evaluate,
                            const EvolveOptions& options) {
  return Evolution(problem, evaluate, options).run();
}

}  // namespace collage
