#include "tests/conformance/run_case.h"

#include <algorithm>

#include "backend/held_value.h"
#include "measure/trial.h"
#include "numbers/compare.h"
#include "numbers/quantisers.h"
#include "region/candidates.h"
#include "region/narrow_variant.h"
#include "tests/support/bound_kernel.h"

namespace collage::conformance {
namespace {

constexpr CompileOptions kStandardOptions{.threads = 1, .accuracy = Accuracy::kStandard};
constexpr CompileOptions kFastOptions{.threads = 1, .accuracy = Accuracy::kFast};

Outcome refused(const Refusal& refusal) {
  return {.kind = Outcome::Kind::kRefused, .reason = std::string(name_of(refusal.reason)), .detail = refusal.detail};
}

Outcome failed(std::string detail) {
  return {.kind = Outcome::Kind::kFailed, .reason = {}, .detail = std::move(detail)};
}

std::string to_text(const Variant& variant) {
  std::string text = variant.name + '(';
  for (const Format& format : variant.input_formats) text += format.name + ' ';
  text += "->";
  for (const Format& format : variant.output_formats) text += ' ' + format.name;
  return text + ')';
}

/// A case's graph as one region, and its values by port.
struct Subject {
  const Graph* graph;
  Uses uses;
  Region region;
  std::vector<TrialPort> inputs;  ///< formats still plain
  std::vector<TrialPort> outputs;
  CompileOptions options = kStandardOptions;
};

TrialPort port_of(const Graph& graph, ValueId id, const std::vector<ValueId>& ids, const std::vector<Tensor>& values) {
  const auto at = std::find(ids.begin(), ids.end(), id) - ids.begin();
  TrialPort port{.port = {.name = graph.value(id).name, .type = graph.value(id).type}, .recorded = {}};
  if (static_cast<std::size_t>(at) < values.size()) port.recorded = values[static_cast<std::size_t>(at)];
  return port;
}

Subject subject_of(const Case& which) {
  const Graph& graph = which.graph;
  Subject subject{.graph = &graph, .uses = uses_of(graph), .region = {}, .inputs = {}, .outputs = {}};
  subject.region = whole_region(graph, subject.uses);
  for (const ValueId id : subject.region.inputs)
    subject.inputs.push_back(port_of(graph, id, graph.inputs, which.inputs));
  for (const ValueId id : subject.region.outputs) {
    subject.outputs.push_back(port_of(graph, id, graph.outputs, which.expected.value_or(std::vector<Tensor>{})));
    subject.outputs.back().slack = step_of(graph, subject.uses, subject.region, id);
  }
  return subject;
}

std::vector<TrialPort> in_formats(std::vector<TrialPort> ports, const std::vector<Format>& formats,
                                  const std::string& location = kHome) {
  for (std::size_t i = 0; i < ports.size(); ++i) ports[i].port.place = {.location = location, .format = formats[i]};
  return ports;
}

std::vector<Port> ports_of(const std::vector<TrialPort>& trial_ports) {
  std::vector<Port> ports;
  for (const TrialPort& port : trial_ports) ports.push_back(port.port);
  return ports;
}

Result<std::vector<Tensor>> constants_of(const Subject& subject, const Artifact& artifact) {
  std::vector<Tensor> constants;
  for (const ValueId id : artifact.constants) {
    const auto& known = subject.region.constants;
    if (std::find(known.begin(), known.end(), id) == known.end())
      return fail(ExitCode::kBug, "conformance/foreign-constant", "artifact", std::to_string(id.index), "the region's");
    constants.push_back(*subject.graph->value(id).constant);
  }
  return constants;
}

/// Runs an artifact once, an output in the memory of an input where `shared` says so.
Result<std::vector<Tensor>> run_once(const Subject& subject, const Variant& variant, const Artifact& artifact,
                                     Backend& backend, Laboratory& laboratory,
                                     std::optional<test::SharedPorts> shared = std::nullopt) {
  COLLAGE_TRY(std::vector<Tensor> constants, constants_of(subject, artifact));
  const LoadRequest request{.artifact = artifact,
                            .constants = std::move(constants),
                            .inputs = ports_of(in_formats(subject.inputs, variant.input_formats)),
                            .outputs = ports_of(in_formats(subject.outputs, variant.output_formats)),
                            .threads = subject.options.threads};
  std::vector<Tensor> inputs;
  for (const TrialPort& port : subject.inputs) inputs.push_back(port.recorded);
  COLLAGE_TRY(const std::unique_ptr<Kernel> kernel, backend.load(request));
  COLLAGE_TRY(auto bound, test::BoundKernel::create(*kernel, request, inputs, laboratory.converter(), shared));
  return bound.run();
}

/// A view runs nothing: right when the bytes of its output in its format are those of its first input.
std::optional<std::string> judge_view(const Subject& subject, const Variant& variant, Laboratory& laboratory) {
  if (subject.inputs.empty() || subject.outputs.size() != 1) return "a view has inputs and one output";
  const auto bytes = [&](const TrialPort& port, const Format& format) -> Result<std::vector<std::byte>> {
    COLLAGE_TRY(const std::size_t size, laboratory.converter().bytes_of(port.port.type, format));
    std::vector<std::byte> result(size);
    COLLAGE_TRY_VOID(
        laboratory.converter().convert(port.port.type, plain(), port.recorded.data.bytes(), format, result, 1));
    return result;
  };
  const auto in = bytes(subject.inputs[0], variant.input_formats[0]);
  const auto out = bytes(subject.outputs[0], variant.output_formats[0]);
  if (!in || !out) return to_string(in ? out.error() : in.error());
  if (*in != *out) return "a view whose output's bytes are not those of its input";
  return std::nullopt;
}

std::optional<std::string> judge_twice(const Subject& subject, const Variant& variant, const Artifact& artifact,
                                       Backend& loader, Laboratory& laboratory) {
  const auto constants = constants_of(subject, artifact);
  if (!constants) return to_string(constants.error());
  auto trial = Trial::create({.backend = &loader,
                              .artifact = artifact,
                              .constants = *constants,
                              .inputs = in_formats(subject.inputs, variant.input_formats, loader.info().location),
                              .outputs = in_formats(subject.outputs, variant.output_formats, loader.info().location),
                              .threads = subject.options.threads,
                              .accuracy = subject.options.accuracy},
                             laboratory.converter());
  if (!trial) return trial.error().refusal.detail;
  if (const auto bad = trial->check(laboratory.converter())) return bad->refusal.detail;
  trial->displace(laboratory.displacer());
  if (const auto bad = trial->check(laboratory.converter())) return "second run: " + bad->refusal.detail;
  return std::nullopt;
}

std::optional<std::string> judge_in_place(const Subject& subject, const Variant& variant, const Artifact& artifact,
                                          Backend& loader, Laboratory& laboratory) {
  if (loader.info().location != kHome) return std::nullopt;  // buffers of run_once() lie at home
  for (const test::SharedPorts& shared : artifact.in_place) {
    const auto seen = run_once(subject, variant, artifact, loader, laboratory, shared);
    if (!seen) return "in place: " + to_string(seen.error());
    for (std::size_t i = 0; i < seen->size(); ++i) {
      const TrialPort& port = subject.outputs[i];
      const bool is_16bit = port.recorded.type == ElementType::kFloat16 || port.recorded.type == ElementType::kBfloat16;
      const Comparison comparison = compare((*seen)[i], port.recorded, subject.options.accuracy, is_16bit, port.slack);
      if (!comparison.ok) return "in place: output " + port.port.name + ": " + to_string(comparison);
    }
  }
  return std::nullopt;
}

std::optional<std::string> judge_variant(const Subject& subject, const Variant& variant, const Artifact& artifact,
                                         Backend& loader, Laboratory& laboratory) {
  if (auto bad = judge_twice(subject, variant, artifact, loader, laboratory)) return bad;
  return judge_in_place(subject, variant, artifact, loader, laboratory);
}

std::optional<std::string> wrong_variant(const Subject& subject, const Variant& variant) {
  if (variant.input_formats.size() == subject.inputs.size() && variant.output_formats.size() == subject.outputs.size())
    return std::nullopt;
  return "another number of formats than ports";
}

/// In class fast the variants in 16 bits alone are run: the others are those of class standard.
bool is_wanted(const Variant& variant, const CompileOptions& options) {
  return options.accuracy != Accuracy::kFast || is_narrow(variant);
}

/// What the backend offers for the region without labels, and what else with those that its rules give it.
std::expected<std::vector<CompileRequest>, Refusal> offers_of(const Backend& backend, const Subject& subject) {
  std::vector<std::vector<Match>> labels = labels_for(backend.rules(), *subject.graph, subject.region);
  labels.insert(labels.begin(), std::vector<Match>());
  std::vector<CompileRequest> offers;
  std::optional<Refusal> first_refusal;
  for (std::vector<Match>& matches : labels) {
    Region region = subject.region;
    region.matches = std::move(matches);
    const auto variants = backend.support(*subject.graph, region, subject.options);
    if (!variants && !first_refusal) first_refusal = variants.error();
    if (!variants) continue;
    for (const Variant& variant : *variants)
      if (is_wanted(variant, subject.options) &&
          std::ranges::find(offers, variant, &CompileRequest::variant) == offers.end())
        offers.push_back({.graph = subject.graph, .region = region, .variant = variant, .model_bytes = {}});
  }
  if (offers.empty() && first_refusal) return std::unexpected(*first_refusal);
  return offers;
}

/// So many of a longer list, the first among them.
std::vector<CompileRequest> spread(std::vector<CompileRequest> offers, std::size_t count) {
  std::vector<CompileRequest> some;
  for (std::size_t i = 0; i < count; ++i) some.push_back(std::move(offers[i * offers.size() / count]));
  return some;
}

Outcome run_variants(Laboratory& laboratory, Backend& compiler, Backend& loader, const Subject& subject,
                     std::size_t variants) {
  auto offered = offers_of(compiler, subject);
  if (!offered) return refused(offered.error());
  // As a tune does it, whatever the backend offers.
  if (const auto held = refuse_held_ports(compiler, *subject.graph, subject.region)) return refused(*held);
  if (offered->empty() && subject.options.accuracy == Accuracy::kFast)
    return refused({.reason = RefusalReason::kType, .detail = "nothing in 16 bits"});
  if (offered->empty()) return failed("support() gave neither variants nor a refusal");
  if (offered->size() > variants) *offered = spread(*std::move(offered), variants);
  std::vector<CompileRequest> requests;
  for (CompileRequest& offer : *offered) {
    const Variant& variant = offer.variant;
    if (auto wrong = wrong_variant(subject, variant)) return failed(to_text(variant) + ": " + *wrong);
    if (variant.name != "view") {
      requests.push_back(std::move(offer));
    } else if (auto bad = judge_view(subject, variant, laboratory)) {
      return failed(to_text(variant) + ": " + *bad);
    }
  }
  bool ran = requests.size() < offered->size();
  // All at once, as a tune does it: the answers must come in the order of the requests.
  const auto artifacts = compiler.compile(requests, subject.options);
  if (artifacts.size() != requests.size()) return failed("compile() gave another number of results");
  std::optional<Outcome> first_refusal;
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    if (!artifacts[i]) {
      if (!first_refusal) first_refusal = refused(artifacts[i].error());
      continue;
    }
    if (const auto bad = judge_variant(subject, requests[i].variant, *artifacts[i], loader, laboratory))
      return failed(to_text(requests[i].variant) + ": " + *bad);
    ran = true;
  }
  return ran ? Outcome{} : *first_refusal;
}

}  // namespace

bool Laboratory::has(const std::string& kind) const {
  const std::vector<std::string> kinds = compiling_.kinds();
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

Result<std::vector<Tensor>> compute(Laboratory& laboratory, const std::string& instance, const Case& which) {
  COLLAGE_TRY(Backend * backend, laboratory.compiler(instance));
  const Subject subject = subject_of(which);
  const Variant variant{.name = "default",
                        .input_formats = std::vector<Format>(subject.inputs.size()),
                        .output_formats = std::vector<Format>(subject.outputs.size())};
  const auto refusal = [&](const Refusal& no) {
    return fail(ExitCode::kUnsupported, "conformance/refused", which.name + " on " + instance, no.detail);
  };
  if (const auto offered = backend->support(*subject.graph, subject.region, subject.options); !offered)
    return refusal(offered.error());
  const CompileRequest request{.graph = subject.graph, .region = subject.region, .variant = variant, .model_bytes = {}};
  const auto artifacts = backend->compile({&request, 1}, subject.options);
  if (!artifacts.at(0)) return refusal(artifacts[0].error());
  COLLAGE_TRY(const std::vector<Tensor> by_port, run_once(subject, variant, *artifacts[0], *backend, laboratory));
  std::vector<Tensor> outputs;
  for (const ValueId id : which.graph.outputs) {
    const auto at = std::find(subject.region.outputs.begin(), subject.region.outputs.end(), id);
    // An output that is an input or a constant is nothing that a backend computes.
    const bool is_computed = at != subject.region.outputs.end();
    outputs.push_back(is_computed ? by_port[static_cast<std::size_t>(at - subject.region.outputs.begin())] : Tensor{});
  }
  return outputs;
}

Outcome run_narrow(Laboratory& laboratory, const std::string& instance, const Case& which) {
  const auto compiler = laboratory.compiler(instance);
  const auto loader = laboratory.loader(instance);
  if (!compiler || !loader) return failed(to_string(compiler ? loader.error() : compiler.error()));
  Subject subject = subject_of(which);
  subject.options = kFastOptions;
  auto outcome = guard([&] { return run_variants(laboratory, **compiler, **loader, subject, kAllVariants); });
  return outcome ? *outcome : failed("threw: " + outcome.error());
}

Outcome run_case(Laboratory& laboratory, const std::string& instance, const Case& which, std::size_t variants) {
  const auto compiler = laboratory.compiler(instance);
  const auto loader = laboratory.loader(instance);
  if (!compiler || !loader) return failed(to_string(compiler ? loader.error() : compiler.error()));
  const Subject subject = subject_of(which);
  auto outcome = guard([&] { return run_variants(laboratory, **compiler, **loader, subject, variants); });
  if (!outcome) return failed("threw: " + outcome.error());
  // Another variant may run where the first ones do not.
  if (outcome->kind == Outcome::Kind::kRefused && variants != kAllVariants)
    return run_case(laboratory, instance, which);
  return *outcome;
}

}  // namespace collage::conformance
