// What backends compiled, in plans of one step: run where it is data, only loaded where machine code believes it.
#include <fstream>

#include "plan/file/plan_file.h"
#include "region/narrow_variant.h"
#include "tests/readers/plan_archive.h"
#include "tests/readers/reader.h"
#include "tests/readers/run_plan.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/small_networks.h"
#include "tests/support/whole_file.h"

namespace collage::test {
namespace {

constexpr const char* kPlanOfOne = "x.collage";

/// A plan whose only step is the graph as a region of this backend, in its first variant of plain ports that has or has
/// not products of split floats; nothing where it refuses.
std::optional<RealisedPlan> plan_of_one(const Graph& graph, const std::string& instance, bool splits) {
  const auto backend = test_registry().get(instance);
  if (!backend) return std::nullopt;
  const Region region = whole_region(graph, uses_of(graph));
  const auto variants =
      (*backend)->support(graph, region, {.accuracy = splits ? Accuracy::kFast : Accuracy::kStandard});
  if (!variants) return std::nullopt;
  for (const Variant& variant : *variants) {
    const auto is_plain = [](const Format& format) { return format.is_plain(); };
    if (variant.name == "view" || is_split(variant) != splits ||
        !std::ranges::all_of(variant.input_formats, is_plain) || !std::ranges::all_of(variant.output_formats, is_plain))
      continue;
    const CompileRequest compile{.graph = &graph, .region = region, .variant = variant, .model_bytes = std::nullopt};
    const auto made = (*backend)->compile({&compile, 1}, {});
    if (made.empty() || !made[0]) continue;
    const Cover cover{.steps = {{.backend = instance, .work = CoverKernel{region, variant}}}, .cost_ns = 0};
    RealiseRequest request;
    request.graph = &graph;
    request.cover = &cover;
    request.artifacts = {&*made[0]};
    request.copy_artifact = host_conversion;
    request.header.backends = {{instance, (*backend)->info().version, (*backend)->info().build}};
    auto plan = realise(request);
    if (plan) return *std::move(plan);
  }
  return std::nullopt;
}

std::vector<std::string> plans_of(const std::string& instance, const std::vector<std::string>& networks) {
  std::vector<std::string> plans;
  const ScratchFolder folder;
  for (const std::string& network : networks)
    for (const bool splits : {false, true}) {
      const auto plan = plan_of_one(testing_support::small_network(network, 1, 1), instance, splits);
      if (plan && save_plan(*plan, folder.file(kPlanOfOne))) plans.push_back(read_all(folder.file(kPlanOfOne)));
    }
  return plans;
}

/// All that it takes. Networks are tried in this order: what few backends take comes last.
const std::vector<std::string> kNetworks = {
    "conv relu6", "strided conv", "grouped conv", "residual", "max pool",  "average",      "gemm",   "matmul",
    "softmax",    "layer norm",   "leaky",        "prelu",    "add",       "concat",       "slice",  "gather",
    "transpose",  "pad",          "mean",         "resize",   "deconv",    "where",        "cumsum", "to depth",
    "exp",        "arg max",      "batch norm",   "gelu",     "embedding", "instance norm"};

void add_instance(std::vector<Reader>& all, const std::string& instance, const std::vector<std::string>& networks,
                  bool runs) {
  all.push_back({.name = "artifact_" + instance,
                 .samples = [instance, networks] { return plans_of(instance, networks); },
                 .mutate = [](const std::string& sample, const std::string&,
                              Dice& dice) { return mutated_artifact(sample, dice); },
                 .read =
                     [runs](const std::string& bytes, const std::filesystem::path& folder) {
                       write_bytes(folder / kPlanOfOne, bytes);
                       Answer answer = run_plan(folder / kPlanOfOne, runs);
                       std::filesystem::remove(folder / kPlanOfOne);
                       return answer;
                     },
                 .names = kPlanOfOne});
}

}  // namespace

void add_artifact_readers(std::vector<Reader>& all) {
  for (const char* instance : {"host", "onednn", "onednn3", "xnnpack", "blas", "mnn"})
    add_instance(all, instance, kNetworks, true);
  // A compiler runs for each.
  add_instance(all, "native", {"conv relu6", "softmax"}, false);
  for (const char* engine : {"onnxruntime", "openvino"}) add_instance(all, engine, {"conv relu6", "gemm"}, true);
}

}  // namespace collage::test
