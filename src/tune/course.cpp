#include "tune/course.h"

#include "base/hash.h"
#include "base/json.h"

namespace collage {

void Course::begin(Store& store, const std::string& question, double budget_s) {
  COLLAGE_CHECK(!has_begun(), "one question for a tune");
  key_ = "course|" + hash_hex(question);
  budget_s_ = budget_s;
  const auto stored = store.verdict(key_);
  if (!stored) return;
  const auto object = parse_json(*stored, "stored course");
  if (!object) return;
  auto read = read_json("stored course", [&] {
    return object->at("budget").get<double>() >= budget_s ? object->at("answers").get<std::vector<double>>()
                                                          : std::vector<double>{};
  });
  if (!read || read->empty()) return;
  recalled_ = *std::move(read);
  budget_s_ = object->at("budget").get<double>();
}

double Course::amount(double now) {
  const std::size_t asked = answers_.size();
  answers_.push_back(asked < recalled_.size() ? recalled_[asked] : now);
  return answers_.back();
}

void Course::save(Store& store) const {
  if (!has_begun() || answers_ == recalled_) return;
  store.put_verdict(key_, to_line(Json{{"budget", budget_s_}, {"answers", answers_}}));
}

}  // namespace collage
