#include "measure/paired_test.h"

#include <algorithm>

namespace collage {
namespace {

/// Never all of the wealth: one sign the other way must not end the bet.
constexpr double kBoldest = 0.9;

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kSame:
      return "same";
    case Verdict::kUnsure:
      break;
  }
  return "unsure";
}

std::optional<Verdict> verdict_named(std::string_view name) {
  for (const Verdict verdict : {Verdict::kUnsure, Verdict::kFaster, Verdict::kSlower, Verdict::kSame})
    if (name == name_of(verdict)) return verdict;
  return std::nullopt;
}

void SignBet::add(bool plus) {
  // The share of the wealth follows from earlier signs alone (Krichevsky and Trofimov, with a hopeful start), and
  // only "+" is ever bet on.
  const double share = std::clamp((plus_ - minus_ + 1) / (plus_ + minus_ + 2), 0.0, kBoldest);
  wealth_ *= plus ? 1 + share : 1 - share;
  (plus ? plus_ : minus_) += 1;
}

void PairedTest::add(double log_ratio) {
  faster_.add(log_ratio > options_.margin);
  slower_.add(log_ratio < -options_.margin);
  not_far_.add(log_ratio < options_.same);
  not_late_.add(log_ratio > -options_.same);
  decide();
}

void PairedTest::decide() {
  if (verdict_ != Verdict::kUnsure) return;
  const double enough = 1 / options_.error;
  if (faster_.wealth() >= enough)
    verdict_ = Verdict::kFaster;
  else if (slower_.wealth() >= enough)
    verdict_ = Verdict::kSlower;
  else if (not_far_.wealth() >= enough && not_late_.wealth() >= enough)
    verdict_ = Verdict::kSame;
}

}  // namespace collage
