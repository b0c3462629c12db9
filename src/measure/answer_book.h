// Keeps the answers of pricing in the store and counts them.
#pragma once

#include <string>

#include "measure/price_group.h"
#include "store/store.h"

namespace collage {

/// One thread. The store outlives it.
class AnswerBook {
 public:
  explicit AnswerBook(Store& store) : store_(store) {}

  /// Answers from the store; false when it does not know.
  bool reuse(const std::string& key, Answers& answers);
  /// Found now.
  void note(const std::string& key, Cost cost, Answers& answers, const Samples& samples = {});
  /// Refused for what is known of others: nothing is known of this candidate itself, so it is not stored.
  void refuse_unstored(const std::string& key, const Refusal& refusal, Answers& answers);

  [[nodiscard]] const PriceCounts& counts() const { return counts_; }

 private:
  Store& store_;
  PriceCounts counts_;
};

}  // namespace collage
