#include "measure/price_job.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include <fmt/ranges.h>

#include "backend/format_extension.h"
#include "backend/portability_extension.h"
#include "backend/roles.h"
#include "base/hash.h"
#include "measure/price_subject.h"
#include "measure/trial.h"
#include "numbers/inputs.h"
#include "numbers/quantisers.h"
#include "numbers/view_check.h"
#include "store/artifact_file.h"
#include "timing/sampling.h"
#include "worker/process_state.h"
#include "worker/resource_check.h"

namespace collage {
namespace {

/// A round is not begun while the processor is slower than in a quiet moment by more than this, but no job waits longer
/// than this part of what its timing takes: on a machine that is never quiet waiting gains nothing.
constexpr double kMostSlowness = 1.25;
constexpr std::int64_t kPatienceShare = 20;
/// Runs for the figure with warm caches, after one more.
constexpr int kWarmRuns = 3;
/// What displacing the caches may take.
constexpr std::int64_t kDisplaceNs = 50'000'000;
/// A sign of life while candidates are timed, so that one that hangs is noticed soon.
constexpr std::int64_t kReportNs = 100'000'000;
/// What compiling the region for the reference and running it may take.
constexpr std::int64_t kExpectNs = 3'000'000'000;

/// A candidate on its way through the job.
struct JobCandidate {
  CandidateSpec spec;
  std::optional<Trial> trial;
  CandidateAnswer answer;
};

class PriceRun {
 public:
  PriceRun(const PriceJob& job, PriceSubject subject, Workbench& bench, JobContext& context)
      : job_(job), subject_(std::move(subject)), bench_(bench), context_(context) {}

  PriceAnswer run() {
    bench_.canary().learn(job_.quiet_ns);
    for (const CandidateSpec& spec : job_.candidates) candidates_.push_back({.spec = spec});
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      set_up(i);
      settle(i);
    }
    if (job_.effort != Effort::kPrepare) {
      time_all();
      for (std::size_t i = 0; i < candidates_.size(); ++i) judge_again(i);
    }
    PriceAnswer answer{.quiet_ns = bench_.canary().quiet_ns()};
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      // Taking a library's kernel down can kill too, so it is part of the job.
      context_.begin("unload", static_cast<std::int32_t>(i));
      candidates_[i].trial.reset();
      settle(i);
      answer.candidates.push_back(std::move(candidates_[i].answer));
    }
    context_.mark(-1);
    answer.harmed = harmed_ || has_leaked_much();
    return answer;
  }

 private:
  void refuse(std::size_t i, Refusal refusal) {
    candidates_[i].trial.reset();
    candidates_[i].answer = {.cost = Infeasible{std::move(refusal)}, .artifact = {}, .stage = context_.stage()};
  }

  void refuse(std::size_t i, RefusalReason reason, std::string detail) {
    refuse(i, Refusal{.reason = reason, .detail = std::move(detail)});
  }

  /// Refuses a candidate that left the process changed. The first refusal stays.
  void settle(std::size_t i) {
    const std::string changed = watch_.settle();
    if (changed.empty()) return;
    harmed_ = true;
    if (!std::holds_alternative<Infeasible>(candidates_[i].answer.cost))
      refuse(i, RefusalReason::kWrongResult, "changed the process: " + changed);
  }

  /// After the timing: numbers, what runs leave behind, how many processors they use.
  void judge_again(std::size_t i) {
    if (!candidates_[i].trial) return;
    const Usage before = usage_now();
    judge_numbers_again(i);
    if (candidates_[i].trial)
      if (auto refusal = check_resources(before, job_.options.threads, [&] { return run_guarded(i); })) {
        harmed_ = true;
        refuse(i, *std::move(refusal));
      }
    settle(i);
  }

  void set_up(std::size_t i) {
    const CandidateSpec& spec = candidates_[i].spec;
    context_.begin("compile", static_cast<std::int32_t>(i));
    const auto backend = bench_.registry().get(spec.backend);
    if (!backend) return refuse(i, RefusalReason::kMissing, backend.error().saw);
    if (!subject_.conversion && (spec.variant.input_formats.size() != subject_.inputs.size() ||
                                 spec.variant.output_formats.size() != subject_.outputs.size()))
      return refuse(i, RefusalReason::kFormat, "another number of formats than ports");
    if (spec.variant.name == "view") return check_view(i);
    if (subject_.conversion && subject_.conversion->is_transfer()) return make_trial(i, trial_spec(spec, **backend));
    auto compiled = guard([&] { return compile(**backend, spec); });
    if (lent_ && structure_key(*lent_, subject_.region) != structure_) {
      lent_.reset();
      harmed_ = true;
      return refuse(i, RefusalReason::kWrongResult, "changed the graph it was given");
    }
    if (!compiled) {
      harmed_ = true;
      return refuse(i, RefusalReason::kCompile, "threw while compiling: " + compiled.error());
    }
    if (!*compiled) return refuse(i, compiled->error());
    keep_and_try(i, **backend, **compiled);
  }

  std::expected<Artifact, Refusal> compile(Backend& backend, const CandidateSpec& spec) {
    if (subject_.conversion) return compile_conversion(backend, *subject_.conversion, job_.options);
    if (!lent_) {
      lent_ = *subject_.graph;
      structure_ = structure_key(*lent_, subject_.region);
    }
    CompileRequest request{.graph = &*lent_, .region = subject_.region, .variant = spec.variant};
    request.region.matches = matches_of(subject_.region, spec.labels);
    auto results = backend.compile({&request, 1}, job_.options);
    if (results.size() == 1) return std::move(results[0]);
    return std::unexpected(Refusal{.reason = RefusalReason::kCompile, .detail = "gave no artifact"});
  }

  void keep_and_try(std::size_t i, Backend& backend, const Artifact& artifact) {
    auto stored = write_artifact(job_.artifact_folder, artifact, subject_.region.constants);
    if (!stored && stored.error().code == "artifact/foreign-constant")
      return refuse(i, RefusalReason::kCompile, "its artifact wants a constant that the region does not read");
    // A full disk is not the candidate's fault: it is measured, and compiled again when it is chosen.
    if (stored) candidates_[i].answer.artifact = *stored;
    TrialSpec trial = trial_spec(candidates_[i].spec, backend);
    trial.artifact = artifact;
    for (const ValueId id : artifact.constants) trial.constants.push_back(*subject_.graph->value(id).constant);
    const std::string baseline = job_.options.portable ? baseline_instance(backend) : "";
    if (baseline.empty()) return make_trial(i, std::move(trial));
    try_baseline(i, baseline, std::move(trial));
  }

  /// The code for this processor was checked when the artifact was not portable; here the fallback code is.
  void try_baseline(std::size_t i, const std::string& baseline, TrialSpec trial) {
    const auto backend = bench_.registry().get(baseline);
    if (!backend) return refuse(i, RefusalReason::kMissing, backend.error().saw);
    trial.backend = *backend;
    make_trial(i, std::move(trial));
  }

  void make_trial(std::size_t i, TrialSpec spec) {
    context_.begin("load", static_cast<std::int32_t>(i));
    auto trial = Trial::create(std::move(spec), bench_.converter());
    if (!trial) {
      harmed_ |= trial.error().harmful;
      return refuse(i, std::move(trial.error().refusal));
    }
    candidates_[i].trial = std::move(*trial);
    judge(i, "verify", nullptr);
    if (!candidates_[i].trial || subject_.conversion) return;
    for (const InputSet& set : sets(i)) judge(i, "verify", &set);
    if (candidates_[i].trial && !sets(i).empty()) accept(i, candidates_[i].trial->restore(bench_.converter()));
  }

  void judge_numbers_again(std::size_t i) {
    judge(i, "verify again", nullptr);
    if (!sets_) return;
    for (const InputSet& set : *sets_)
      if (set.is_cheap) return judge(i, "verify again", &set);
  }

  /// Made when the first candidate needs them, if no job before did; none without a reference. A death while they are
  /// made says nothing about a candidate.
  const std::vector<InputSet>& sets(std::size_t i) {
    if (!sets_) sets_ = subject_.conversion || job_.recorded_only ? no_sets() : expected_sets(i);
    return *sets_;
  }

  static SharedInputSets no_sets() { return std::make_shared<const std::vector<InputSet>>(); }

  SharedInputSets expected_sets(std::size_t i) {
    const std::string key =
        fmt::format("{} {} {} {}", job_.nodes, job_.repeated, name_of(job_.options.accuracy), job_.seed);
    SharedInputSets made = bench_.input_sets().find(key);
    if (made) return made;
    context_.begin("expect", -1, kExpectNs);
    if (const auto reference = bench_.registry().get(kReferenceEngine)) {
      std::vector<Tensor> recorded;
      for (const TrialPort& port : subject_.inputs) recorded.push_back(port.recorded);
      made = std::make_shared<const std::vector<InputSet>>(
          make_input_sets(*subject_.graph, *subject_.uses, subject_.region, recorded, **reference,
                          {.accuracy = job_.options.accuracy, .seed = job_.seed}));
      bench_.input_sets().add(key, made);
    }
    context_.begin("verify", static_cast<std::int32_t>(i));
    return made ? made : no_sets();
  }

  TrialSpec trial_spec(const CandidateSpec& spec, Backend& backend) {
    TrialSpec trial{.backend = &backend,
                    .inputs = subject_.inputs,
                    .outputs = subject_.outputs,
                    .threads = job_.options.threads,
                    .accuracy = job_.options.accuracy,
                    .exact = subject_.conversion.has_value()};
    if (subject_.conversion) return trial;
    const auto place = [&](std::vector<TrialPort>& ports, const std::vector<Format>& formats) {
      for (std::size_t p = 0; p < ports.size(); ++p) {
        ports[p].port.place = {.location = backend.info().location, .format = formats[p]};
      }
    };
    place(trial.inputs, spec.variant.input_formats);
    place(trial.outputs, spec.variant.output_formats);
    return trial;
  }

  void judge(std::size_t i, const char* stage, const InputSet* set) {
    JobCandidate& candidate = candidates_[i];
    if (!candidate.trial) return;
    context_.begin(stage, static_cast<std::int32_t>(i), candidate.trial->checked_ns());
    accept(i, candidate.trial->check(bench_.converter(), set));
  }

  /// Refuses a candidate whose trial failed.
  void accept(std::size_t i, std::optional<TrialFailure> failed) {
    if (!failed) return;
    harmed_ |= failed->harmful;
    refuse(i, std::move(failed->refusal));
  }

  /// A view runs nothing: right when its bytes lie where it says.
  void check_view(std::size_t i) {
    if (subject_.conversion) return refuse(i, RefusalReason::kStructure, "a view is no conversion");
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    for (const TrialPort& port : subject_.inputs) inputs.push_back(port.recorded);
    for (const TrialPort& port : subject_.outputs) outputs.push_back(port.recorded);
    check_view(i, inputs, outputs);
    for (const InputSet& set : sets(i)) check_view(i, set.inputs, set.expected);
    if (std::holds_alternative<Infeasible>(candidates_[i].answer.cost)) return;
    if (job_.effort != Effort::kPrepare) candidates_[i].answer.cost = Measured{.samples = 1};
  }

  void check_view(std::size_t i, const std::vector<Tensor>& inputs, const std::vector<Tensor>& outputs) {
    const ViewPorts view{.graph = *subject_.graph,
                         .region = subject_.region,
                         .variant = candidates_[i].spec.variant,
                         .inputs = inputs,
                         .outputs = outputs};
    if (auto refusal = judge_view(view, bench_.converter(), job_.options.threads)) refuse(i, *std::move(refusal));
  }

  void time_all() {
    std::vector<std::size_t> live;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (candidates_[i].trial) live.push_back(i);
    if (live.empty()) return;
    SamplingOptions options = quick_sampling();
    options.seed = job_.seed;
    std::int64_t expected_ns = 0;
    std::int64_t longest_ns = 0;
    for (const std::size_t i : live) {
      const std::int64_t one_ns = candidates_[i].trial->checked_ns() + kDisplaceNs;
      expected_ns +=
          options.warm_up_ns + options.min_total_ns + static_cast<std::int64_t>(options.min_samples) * one_ns;
      longest_ns = std::max(longest_ns, one_ns);
    }
    std::int64_t patience_ns = expected_ns / kPatienceShare;
    std::int64_t reported_ns = 0;
    const auto report = [&] {
      if (monotonic_ns() - reported_ns < kReportNs) return;
      context_.begin("sample", -1, kReportNs + options.warm_up_ns + longest_ns + patience_ns);
      reported_ns = monotonic_ns();
    };
    report();
    std::vector<bool> spoilt(live.size(), false);
    std::size_t last = 0;
    SamplingSubject subject{.run = [&](std::size_t k) { return run_guarded(live[k]); },
                            .now_ns = monotonic_ns,
                            .before =
                                [&](std::size_t k) {
                                  if (watch_.settle_float_control()) spoilt[last] = true;
                                  last = k;
                                  report();
                                  context_.mark(static_cast<std::int32_t>(live[k]));
                                  wait_for_quiet(bench_.canary(), kMostSlowness, patience_ns);
                                },
                            .slowness = [&] { return bench_.canary().slowness(); }};
    if (job_.displaced_bytes > 0) {
      const Displacer& displacer = bench_.displacer(job_.displaced_bytes);
      subject.prepare = [&](std::size_t k) {
        displacer.run();
        candidates_[live[k]].trial->touch();
      };
    }
    NoiseWatch noise;
    subject.noise = &noise;
    // Threads of the libraries exist already, where they may run anywhere: all candidates have run.
    subject.threads = job_.options.threads;
    auto results = sample_all(live.size(), subject, options);
    if (watch_.settle_float_control()) spoilt[last] = true;
    for (std::size_t k = 0; k < live.size(); ++k) {
      if (!results[k]) {
        refuse(live[k], RefusalReason::kCompile, "run: " + results[k].error().saw);
        continue;
      }
      CandidateAnswer& answer = candidates_[live[k]].answer;
      answer.cost = results[k]->summary;
      answer.samples.ns = std::move(results[k]->samples_ns);
      if (job_.displaced_bytes > 0) answer.samples.warm_ns = warm_ns(live[k]);
      if (!spoilt[k]) continue;
      harmed_ = true;
      refuse(live[k], RefusalReason::kWrongResult, "changed the process: rounding or flush-to-zero");
    }
    // Who did it shows when each runs once more.
    if (!watch_.settle().empty()) harmed_ = true;
  }

  /// The median of a few runs that follow each other, with everything in the caches that fits; 0 when one fails, which
  /// the check to come will find.
  std::int64_t warm_ns(std::size_t i) {
    context_.mark(static_cast<std::int32_t>(i));
    std::vector<std::int64_t> samples;
    for (int run = 0; run <= kWarmRuns; ++run) {
      const std::int64_t begin = monotonic_ns();
      if (!run_guarded(i)) return 0;
      if (run > 0) samples.push_back(std::max<std::int64_t>(1, monotonic_ns() - begin));
    }
    return summarise(std::move(samples)).median_ns;
  }

  /// A try block costs nothing while nothing is thrown.
  Result<void> run_guarded(std::size_t i) {
    try {
      return candidates_[i].trial->run();
    } catch (const std::exception& exception) {
      return threw(exception.what());
    } catch (...) {
      return threw("an exception of unknown type");
    }
  }

  Result<void> threw(std::string what) {
    harmed_ = true;
    return fail(ExitCode::kUnsupported, "measure/threw", "run", "threw " + std::move(what));
  }

  const PriceJob& job_;
  PriceSubject subject_;
  Workbench& bench_;
  JobContext& context_;
  std::vector<JobCandidate> candidates_;
  SharedInputSets sets_;       ///< null before they are needed
  std::optional<Graph> lent_;  ///< what backends are given, so that one that changes it harms no other
  std::string structure_;      ///< of the region in it, untouched
  StateWatch watch_;
  bool harmed_ = false;
};

}  // namespace

Result<PriceAnswer> run_price_job(const PriceJob& job, Workbench& bench, JobContext& context) {
  COLLAGE_TRY(PriceSubject subject, price_subject(job, bench));
  return PriceRun(job, std::move(subject), bench, context).run();
}

}  // namespace collage
