// Decides, after every round of a race, which of two contenders is faster: a sequential test on paired log ratios.
// In: the times of both in a round. Out: faster, slower, equal within the margin, or not decided yet.
//
// How it works. Each claim, such as "A is not faster than B by more than the margin", starts with a wealth of 1. After
// each round it is bet against on the sign of log(time of A / time of B): while the claim holds, no bet can increase
// the wealth on average. By Ville's inequality the wealth then exceeds 1 / error with probability at most `error`,
// however often it is checked and however the noise is distributed. So a claim is refuted when its wealth reaches 1 /
// error.
//
// Example with error 0.05 and bets of half the wealth: A is faster in every round, so the wealth against "A is not
// faster" is 1.5, 2.25, 3.4, 5.1, 7.6, 11.4, 17.1, 25.6; it passes 20 after 8 rounds and A is declared faster. Had A
// been faster in every other round only, the wealth would be multiplied by 1.5 x 0.5 = 0.75 every two rounds and never
// get there.
//
// The wealth is split over bets on single rounds and on the least times of several rounds, because the least times are
// robust where another process slows the processor now and then. The margin exists because equal kernels whose buffers
// lie at different addresses differ by up to 1 %. Cost: a few multiplications a round. race.h takes the times.
// Source: Ville 1939; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace collage {

enum class Verdict : std::uint8_t {
  kUnsure,  ///< not decided yet: more rounds are needed
  kFaster,  ///< by more than the margin
  kSlower,  ///< by more than the margin
  kSame     ///< within the margin for equal times
};
[[nodiscard]] std::string_view name_of(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdict_named(std::string_view name);

struct PairedTestOptions {
  double margin = 0.01;  ///< least log ratio of a winner
  double same = 0.02;    ///< log ratio below which two are the same
  double error = 0.01;   ///< probability of refuting a claim that is true
};

/// A bet that the sign is "+" in more than half of the cases, against the claim that it is not.
class SignBet {
 public:
  void add(bool plus);
  [[nodiscard]] double wealth() const { return wealth_; }

 private:
  double wealth_ = 1;
  double plus_ = 0;
  double minus_ = 0;
};

/// A value; one thread.
class PairedTest {
 public:
  explicit PairedTest(PairedTestOptions options = {}) : options_(options) {}

  /// Of one round, in any unit, above 0.
  void add(double own_time, double other_time);
  /// A decision is final; faster and slower take precedence over the same.
  [[nodiscard]] Verdict verdict() const { return verdict_; }

 private:
  enum Claim : std::uint8_t { kNotAhead, kNotBehind, kFarAhead, kFarBehind, kClaims };
  /// Bets on the least times of this many rounds.
  struct Scale {
    std::size_t rounds = 1;
    std::size_t seen = 0;
    double own = 0;
    double other = 0;
    std::array<SignBet, kClaims> bets = {};
  };

  void bet(Scale& scale) const;
  [[nodiscard]] bool is_refuted(Claim claim) const;
  void decide();

  PairedTestOptions options_;
  std::array<Scale, 3> scales_ = {{{.rounds = 1}, {.rounds = 4}, {.rounds = 16}}};
  Verdict verdict_ = Verdict::kUnsure;
};

}  // namespace collage
