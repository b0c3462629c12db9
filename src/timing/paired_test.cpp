#include "timing/paired_test.h"

#include <algorithm>
#include <cmath>

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

void PairedTest::add(double own_time, double other_time) {
  for (Scale& scale : scales_) {
    scale.own = scale.seen == 0 ? own_time : std::min(scale.own, own_time);
    scale.other = scale.seen == 0 ? other_time : std::min(scale.other, other_time);
    if (++scale.seen < scale.rounds) continue;
    bet(scale);
    scale.seen = 0;
  }
  decide();
}

void PairedTest::bet(Scale& scale) const {
  const double ahead = std::log(scale.other / scale.own);
  scale.bets[kNotAhead].add(ahead > options_.margin);
  scale.bets[kNotBehind].add(ahead < -options_.margin);
  scale.bets[kFarAhead].add(ahead < options_.same);
  scale.bets[kFarBehind].add(ahead > -options_.same);
}

/// The mean of wealths that cannot grow cannot either.
bool PairedTest::is_refuted(Claim claim) const {
  double wealth = 0;
  for (const Scale& scale : scales_) wealth += scale.bets[claim].wealth();
  return wealth / static_cast<double>(scales_.size()) >= 1 / options_.error;
}

void PairedTest::decide() {
  if (verdict_ != Verdict::kUnsure) return;
  if (is_refuted(kNotAhead))
    verdict_ = Verdict::kFaster;
  else if (is_refuted(kNotBehind))
    verdict_ = Verdict::kSlower;
  else if (is_refuted(kFarAhead) && is_refuted(kFarBehind))
    verdict_ = Verdict::kSame;
}

}  // namespace collage
