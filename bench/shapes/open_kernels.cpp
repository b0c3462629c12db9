// Kernels with open dimensions: the set that was chosen by measuring, with its dispatch, against the best single one of
// them, and against the best kernel made for each shape alone. Prints Markdown: a row for each shape, geometric means,
// what finding a kernel costs.
// Usage: open_kernels [--only matmul|conv2d] [--samples N] [--backend native] [--list]
// matmul: M = 1..1024, K = N = 768. conv2d: 3x3, 32 to 32 channels, channels_last, batch 1..16, size 32..256. One
// thread, contenders in turns, medians. Nothing else may run meanwhile.
#include <algorithm>
#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "backend/registry.h"
#include "base/random.h"
#include "timing/sampling.h"
#include "tune/shapes/open_model.h"

namespace collage::bench {
namespace {

struct OpenCase {
  std::string name;
  std::string text;  ///< with "$M" for dimensions
  ShapeDomain domain;
  std::vector<ShapePoint> points;
  Format format = plain();
  std::size_t choice_points = 24;
};

struct Options {
  std::string only;
  std::string backend = "native";
  std::size_t samples = 15;
  bool lists = false;
};

std::vector<OpenCase> cases() {
  OpenCase matmul{.name = "matmul",
                  .text =
                      "graph(%x: f32[$M,768], %w: f32[768,768], %wb: f32[768]) -> (%y) { "
                      "%m: f32[$M,768] = MatMul(%x, %w) %y: f32[$M,768] = Add(%m, %wb) }",
                  .domain = {.dimensions = {{"M", 1, 1024}}},
                  .points = {}};
  for (int i = 0; i < 12; ++i) matmul.points.push_back({std::llround(std::pow(1024.0, i / 11.0))});
  OpenCase convolution{.name = "conv2d",
                       .text =
                           "graph(%x: f32[$B,32,$S,$S], %w: f32[32,32,3,3], %wb: f32[32]) -> (%y) { "
                           "%c: f32[$B,32,$S,$S] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} "
                           "%y: f32[$B,32,$S,$S] = Relu(%c) }",
                       .domain = {.dimensions = {{"B", 1, 16}, {"S", 32, 256}}},
                       .points = {},
                       .format = channels_last(),
                       .choice_points = 16};
  for (const std::int64_t batch : {1, 4, 16})
    for (const std::int64_t size : {32, 57, 112, 256}) convolution.points.push_back({batch, size});
  return {matmul, convolution};
}

/// The text with names, or with the extents of a point.
std::string text_at(const OpenCase& one, const ShapePoint* point) {
  std::string text = one.text;
  for (std::size_t i = 0; i < one.domain.dimensions.size(); ++i) {
    const std::string& name = one.domain.dimensions[i].name;
    const std::string with = point != nullptr ? std::to_string((*point)[i]) : name;
    for (std::size_t at = text.find('$' + name); at != std::string::npos; at = text.find('$' + name))
      text.replace(at, name.size() + 1, with);
  }
  return text;
}

Result<Graph> graph_of(const std::string& text) {
  COLLAGE_TRY(Graph graph, parse_graph(text));
  graph.opsets[""] = 26;
  Random random(3);
  for (const ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (!value.name.starts_with('w')) continue;
    std::vector<float> numbers(static_cast<std::size_t>(element_count(value.type.extents())));
    for (float& number : numbers) number = static_cast<float>(2 * random.uniform() - 1);
    value.constant = make_tensor(ElementType::kFloat32, value.type.extents(), numbers);
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.value(id).constant.has_value(); });
  return graph;
}

/// A kernel of fixed shapes on its own output.
struct FixedKernel {
  std::string variant;
  std::unique_ptr<Kernel> kernel;
  PointMemory memory;
  std::unique_ptr<Call> call;
};

/// Every variant in the case's formats.
Result<std::vector<FixedKernel>> fixed_kernels(Backend& backend, const OpenCase& one, const ShapePoint& point,
                                               const Buffers& inputs, const Graph& graph) {
  const Region region = whole_region(graph, uses_of(graph));
  std::vector<FixedKernel> kernels;
  const auto variants = backend.support(graph, region, {});
  if (!variants) return fail(ExitCode::kUnsupported, "bench/refused", one.name, variants.error().detail);
  for (const Variant& variant : *variants) {
    if (variant.input_formats[0] != one.format || variant.output_formats[0] != one.format) continue;
    const CompileRequest request{.graph = &graph, .region = region, .variant = variant, .model_bytes = {}};
    const auto artifact = backend.compile({&request, 1}, {}).front();
    if (!artifact) return fail(ExitCode::kUnsupported, "bench/refused", variant.name, artifact.error().detail);
    LoadRequest load{.artifact = *artifact, .constants = {}, .inputs = {}, .outputs = {}};
    for (const ValueId id : artifact->constants) load.constants.push_back(*graph.value(id).constant);
    const Value& x = graph.value(region.inputs[0]);
    const Value& y = graph.value(region.outputs[0]);
    load.inputs.push_back({.name = x.name, .type = x.type, .place = {.format = one.format}});
    load.outputs.push_back({.name = y.name, .type = y.type, .place = {.format = one.format}});
    FixedKernel& made = kernels.emplace_back();
    made.variant = variant.name;
    COLLAGE_TRY(made.kernel, backend.load(load));
    Buffers buffers = inputs;
    COLLAGE_TRY(void* const output, made.memory.add(byte_count(y.type.element, y.type.extents())));
    buffers.outputs = {output};
    COLLAGE_TRY(buffers.workspace, made.memory.add(artifact->workspace_bytes + 1));
    COLLAGE_TRY(made.call, made.kernel->bind(buffers));
  }
  if (kernels.empty())
    return fail(ExitCode::kBug, "bench/no-variant", to_string(one.domain, point), "none", "a variant in these formats");
  return kernels;
}

std::vector<double> medians_us(const std::vector<Call*>& calls, std::size_t samples) {
  const SamplingSubject subject{
      .run = [&](std::size_t i) { return calls[i]->run(); }, .now_ns = monotonic_ns, .before = [](std::size_t) {}};
  SamplingOptions options = quick_sampling();
  options.min_samples = samples;
  options.few_samples = std::min<std::size_t>(samples, 7);
  std::vector<double> us;
  for (const Result<Timing>& timing : sample_all(calls.size(), subject, options))
    us.push_back(timing ? static_cast<double>(timing->summary.median_ns) / 1000 : 0);
  return us;
}

double mean_of(const std::vector<double>& ratios) {
  double logs = 0;
  for (const double ratio : ratios) logs += std::log(ratio);
  return std::exp(logs / static_cast<double>(ratios.size()));
}

/// The kernel for every shape with the least geometric mean over the points.
Result<std::size_t> best_single(const KernelBench& all, const std::vector<ShapePoint>& points) {
  std::vector<bool> takes_all;
  for (std::size_t k = 0; k < all.kernels().size(); ++k) takes_all.push_back(all.kernels().takes_all(k));
  std::vector<double> logs(takes_all.size(), 0);
  for (const ShapePoint& point : points) {
    COLLAGE_TRY(const KernelTimes times, all.time(point, takes_all));
    for (std::size_t k = 0; k < logs.size(); ++k) logs[k] += std::log(times[k]);
  }
  return static_cast<std::size_t>(std::ranges::min_element(logs) - logs.begin());
}

/// Nanoseconds of finding the kernel for extents of inputs, their check included.
double dispatch_ns(const KernelBench& set, const std::vector<ShapePoint>& points) {
  constexpr int kRounds = 20000;
  std::vector<std::vector<Extents>> extents;
  for (const ShapePoint& point : points) extents.push_back(set.extents_at(point));
  std::size_t sum = 0;
  const std::int64_t begin = monotonic_ns();
  for (int i = 0; i < kRounds; ++i)
    for (const std::vector<Extents>& one : extents) sum += set.kernels().choice(one).value_or(0);
  const std::int64_t end = monotonic_ns();
  if (sum == SIZE_MAX) std::cout << sum;
  return static_cast<double>(end - begin) / kRounds / static_cast<double>(points.size());
}

class CaseRun {
 public:
  CaseRun(Backend& backend, const OpenCase& one, const Options& options)
      : backend_(backend), one_(one), options_(options) {}

  Result<void> run() {
    COLLAGE_TRY(graph_, graph_of(text_at(one_, nullptr)));
    const Region region = whole_region(graph_, uses_of(graph_));
    request_ = {.graph = &graph_,
                .region = region,
                .formats = {.name = "", .input_formats = {one_.format}, .output_formats = {one_.format}},
                .domain = one_.domain};
    const std::int64_t begin = monotonic_ns();
    COLLAGE_TRY(made_, compile_open(backend_, request_, {}, {.most_points = one_.choice_points}));
    std::cout << fmt::format("\n## {} {}\n\nchosen in {:.1f} s from {} points: {} kernels, {} cases, {} KiB\n",
                             one_.name, to_string(one_.domain), static_cast<double>(monotonic_ns() - begin) * 1e-9,
                             made_.choice.points.size(), made_.kernels.size(), made_.choice.cases.size(),
                             made_.artifact.bytes.size() / 1024);
    if (options_.lists) list();
    COLLAGE_TRY(const KernelBench set, KernelBench::create(backend_, request_, made_.artifact, {}));
    COLLAGE_TRY(const KernelBench all, every_candidate());
    COLLAGE_TRY(const std::size_t single, best_single(all, one_.points));
    std::cout << fmt::format(
        "best single kernel of {}: {}\n\n| shape | single us | set us | fixed us | single/set | fixed/set | kernel "
        "|\n|---|---:|---:|---:|---:|---:|---|\n",
        all.kernels().size(), names_[single]);
    for (const ShapePoint& point : one_.points) COLLAGE_TRY_VOID(row(set, all, single, point));
    std::cout << fmt::format(
        "\nthe set is {:.3f}x the single kernel, {:.3f}x kernels of fixed shapes; finding a kernel "
        "takes {:.0f} ns\n",
        mean_of(against_single_), mean_of(against_fixed_), dispatch_ns(set, one_.points));
    return {};
  }

 private:
  void list() const {
    for (const KernelCase& one : made_.choice.cases)
      std::cout << fmt::format("  {} .. {}: {}\n", to_string(one_.domain, one.low), to_string(one_.domain, one.high),
                               made_.kernels[one.kernel]);
  }

  Result<KernelBench> every_candidate() {
    OpenCompiler* const compiler = extension_of<OpenCompiler>(backend_);
    const auto names = compiler->candidates(request_, {});
    if (!names) return fail(ExitCode::kUnsupported, "bench/refused", one_.name, names.error().detail);
    names_ = *names;
    auto artifact = compiler->compile_set(request_, names_, {}, {});
    if (!artifact) return fail(ExitCode::kUnsupported, "bench/refused", one_.name, artifact.error().detail);
    all_ = *std::move(artifact);
    return KernelBench::create(backend_, request_, all_, {});
  }

  Result<void> row(const KernelBench& set, const KernelBench& all, std::size_t single, const ShapePoint& point) {
    const std::vector<Extents> extents = set.extents_at(point);
    COLLAGE_TRY(const PointMemory memory, all.memory_at(point));
    COLLAGE_TRY(PointMemory own, set.memory_at(point));
    own.buffers.inputs = memory.buffers.inputs;
    COLLAGE_TRY(const Graph closed, graph_of(text_at(one_, &point)));
    COLLAGE_TRY(const std::vector<FixedKernel> fixed,
                fixed_kernels(backend_, one_, point, {.inputs = memory.buffers.inputs}, closed));
    COLLAGE_TRY(const auto single_call, all.kernels().bind_one(single, memory.buffers, extents));
    COLLAGE_TRY(const auto set_call, set.kernels().bind_at(own.buffers, extents));
    COLLAGE_TRY(const std::size_t choice, set.kernels().choice(extents));
    std::vector<Call*> calls = {single_call.get(), set_call.get()};
    for (const FixedKernel& one : fixed) calls.push_back(one.call.get());
    const std::vector<double> us = medians_us(calls, options_.samples);
    const double best = *std::min_element(us.begin() + 2, us.end());
    against_single_.push_back(us[0] / us[1]);
    against_fixed_.push_back(best / us[1]);
    std::cout << fmt::format("| {} | {:.1f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {} |\n",
                             to_string(one_.domain, point), us[0], us[1], best, us[0] / us[1], best / us[1],
                             made_.kernels[choice])
              << std::flush;
    return {};
  }

  Backend& backend_;
  const OpenCase& one_;
  const Options& options_;
  Graph graph_;
  OpenRequest request_;
  OpenModelArtifact made_;
  Artifact all_;
  std::vector<std::string> names_;
  std::vector<double> against_single_;
  std::vector<double> against_fixed_;
};

int run(const Options& options) {
  Registry registry(default_module_folders());
  const auto backend = registry.get(options.backend);
  if (!backend) {
    std::cerr << to_string(backend.error()) << '\n';
    return 1;
  }
  for (const OpenCase& one : cases()) {
    if (!options.only.empty() && one.name != options.only) continue;
    if (const auto done = CaseRun(**backend, one, options).run(); !done) {
      std::cerr << to_string(done.error()) << '\n';
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace collage::bench

int main(int count, char** arguments) {
  CLI::App app("Kernels with open dimensions against each other");
  collage::bench::Options options;
  app.add_option("--only", options.only, "One of the cases");
  app.add_option("--samples", options.samples, "Of each contender");
  app.add_option("--backend", options.backend, "Who compiles");
  app.add_flag("--list", options.lists, "Print the cases of each set");
  CLI11_PARSE(app, count, arguments);
  return collage::bench::run(options);
}
