#include "measure/answer_book.h"

namespace collage {

bool AnswerBook::reuse(const std::string& key, Answers& answers) {
  auto known = store_.cost(key);
  if (!known) return false;
  ++counts_.reused;
  if (std::holds_alternative<Infeasible>(*known)) ++counts_.refused;
  answers[key] = {.cost = *std::move(known), .reused = true};
  return true;
}

void AnswerBook::note(const std::string& key, Cost cost, Answers& answers, const Samples& samples) {
  store_.put_cost(key, cost, samples);
  const bool infeasible = std::holds_alternative<Infeasible>(cost);
  ++(infeasible ? counts_.refused : counts_.measured);
  answers[key] = {.cost = std::move(cost), .reused = false};
}

void AnswerBook::refuse_unstored(const std::string& key, const Refusal& refusal, Answers& answers) {
  answers[key] = {.cost = Infeasible{refusal}};
  ++counts_.refused;
}

}  // namespace collage
