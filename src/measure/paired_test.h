// Which of two is faster, asked after every round of a race: a sequential test on paired log ratios.
// In: one log ratio of times a round. Out: faster, slower, the same for all that matters, or not decided yet.
// How: four claims on the median ratio are bet against by signs, each with a wealth that cannot grow in the mean while
// the claim is true. A wealth of 1 / error refutes its claim, however often one looks, whatever the noise is like.
// "By more than `margin`" and not "at all": buffers in different places make equal kernels differ by up to 1 %.
// Cost: a few multiplications a round. Not here: taking the times (tune/race.h).
// Source: Ville 1939; Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024; the
// recipe of reference/reliability.md section 5.
#pragma once

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

  /// Of one round: log(time of the other / own time), above 0 when it was faster.
  void add(double log_ratio);
  /// Once decided it stays; faster and slower go before the same.
  [[nodiscard]] Verdict verdict() const { return verdict_; }

 private:
  void decide();

  PairedTestOptions options_;
  SignBet faster_;    ///< against "ahead by no more than the margin"
  SignBet slower_;    ///< against "behind by no more than the margin"
  SignBet not_far_;   ///< against "ahead by at least `same`"
  SignBet not_late_;  ///< against "behind by at least `same`"
  Verdict verdict_ = Verdict::kUnsure;
};

}  // namespace collage
