// Keeps the answers of pricing in the store and counts them.
#pragma once

#include <set>
#include <string>

#include "measure/price_group.h"
#include "store/store.h"

namespace collage {

/// One thread. The store outlives it.
class AnswerBook {
 public:
  explicit AnswerBook(Store& store) : store_(store) {}

  /// Answers from the store; false when it does not know. Where a sample is enough, one that was taken before comes
  /// before the cost, so that a tune that is repeated sees the same as the first time.
  bool reuse(const std::string& key, Effort effort, Answers& answers);
  /// Found now.
  void note(const std::string& key, Cost cost, Answers& answers, const Samples& samples = {});
  /// Refused for what is known of others: nothing is known of this candidate itself, so it is not stored.
  void refuse_unstored(const std::string& key, const Refusal& refusal, Answers& answers);

  [[nodiscard]] const PriceCounts& counts() const { return counts_; }

 private:
  bool reuse(const std::string& key, std::optional<Cost> known, Answers& answers);

  Store& store_;
  std::set<std::string> timed_;  ///< now
  PriceCounts counts_;
};

}  // namespace collage
