// The stage of a price job that judges candidates: outputs against the record, then against what the reference gives
// for other input sets (input_sets.h); after the timing once more, with what the runs have left behind. In: a candidate
// with its trial. Out: nothing when all is right, else its refusal. Cost: a run per input set; the first candidate pays
// for the reference's runs, unless a job before did.
#pragma once

#include <optional>
#include <vector>

#include "measure/price_run.h"
#include "numbers/input_set_cache.h"

namespace collage {

class CandidateJudge {
 public:
  explicit CandidateJudge(PriceRun& run) : run_(run) {}

  /// On the recorded inputs alone, before a sample.
  void judge_recorded(JobCandidate& candidate);
  /// On all inputs, before it is timed. A view runs nothing: it is right when its bytes lie where it says.
  void judge(JobCandidate& candidate);
  /// After the timing: numbers, what runs leave behind, how many processors they use.
  void judge_again(JobCandidate& candidate);

 private:
  void judge_on(const char* stage, JobCandidate& candidate, const InputSet* set);
  [[nodiscard]] const std::vector<double>& slacks(const JobCandidate& candidate);
  void judge_view(JobCandidate& candidate);
  void judge_view_on(JobCandidate& candidate, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs);
  void judge_numbers_again(JobCandidate& candidate);
  [[nodiscard]] const std::vector<InputSet>& sets(const JobCandidate& candidate);
  [[nodiscard]] SharedInputSets expected_sets(const JobCandidate& candidate);

  PriceRun& run_;
  SharedInputSets sets_;                       ///< null before they are needed
  std::optional<std::vector<double>> slacks_;  ///< by output; nothing before they are needed
};

}  // namespace collage
