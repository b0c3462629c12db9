#include "compiler/cuda/regions.h"

#include <algorithm>
#include <array>
#include <set>

#include "backend/strategy.h"
#include "compiler/cuda/write_program.h"
#include "compiler/selection/strategy.h"
#include "region/narrow_variant.h"

namespace collage::native::cuda {
namespace {

/// A strategy whose code is sums and element-wise work: that of others is cut into tiles that only their schedules keep
/// apart.
struct Taken {
  std::string_view strategy;
  bool has_rows = false;  ///< its sums are long and may be few: blocks of threads may join them
};
constexpr std::array<Taken, 12> kTaken = {{{"flat"},
                                           {"gathered"},
                                           {"rows", true},
                                           {"strips", true},
                                           {"groups", true},
                                           {"windows"},
                                           {"direct"},
                                           {"depthwise"},
                                           {"planes"},
                                           {"phases"},
                                           {"packed", true},
                                           {"batched", true}}};

/// How sums are computed, behind a strategy's variant.
constexpr std::string_view kByThreads = "@threads";
constexpr std::string_view kByBlocks = "@blocks";

const InstructionSet& one_number() {
  static constexpr InstructionSet kSet{.name = "cuda", .target = "", .vector_bytes = 4, .registers = 255};
  return kSet;
}

/// On one thread: loops are not cut for several.
CompileOptions with_one_thread(CompileOptions options) {
  options.threads = 1;
  return options;
}

/// Null when kernels are not written from the variant's strategy.
const Taken* taken_of(const Variant& variant) {
  const std::string_view strategy = std::string_view(variant.name).substr(0, variant.name.find('.'));
  const auto found = std::ranges::find(kTaken, strategy, &Taken::strategy);
  return found == kTaken.end() || has_16_bits(variant) || has_narrow_port(variant) ? nullptr : &*found;
}

/// One way of a strategy to take the region. Of its schedules the first one: they differ in what is left aside.
struct Way {
  Variant variant;  ///< the strategy's
  bool has_rows = false;
};
std::expected<std::vector<Way>, Refusal> ways_of(const Site& site) {
  const auto all = native::variants_of(site);
  if (!all) return std::unexpected(all.error());
  std::vector<Way> ways;
  std::set<std::string_view> names;
  for (const Variant& variant : *all)
    if (const Taken* const taken = taken_of(variant); taken != nullptr && names.insert(way_of(variant.name)).second)
      ways.push_back({.variant = variant, .has_rows = taken->has_rows});
  if (ways.empty()) return refuse(RefusalReason::kStructure, "strategies for processors only");
  return ways;
}

/// The variant of a GPU: the way's name, and how sums are computed.
Variant offered(const Way& way, std::string_view sums) {
  Variant variant = way.variant;
  variant.name = std::string(way_of(variant.name)) + std::string(sums);
  return variant;
}

}  // namespace

std::expected<std::vector<Variant>, Refusal> variants_of(const Graph& graph, const Region& region,
                                                         const CompileOptions& options) {
  if (is_open(graph, region)) return refuse(RefusalReason::kShape, "open dimensions");
  const CompileOptions alone = with_one_thread(options);
  const auto site = dissect(graph, region, alone, one_number());
  if (!site) return std::unexpected(site.error());
  const auto ways = ways_of(*site);
  if (!ways) return std::unexpected(ways.error());
  std::vector<Variant> variants;
  for (const Way& way : *ways) {
    variants.push_back(offered(way, kByThreads));
    if (way.has_rows) variants.push_back(offered(way, kByBlocks));
  }
  return variants;
}

std::expected<CudaProgram, Refusal> program_of(const CompileRequest& request, const CompileOptions& options,
                                               const std::string& name) {
  const CompileOptions alone = with_one_thread(options);
  const auto site = dissect(*request.graph, request.region, alone, one_number());
  if (!site) return std::unexpected(site.error());
  const auto ways = ways_of(*site);
  if (!ways) return std::unexpected(ways.error());
  for (const Way& way : *ways)
    for (const Sums sums : {Sums::kByThreads, Sums::kByBlocks}) {
      const bool by_blocks = sums == Sums::kByBlocks;
      if ((by_blocks && !way.has_rows) || offered(way, by_blocks ? kByBlocks : kByThreads) != request.variant) continue;
      const auto code = tensor_code_of(*site, way.variant, name);
      if (!code) return std::unexpected(code.error());
      return write_program(*code, sums);
    }
  return refuse(RefusalReason::kStructure, "no variant " + request.variant.name + " in these formats");
}

}  // namespace collage::native::cuda
