#include "tune/shapes/open_model.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "backend/held_value.h"
#include "base/random.h"
#include "numbers/compare.h"
#include "timing/sampling.h"

namespace collage {
namespace {

std::unexpected<Error> refused(const Backend& backend, const Refusal& refusal) {
  return fail(ExitCode::kUnsupported, "backend/refused", backend.info().name, refusal.detail, "a region it takes");
}

/// Numbers of moderate size: what a kernel takes does not depend on them.
void fill(const ValueType& type, std::byte* bytes, Random& random) {
  const auto count = static_cast<std::size_t>(element_count(type.extents()));
  if (type.element == ElementType::kFloat32) {
    auto* numbers = reinterpret_cast<float*>(bytes);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(2 * random.uniform() - 1);
    return;
  }
  if (type.element == ElementType::kFloat64) {
    auto* numbers = reinterpret_cast<double*>(bytes);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = 2 * random.uniform() - 1;
    return;
  }
  // Whole numbers and bools: zeros and ones, little end first.
  const std::size_t width = byte_count(type.element, {1});
  for (std::size_t i = 0; i < count; ++i) bytes[i * width] = static_cast<std::byte>(random.below(2));
}

/// Who is clearly slower leaves after a few samples: there are dozens of kernels.
SamplingOptions choice_sampling() {
  SamplingOptions options = quick_sampling();
  options.warm_up_ns = 2'000'000;
  options.few_samples = 3;
  options.drop_ratio = 1.2;
  options.drop_rounds = 2;
  return options;
}

struct BoundKernel {
  std::size_t kernel = 0;
  std::unique_ptr<Call> call;
};

Result<std::vector<Tensor>> results_of(Call& call, std::size_t outputs) {
  COLLAGE_TRY_VOID(call.run());
  std::vector<Tensor> results;
  for (std::size_t port = 0; port < outputs; ++port) {
    COLLAGE_TRY(const DynamicOutput made, call.dynamic_output(port));
    COLLAGE_TRY(results.emplace_back(), copy_of(made));
  }
  return results;
}

bool agree(const std::vector<Tensor>& a, const std::vector<Tensor>& b, Accuracy accuracy) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!compare(a[i], b[i], accuracy, false).ok) return false;
  return true;
}

}  // namespace

Result<void*> PointMemory::add(std::size_t bytes) {
  pages.push_back(allocate_pages(bytes));
  if (pages.back() == nullptr)
    return fail(ExitCode::kLimit, "tune/out-of-memory", "a point of the domain", std::to_string(bytes) + " bytes",
                "less memory");
  touch_pages(pages.back().get(), bytes);
  return pages.back().get();
}

Result<KernelBench> KernelBench::create(Backend& backend, const OpenRequest& request, const Artifact& artifact,
                                        const CompileOptions& options) {
  KernelBench bench;
  bench.request_ = request;
  bench.options_ = options;
  bench.workspace_bytes_ = artifact.workspace_bytes;
  LoadRequest load{.artifact = artifact, .constants = {}, .inputs = {}, .outputs = {}, .threads = options.threads};
  for (const ValueId id : artifact.constants) load.constants.push_back(*request.graph->value(id).constant);
  const auto add_ports = [&](const std::vector<ValueId>& ids, const std::vector<Format>& formats,
                             std::vector<Port>& ports) {
    for (std::size_t i = 0; i < ids.size(); ++i)
      ports.push_back({.name = request.graph->value(ids[i]).name,
                       .type = request.graph->value(ids[i]).type,
                       .place = {.format = formats[i]}});
  };
  add_ports(request.region.inputs, request.formats.input_formats, load.inputs);
  add_ports(request.region.outputs, request.formats.output_formats, load.outputs);
  COLLAGE_TRY(bench.kernel_, backend.load(load));
  const OpenKernel* const open = bench.kernel_->as_open();
  bench.kernels_ = open != nullptr ? open->as_multi() : nullptr;
  if (bench.kernels_ == nullptr)
    return fail(ExitCode::kBug, "backend/bad-artifact", backend.info().name, "one kernel", "a set of them");
  return bench;
}

std::vector<Extents> KernelBench::extents_at(const ShapePoint& point) const {
  std::vector<Extents> extents;
  for (const ValueId id : request_.region.inputs)
    extents.push_back(type_at(request_.domain, point, request_.graph->value(id).type).extents());
  return extents;
}

Result<PointMemory> KernelBench::memory_at(const ShapePoint& point) const {
  const std::vector<Extents> extents = extents_at(point);
  PointMemory memory;
  Random random(1);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const ElementType element = request_.graph->value(request_.region.inputs[i]).type.element;
    COLLAGE_TRY(void* const bytes, memory.add(byte_count(element, extents[i])));
    fill(ValueType::tensor(element, extents[i]), static_cast<std::byte*>(bytes), random);
    memory.buffers.inputs.push_back(bytes);
  }
  memory.buffers.outputs.assign(request_.region.outputs.size(), nullptr);
  if (workspace_bytes_ == 0) return memory;
  COLLAGE_TRY(memory.buffers.workspace, memory.add(workspace_bytes_));
  return memory;
}

Result<KernelTimes> KernelBench::time(const ShapePoint& point, const std::vector<bool>& asked) const {
  const std::vector<Extents> extents = extents_at(point);
  COLLAGE_TRY(const PointMemory memory, memory_at(point));
  std::vector<BoundKernel> contenders;
  std::vector<Tensor> expected;
  for (std::size_t k = 0; k < kernels_->size(); ++k) {
    if (!asked[k] || !kernels_->serves(k, extents)) continue;
    COLLAGE_TRY(std::unique_ptr<Call> call, kernels_->bind_one(k, memory.buffers, extents));
    COLLAGE_TRY(const std::vector<Tensor> results, results_of(*call, memory.buffers.outputs.size()));
    if (expected.empty()) expected = results;
    if (agree(results, expected, options_.accuracy)) contenders.push_back({k, std::move(call)});
  }
  const SamplingSubject subject{.run = [&](std::size_t i) { return contenders[i].call->run(); },
                                .now_ns = monotonic_ns,
                                .before = [](std::size_t) {}};
  const auto timings = sample_all(contenders.size(), subject, choice_sampling());
  KernelTimes times(kernels_->size(), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (!timings[i]) return std::unexpected(timings[i].error());
    times[contenders[i].kernel] = static_cast<double>(timings[i]->summary.median_ns);
  }
  return times;
}

Result<OpenModelArtifact> compile_open(Backend& backend, const OpenRequest& request, const CompileOptions& options,
                                       const KernelChoiceOptions& choice) {
  OpenCompiler* const compiler = extension_of<OpenCompiler>(backend);
  if (compiler == nullptr) return refused(backend, {RefusalReason::kShape, "open dimensions"});
  const auto names = compiler->candidates(request, options);
  if (!names) return refused(backend, names.error());
  const auto all = compiler->compile_set(request, *names, {}, options);
  if (!all) return refused(backend, all.error());
  COLLAGE_TRY(const KernelBench bench, KernelBench::create(backend, request, *all, options));

  std::vector<bool> takes_all;
  for (std::size_t k = 0; k < names->size(); ++k) takes_all.push_back(bench.kernels().takes_all(k));
  OpenModelArtifact made;
  const auto time = [&](const ShapePoint& point, const std::vector<bool>& asked) { return bench.time(point, asked); };
  COLLAGE_TRY(made.choice, choose_kernels(request.domain, takes_all, time, choice));
  for (const std::size_t kernel : made.choice.kernels) made.kernels.push_back((*names)[kernel]);
  auto chosen = compiler->compile_set(request, made.kernels, made.choice.cases, options);
  if (!chosen) return refused(backend, chosen.error());
  made.artifact = *std::move(chosen);
  return made;
}

}  // namespace collage
