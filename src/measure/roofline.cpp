#include "measure/roofline.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "backend/narrow_element.h"
#include "base/json.h"
#include "timing/machine.h"
#include "timing/sampling.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace collage {
namespace {

constexpr int kLooks = 9;
/// Of a long loop, with pages that are touched for the first time in the first look.
constexpr int kLongLooks = 4;
constexpr int kLoops = 20000;
/// Rates are taken a little higher than seen, since the loops may have met a slow moment each time.
constexpr double kHeadroom = 1.1;
/// Along one axis, of tiles of four results and three taps: twelve products become six.
constexpr double kWinogradSaving = 2;

/// Runs the loop some times and gives the best rate of `work` per nanosecond.
template <class Loop>
double best_rate(double work, Loop&& loop, int looks = kLooks) {
  std::int64_t least = 0;
  for (int look = 0; look < looks; ++look) {
    const std::int64_t begin = monotonic_ns();
    loop();
    const std::int64_t ns = std::max<std::int64_t>(1, monotonic_ns() - begin);
    least = least == 0 ? ns : std::min(least, ns);
  }
  return kHeadroom * work / static_cast<double>(least);
}

constexpr std::size_t kChains = 12;  // enough to hide the latency of a fused multiply-add

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float fma_512() {
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(1.0F);
  const __m512 factor = _mm512_set1_ps(0.5F);
  for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12  // so that the sums stay in registers
    for (std::size_t c = 0; c < kChains; ++c) sums[c] = _mm512_fmadd_ps(sums[c], factor, factor);
  }
  __m512 total = sums[0];
  for (const __m512& sum : sums) total = _mm512_add_ps(total, sum);
  return _mm512_cvtss_f32(total);
}

__attribute__((target("avx2,fma"))) float fma_256() {
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(1.0F);
  const __m256 factor = _mm256_set1_ps(0.5F);
  for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 12
    for (std::size_t c = 0; c < kChains; ++c) sums[c] = _mm256_fmadd_ps(sums[c], factor, factor);
  }
  __m256 total = sums[0];
  for (const __m256& sum : sums) total = _mm256_add_ps(total, sum);
  return _mm256_cvtss_f32(total);
}
#endif

float fma_plain() {
  std::array<float, 4 * kChains> sums;
  sums.fill(1.0F);
  for (int i = 0; i < kLoops; ++i) {
#pragma GCC unroll 48
    for (float& sum : sums) sum = sum * 0.5F + 0.5F;
  }
  float total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

double flops_rate() {
  volatile float keep = 0;  // what nobody reads need not be computed
  const auto rate = [&](double lanes, float (*loop)()) {
    return best_rate(2 * lanes * kLoops, [&] { keep = loop(); });
  };
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return rate(16.0 * kChains, fma_512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return rate(8.0 * kChains, fma_256);
#endif
  return rate(4.0 * kChains, fma_plain);
}

double bytes_rate() {
  constexpr std::size_t kBytes = 12U << 10U;  // both copies fit the first cache
  constexpr int kCopies = 400;
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  volatile char keep = 0;
  return best_rate(2.0 * kBytes * kCopies, [&] {
    for (int i = 0; i < kCopies; ++i) {
      std::memcpy(to.data(), from.data(), kBytes);
      keep = to[static_cast<std::size_t>(i)];
    }
  });
}

double memory_rate() {
  constexpr std::size_t kBytes = 64U << 20U;  // no cache holds both
  std::vector<char> from(kBytes, 1);
  std::vector<char> to(kBytes, 2);
  volatile char keep = 0;
  const auto copy = [&] {
    std::memcpy(to.data(), from.data(), kBytes);
    keep = to[kBytes / 2];
  };
  return best_rate(2.0 * kBytes, copy, kLongLooks);
}

std::optional<Extents> extents_of(const Graph& graph, ValueId id) {
  return id.valid() ? graph.value(id).type.known_extents() : std::nullopt;
}

double elements(const Graph& graph, ValueId id) {
  const auto extents = extents_of(graph, id);
  return extents ? static_cast<double>(element_count(*extents)) : 0;
}

double bytes(const Graph& graph, ValueId id) {
  const auto extents = extents_of(graph, id);
  return extents ? static_cast<double>(byte_count(graph.value(id).type.element, *extents)) : 0;
}

bool all_are(const Node& node, std::string_view attribute, std::int64_t value) {
  const auto* list = find_attribute<std::vector<std::int64_t>>(node, attribute);
  return !list || std::ranges::all_of(*list, [value](std::int64_t v) { return v == value; });
}

/// How many times fewer products Winograd's tiles need: of two axes at most, for all kernels that transform tiles do so
/// along two. Rows of plain tensors are transformed together with other axes only.
double winograd_saving(const Node& node, const Extents& filter) {
  if (!all_are(node, "strides", 1)) return 1;
  const auto axes = std::ranges::count_if(filter.begin() + 2, filter.end(), [](std::int64_t taps) { return taps > 1; });
  if (axes > 1) return kWinogradSaving * kWinogradSaving;
  return axes == 1 && filter.back() == 1 ? kWinogradSaving : 1;
}

double convolution_flops(const Graph& graph, const Node& node, Accuracy accuracy) {
  const ValueId weights = input_of(node, 1);
  if (!weights.valid() || !graph.value(weights).type.is_static()) return 0;
  const Extents filter = graph.value(weights).type.extents();
  if (filter.size() < 3 || filter[0] == 0) return 0;
  // Every output element is a sum over one filter; transposed, every input element is spread over one.
  const bool is_transposed = node.op_type == "ConvTranspose";
  const double places = elements(graph, is_transposed ? node.inputs[0] : node.outputs[0]);
  const double flops = 2 * places * elements(graph, weights) / static_cast<double>(filter[0]);
  return accuracy == Accuracy::kStrict ? flops : flops / winograd_saving(node, filter);
}

double product_flops(const Graph& graph, const Node& node) {
  const ValueId a = input_of(node, 0);
  const auto recorded = extents_of(graph, a);
  if (!recorded || recorded->empty()) return 0;
  const Extents& left = *recorded;
  const bool is_transposed = node.op_type == "Gemm" && attribute_or<std::int64_t>(node, "transA", 0) != 0;
  return 2 * elements(graph, node.outputs[0]) * static_cast<double>(is_transposed ? left.front() : left.back());
}

/// Operators that may read only a part of their inputs.
bool may_skip_input(const Node& node) {
  static constexpr std::array<std::string_view, 12> kOperators = {
      "Slice", "Gather", "GatherElements", "GatherND", "Split", "Shape", "Size", "If", "Loop", "Scan", "Pad", "Resize"};
  return !node.domain.empty() || std::ranges::find(kOperators, node.op_type) != kOperators.end() ||
         (node.op_type.ends_with("Pool") && !node.op_type.starts_with("Global"));
}

/// How many elements of 16 bits there are at once for one of float32, in vectors and in memory; and in AMX tiles.
constexpr double kNarrowSpeedup = 2;
constexpr double kTileSpeedup = 16;

}  // namespace

PeakRates measure_peak_rates() {
  return {.flops_per_ns = flops_rate(), .bytes_per_ns = bytes_rate(), .memory_bytes_per_ns = memory_rate()};
}

PeakRates peak_rates(Store& store) {
  const std::string key = "peak rates|" + machine_print();
  if (const auto stored = store.verdict(key)) {
    const auto known = read_json("store", [json = json_of(*stored)] {
      return PeakRates{.flops_per_ns = json.at("flops_per_ns"),
                       .bytes_per_ns = json.at("bytes_per_ns"),
                       .memory_bytes_per_ns = json.at("memory_bytes_per_ns")};
    });
    if (known && known->flops_per_ns > 0 && known->bytes_per_ns > 0 && known->memory_bytes_per_ns > 0) return *known;
  }
  const PeakRates rates = measure_peak_rates();
  store.put_verdict(key, Json{{"flops_per_ns", rates.flops_per_ns},
                              {"bytes_per_ns", rates.bytes_per_ns},
                              {"memory_bytes_per_ns", rates.memory_bytes_per_ns}}
                             .dump());
  return rates;
}

double least_flops(const Graph& graph, const Node& node, Accuracy accuracy) {
  if (!node.domain.empty() || node.outputs.empty() || !node.outputs[0].valid()) return 0;
  if (node.op_type == "Conv" || node.op_type == "ConvTranspose") return convolution_flops(graph, node, accuracy);
  if (node.op_type == "MatMul" || node.op_type == "Gemm") return product_flops(graph, node);
  return 0;
}

double direct_flops(const Graph& graph, const Node& node) { return least_flops(graph, node, Accuracy::kStrict); }

double least_bytes(const Graph& graph, const Region& region) {
  double total = 0;
  for (const ValueId id : region.outputs) total += bytes(graph, id);
  bool reads_all = true;
  for (const std::size_t n : region.nodes.members()) reads_all = reads_all && !may_skip_input(graph.nodes[n]);
  if (!reads_all) return total;
  for (const auto* list : {&region.inputs, &region.constants})
    for (const ValueId id : *list) total += bytes(graph, id);
  return total;
}

std::int64_t roofline_ns(const Graph& graph, const Region& region, Accuracy accuracy, const PeakRates& peak,
                         int threads) {
  double flops = 0;
  for (const std::size_t n : region.nodes.members()) flops += least_flops(graph, graph.nodes[n], accuracy);
  double flops_ns = flops / peak.flops_per_ns;
  double bytes_ns = least_bytes(graph, region) / peak.bytes_per_ns;
  if (accuracy == Accuracy::kFast) {
    // The rates are those of float32.
    flops_ns /= multiplies_tiles() ? kTileSpeedup : kNarrowSpeedup;
    bytes_ns /= kNarrowSpeedup;
  }
  return static_cast<std::int64_t>(std::max(flops_ns, bytes_ns) / threads);
}

}  // namespace collage
