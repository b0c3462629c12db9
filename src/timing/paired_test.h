// Which of two contenders is faster, asked after every round of a race: a sequential test on paired log ratios. It
// may be looked at after each round without losing its guarantee.
// In: both times of a round. Out: faster, slower, the same for all that matters, or not decided yet.
// How: four claims are bet against: "not faster by more than `margin`", "not slower by more than `margin`", "ahead
// by `same` or more", "behind by `same` or more". Each round gives a sign for or against a claim. A claim's wealth
// starts at 1; part of it is bet on the sign that contradicts the claim, and while the claim is true the wealth does
// not grow on average. A wealth of 1 / error therefore refutes the claim (Ville's inequality), whatever the noise is
// like.
// Bets are made on single rounds and on the least times of 4 and of 16 rounds, and the mean of the three wealths
// counts: where a neighbour slows the processor now and then, least times differ by what the code differs by. "By
// more than `margin`" and not "at all": buffers in different places make equal kernels differ by up to 1 %.
// Example, error 0.01, so that a wealth of 100 is needed: `a` takes 1.00 ms and `b` 1.05 ms in every round, so that
// each round is a sign against "a is not faster by 1 %". The share that is bet is 1/2 at first and rises as the
// signs agree: the wealth on single rounds is 1.5, 2.5, 4.4, 7.9, 14, 27, 50, 95, 180, 343 after rounds 1 to 10.
// With the 2.5 of the two bets on 4 rounds and the 1 of 16 rounds the mean is then 115: `a` is faster, decided in 10
// rounds.
// Cost: a few multiplications a round.
// Not here: taking the times (timing/race.h).
// Source: Ville 1939; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace collage {

enum class Verdict : std::uint8_t {
  kUnsure,  ///< not decided: more rounds might tell
  kFaster,  ///< by more than the margin
  kSlower,  ///< by more than the margin
  kSame     ///< within what counts as the same
};
[[nodiscard]] std::string_view name_of(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdict_named(std::string_view name);

struct PairedTestOptions {
  double margin = 0.01;  ///< log ratio that a winner is ahead by at least
  double same = 0.02;    ///< log ratio below which two are the same
  double error = 0.01;   ///< probability of refuting a claim that is true
};

/// A bet that a sign is "+" more often than not, where the claim is that it is not.
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
  /// Once decided it stays; faster and slower go before the same.
  [[nodiscard]] Verdict verdict() const { return verdict_; }

 private:
  enum Claim : std::uint8_t { kNotAhead, kNotBehind, kFarAhead, kFarBehind, kClaims };
  /// Bets on the least times of so many rounds.
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
