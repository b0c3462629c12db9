#include "measure/candidate_setup.h"

#include "backend/extensions/format_extension.h"
#include "backend/extensions/portability_extension.h"
#include "backend/held_value.h"
#include "region/narrow_variant.h"
#include "store/artifact_file.h"

namespace collage {

bool is_view(const CandidateSpec& spec) { return spec.variant.name == "view"; }

void CandidateSetup::set_up(JobCandidate& candidate) {
  const CandidateSpec& spec = candidate.spec;
  const PriceSubject& subject = run_.subject;
  run_.begin("compile", candidate);
  const auto backend = run_.bench.registry().get(spec.backend);
  if (!backend) return run_.refuse(candidate, RefusalReason::kMissing, backend.error().saw);
  if (!subject.conversion && (spec.variant.input_formats.size() != subject.inputs.size() ||
                              spec.variant.output_formats.size() != subject.outputs.size()))
    return run_.refuse(candidate, RefusalReason::kFormat, "another number of formats than ports");
  if (is_view(spec)) return;
  if (subject.conversion && subject.conversion->is_transfer()) return load(candidate, trial_spec(spec, **backend));
  if (const auto artifact = compiled_before(candidate)) {
    candidate.answer.artifact = candidate.compiled;
    return load_artifact(candidate, **backend, *artifact);
  }
  compile_and_load(candidate, **backend);
}

std::optional<Artifact> CandidateSetup::compiled_before(const JobCandidate& candidate) const {
  if (candidate.compiled.empty()) return std::nullopt;
  auto artifact = read_artifact(run_.job.artifact_folder, candidate.compiled, run_.subject.region.constants);
  return artifact ? std::optional(*std::move(artifact)) : std::nullopt;
}

void CandidateSetup::compile_and_load(JobCandidate& candidate, Backend& backend) {
  auto compiled = guard([&] { return compile(backend, candidate.spec); });
  if (has_changed_graph()) {
    lent_.reset();
    run_.harmed = true;
    return run_.refuse(candidate, RefusalReason::kWrongResult, "changed the graph it was given");
  }
  if (!compiled) {
    run_.harmed = true;
    return run_.refuse(candidate, RefusalReason::kCompile, "threw while compiling: " + compiled.error());
  }
  if (!*compiled) return run_.refuse(candidate, compiled->error());
  keep_and_load(candidate, backend, **compiled);
}

bool CandidateSetup::has_changed_graph() const {
  return lent_ && structure_key(*lent_, run_.subject.region) != structure_;
}

std::expected<Artifact, Refusal> CandidateSetup::compile(Backend& backend, const CandidateSpec& spec) {
  const PriceSubject& subject = run_.subject;
  CompileOptions options = run_.job.options;
  options.accuracy = class_of_candidate(spec);
  if (subject.conversion) return compile_conversion(backend, *subject.conversion, options);
  if (!lent_) {
    lent_ = *subject.graph;
    structure_ = structure_key(*lent_, subject.region);
  }
  if (auto held = refuse_held_ports(backend, *subject.graph, subject.region)) return std::unexpected(*std::move(held));
  CompileRequest request{.graph = &*lent_, .region = subject.region, .variant = spec.variant};
  request.region.matches = matches_of(subject.region, spec.labels);
  auto results = backend.compile({&request, 1}, options);
  if (results.size() == 1) return std::move(results[0]);
  return std::unexpected(Refusal{.reason = RefusalReason::kCompile, .detail = "gave no artifact"});
}

void CandidateSetup::keep_and_load(JobCandidate& candidate, Backend& backend, const Artifact& artifact) {
  auto stored = write_artifact(run_.job.artifact_folder, artifact, run_.subject.region.constants);
  if (!stored && stored.error().code == "artifact/foreign-constant")
    return run_.refuse(candidate, RefusalReason::kCompile,
                       "its artifact wants a constant that the region does not read");
  // A full disk is not the candidate's fault: it is measured, and compiled again when it is chosen.
  if (stored) candidate.answer.artifact = *stored;
  if (run_.job.effort != Effort::kCompile) load_artifact(candidate, backend, artifact);
}

void CandidateSetup::load_artifact(JobCandidate& candidate, Backend& backend, const Artifact& artifact) {
  TrialSpec trial = trial_spec(candidate.spec, backend);
  trial.artifact = artifact;
  for (const ValueId id : artifact.constants) trial.constants.push_back(*run_.subject.graph->value(id).constant);
  // Of a portable artifact the code for this processor was checked when it was not portable; here the fallback code is.
  const std::string baseline = run_.job.options.portable ? baseline_instance(backend) : "";
  if (!baseline.empty()) {
    const auto found = run_.bench.registry().get(baseline);
    if (!found) return run_.refuse(candidate, RefusalReason::kMissing, found.error().saw);
    trial.backend = *found;
  }
  load(candidate, std::move(trial));
}

void CandidateSetup::load(JobCandidate& candidate, TrialSpec spec) {
  run_.begin("load", candidate);
  auto trial = Trial::create(std::move(spec), run_.bench.converter());
  if (!trial) return run_.accept(candidate, std::move(trial.error()));
  candidate.trial = std::move(*trial);
}

Accuracy CandidateSetup::class_of_candidate(const CandidateSpec& spec) const {
  const Accuracy asked = run_.job.options.accuracy;
  if (!run_.subject.conversion) return class_of(spec.variant, asked);
  return run_.subject.conversion->keeps_elements() ? without_16_bits(asked) : asked;
}

TrialSpec CandidateSetup::trial_spec(const CandidateSpec& spec, Backend& backend) const {
  const PriceSubject& subject = run_.subject;
  TrialSpec trial{.backend = &backend,
                  .inputs = subject.inputs,
                  .outputs = subject.outputs,
                  .threads = run_.job.options.threads,
                  .accuracy = class_of_candidate(spec),
                  .exact = subject.conversion && subject.conversion->keeps_elements()};
  if (subject.conversion) return trial;
  const auto place = [&](std::vector<TrialPort>& ports, const std::vector<Format>& formats) {
    for (std::size_t p = 0; p < ports.size(); ++p) {
      ports[p].port.place = {.location = backend.info().location, .format = formats[p]};
    }
  };
  place(trial.inputs, spec.variant.input_formats);
  place(trial.outputs, spec.variant.output_formats);
  return trial;
}

}  // namespace collage
