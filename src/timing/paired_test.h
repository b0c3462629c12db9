// Which of two is faster, asked after every round of a race: a sequential test on paired log ratios.
// In: both times of a round. Out: faster, slower, the same for all that matters, or not decided yet.
// How: four claims on the ratio are bet against by signs, each with a wealth that cannot grow in the mean while the
// claim is true. A wealth of 1 / error refutes its claim, however often one looks, whatever the noise is like. The
// wealth is spread over bets on single rounds and on the least times of several rounds: where a neighbour slows the
// processor now and then, least times differ by what the code differs by. "By more than `margin`" and not "at all":
// buffers in different places make equal kernels differ by up to 1 %. Cost: a few multiplications a round. Not here:
// taking the times (timing/race.h). Source: Ville 1939; Waudby-Smith and Ramdas, "Estimating means of bounded random
// variables by betting", 2024; the recipe of reference/reliability.md section 5.
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
