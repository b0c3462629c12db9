#include "measure/answer_book.h"

#include "base/json_reading.h"
#include "region/value_json.h"

namespace collage {
namespace {

std::string sample_key(const std::string& key) { return "sample " + key; }

std::optional<Cost> stored_sample(Store& store, const std::string& key) {
  const auto text = store.verdict(sample_key(key));
  if (!text) return std::nullopt;
  const auto json = parse_json(*text, "stored sample");
  if (!json) return std::nullopt;
  auto cost = read_json("stored sample", [&] { return cost_from(*json); });
  return cost ? std::optional(*std::move(cost)) : std::nullopt;
}

}  // namespace

bool AnswerBook::reuse(const std::string& key, Effort effort, Answers& answers) {
  return (effort == Effort::kSample && reuse(key, stored_sample(store_, key), answers)) ||
         reuse(key, store_.cost(key), answers);
}

bool AnswerBook::reuse(const std::string& key, std::optional<Cost> known, Answers& answers) {
  if (!known) return false;
  ++counts_.reused;
  if (std::holds_alternative<Infeasible>(*known)) ++counts_.refused;
  answers[key] = {.cost = *std::move(known), .reused = true};
  return true;
}

void AnswerBook::note(const std::string& key, Cost cost, Answers& answers, const Samples& samples) {
  if (is_sampled(cost))
    store_.put_verdict(sample_key(key), to_line(to_json(cost)));
  else
    store_.put_cost(key, cost, samples);
  if (std::holds_alternative<Infeasible>(cost))
    ++counts_.refused;
  else if (timed_.insert(key).second)
    ++counts_.measured;
  answers[key] = {.cost = std::move(cost), .reused = false};
}

void AnswerBook::refuse_unstored(const std::string& key, const Refusal& refusal, Answers& answers) {
  answers[key] = {.cost = Infeasible{refusal}};
  ++counts_.refused;
}

}  // namespace collage
