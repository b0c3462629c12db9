#include "compiler/kernel_sets.h"

#include <algorithm>

#include "compiler/analysis/open_region.h"
#include "compiler/codegen/codegen.h"
#include "compiler/selection/added_strategies.h"

namespace collage::native {
namespace {

/// Of a name: the form that takes every shape.
constexpr std::string_view kAny = "/any";
constexpr std::size_t kMostSteps = 32;       ///< of a ladder through one dimension
constexpr std::size_t kMostPoints = 48;      ///< at which strategies are asked
constexpr std::size_t kMostCandidates = 96;  ///< compiled in a second or two each ten
/// Places of the larger register tiles.
constexpr std::int64_t kTile = 14;
/// The upper bound that is assumed for a dimension without one.
constexpr std::int64_t kFarExtent = 256;

/// What is small enough for one tile, then doubling, between the bounds; thinned to `most` of them.
Extents ladder_of(const Symbol& symbol, std::size_t most) {
  const std::int64_t high = std::min(symbol.high, std::max(kFarExtent, 8 * symbol.low));
  Extents all = {symbol.low};
  for (std::int64_t extent = 1; extent < high; extent = extent < kTile ? extent + 1 : 2 * extent)
    if (extent > symbol.low) all.push_back(extent);
  if (high > symbol.low) all.push_back(symbol.high < high ? symbol.high : high);
  if (all.size() <= most) return all;
  Extents kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return kept;
}

/// Combinations of the ladders, the largest extents first.
std::vector<Extents> points_of(const OpenRegion& open) {
  std::size_t steps = kMostSteps;
  const auto count = [&] {
    std::size_t product = 1;
    for (const Symbol& symbol : open.symbols) product *= ladder_of(symbol, steps).size();
    return product;
  };
  while (steps > 2 && count() > kMostPoints) --steps;
  std::vector<Extents> points = {{}};
  for (const Symbol& symbol : open.symbols) {
    std::vector<Extents> longer;
    const Extents ladder = ladder_of(symbol, steps);
    for (const Extents& point : points)
      for (auto extent = ladder.rbegin(); extent != ladder.rend() && longer.size() < kMostPoints; ++extent) {
        longer.push_back(point);
        longer.back().push_back(*extent);
      }
    points = std::move(longer);
  }
  return points;
}

/// The region as the request opens it; made once for all kernels.
struct Opened {
  const OpenRequest& request;
  const CompileOptions& options;
  const Target& target;
  OpenRegion open;
  Graph writing;  ///< at writing_point()
};

std::expected<Opened, Refusal> opened(const OpenRequest& request, const CompileOptions& options, const Target& target) {
  auto open = open_region_of(*request.graph, request.region, request.domain);
  if (!open) return std::unexpected(open.error());
  if (open->symbols.empty()) return refuse(RefusalReason::kShape, "no open dimension");
  Graph writing = graph_at(*request.graph, *open, writing_point(*open));
  return Opened{.request = request,
                .options = options,
                .target = target,
                .open = *std::move(open),
                .writing = std::move(writing)};
}

std::expected<TensorCode, Refusal> code_of(const Opened& opened, const std::string& kernel, const std::string& name) {
  auto site = site_of(opened.writing, opened.request.region, opened.options, opened.target);
  if (!site) return std::unexpected(site.error());
  site->is_open = true;
  const bool serves_all = name.ends_with(kAny);
  Variant variant = opened.request.formats;
  variant.name = serves_all ? name.substr(0, name.size() - kAny.size()) : name;
  return tensor_code_of(*site, variant, kernel, {.region = &opened.open, .serves_all = serves_all});
}

/// Names of variants at a point, in the formats asked for.
std::vector<std::string> offered_at(const Opened& opened, const Extents& point, Refusal& why) {
  const Graph graph = graph_at(*opened.request.graph, opened.open, point);
  auto site = site_of(graph, opened.request.region, opened.options, opened.target);
  if (site) site->is_open = true;
  std::vector<std::string> names;
  const auto variants = site ? variants_of(*site) : std::unexpected(site.error());
  if (!variants) {
    why = variants.error();
    return names;
  }
  for (const Variant& variant : *variants)
    if (variant.input_formats == opened.request.formats.input_formats &&
        variant.output_formats == opened.request.formats.output_formats)
      names.push_back(variant.name);
  if (names.empty()) why = {RefusalReason::kFormat, "no implementation in these formats"};
  return names;
}

/// Whether some shape of the domain is what the guards ask for.
bool serves_some(const Opened& opened, const std::vector<Guard>& guards) {
  Extents highest;
  for (const Symbol& symbol : opened.open.symbols) highest.push_back(symbol.high);
  KernelSet numbers;
  numbers.sizes = opened.open.sizes;
  return serves({.guards = guards}, sizes_at(numbers, highest));
}

/// Constants and their packed parts, shared by the kernels of a set.
struct Shared {
  std::vector<ValueId> constants;
  std::vector<ConstantPart> parts;

  template <class List, class Item>
  static std::uint32_t index_in(List& list, const Item& item) {
    const auto found = std::ranges::find(list, item);
    const auto index = static_cast<std::uint32_t>(found - list.begin());
    if (found == list.end()) list.push_back(item);
    return index;
  }

  Member member_of(const TensorCode& code, const std::string& variant) {
    Member member{.symbol = code.name,
                  .variant = variant,
                  .arguments = code.arguments,
                  .views = code.views,
                  .guards = code.guards};
    for (Argument& argument : member.arguments) {
      argument.extents.clear();
      argument.strides.clear();
      if (argument.kind != ArgumentKind::kConstant) continue;
      ConstantPart part = code.parts[argument.index];
      part.source = index_in(constants, code.constants[part.source]);
      argument.index = index_in(parts, part);
    }
    return member;
  }
};

/// The cases over the set's symbols; a dimension that the region does not have is ignored.
SetCase case_of(const KernelCase& given, const ShapeDomain& domain, const std::vector<Symbol>& symbols) {
  SetCase one{.low = {}, .high = {}, .member = static_cast<std::uint32_t>(given.kernel)};
  for (const Symbol& symbol : symbols) {
    const auto found = std::ranges::find(domain.dimensions, symbol.name, &DimensionRange::name);
    const auto axis = static_cast<std::size_t>(found - domain.dimensions.begin());
    one.low.push_back(std::clamp(given.low[axis], symbol.low, symbol.high));
    one.high.push_back(std::clamp(given.high[axis], symbol.low, symbol.high));
  }
  return one;
}

std::expected<void, Refusal> add_cases(const OpenRequest& request, std::span<const KernelCase> cases, KernelSet& set) {
  for (const KernelCase& one : cases) {
    if (one.low.size() != request.domain.dimensions.size() || one.high.size() != one.low.size() ||
        one.kernel >= set.members.size())
      return refuse(RefusalReason::kShape, "a case that is none of this domain");
    set.cases.push_back(case_of(one, request.domain, set.symbols));
  }
  const auto generic = std::ranges::find_if(set.members, [](const Member& one) { return one.guards.empty(); });
  if (generic == set.members.end()) return refuse(RefusalReason::kShape, "no kernel that takes every shape");
  SetCase last{.low = {}, .high = {}, .member = static_cast<std::uint32_t>(generic - set.members.begin())};
  for (const Symbol& symbol : set.symbols) {
    last.low.push_back(symbol.low);
    last.high.push_back(symbol.high);
  }
  set.cases.push_back(std::move(last));
  return {};
}

std::expected<KernelSet, Refusal> set_of(const Opened& opened, const std::vector<TensorCode>& codes,
                                         std::span<const std::string> names, std::span<const KernelCase> cases,
                                         Shared& shared) {
  KernelSet set{.symbols = opened.open.symbols, .sizes = opened.open.sizes};
  for (const ValueId id : opened.request.region.inputs) set.inputs.push_back(opened.open.shapes.at(id));
  for (const ValueId id : opened.request.region.outputs) set.outputs.push_back(opened.open.shapes.at(id));
  for (std::size_t i = 0; i < codes.size(); ++i) set.members.push_back(shared.member_of(codes[i], names[i]));
  if (auto added = add_cases(opened.request, cases, set); !added) return std::unexpected(added.error());
  return set;
}

}  // namespace

std::expected<std::vector<std::string>, Refusal> set_candidates(const OpenRequest& request,
                                                                const CompileOptions& options, const Target& target) {
  const auto region = opened(request, options, target);
  if (!region) return std::unexpected(region.error());
  Refusal why{RefusalReason::kShape, "nothing with open dimensions"};
  std::vector<std::string> seen;
  std::vector<std::string> for_all;
  std::vector<std::string> guarded;
  for (const Extents& point : points_of(region->open))
    for (const std::string& name : offered_at(*region, point, why)) {
      if (std::ranges::find(seen, name) != seen.end() || for_all.size() + guarded.size() >= kMostCandidates) continue;
      seen.push_back(name);
      const auto code = code_of(*region, "kernel", name);
      if (!code) {
        why = code.error();
      } else if (code->guards.empty()) {
        for_all.push_back(name);
      } else {
        for_all.push_back(name + std::string(kAny));
        if (serves_some(*region, code->guards)) guarded.push_back(name);
      }
    }
  if (for_all.empty()) return std::unexpected(why);
  for_all.insert(for_all.end(), guarded.begin(), guarded.end());
  return for_all;
}

namespace {

/// The extent that a dimension had in the recorded run, else one that is neither small nor large.
std::int64_t recorded_extent(const Graph& graph, const Region& region, const Symbol& symbol) {
  const Dim& dim = (*graph.value(region.inputs[symbol.input]).type.shape)[symbol.axis];
  return std::clamp(dim.recorded >= 0 ? dim.recorded : kFarExtent, symbol.low, symbol.high);
}

OpenRequest any_request(const Graph& graph, const Region& region, Variant formats) {
  return {.graph = &graph, .region = region, .formats = std::move(formats), .domain = any_extents(graph, region)};
}

bool is_plain_where_open(const Graph& graph, const std::vector<ValueId>& ids, const std::vector<Format>& formats) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (!graph.value(ids[i]).type.is_static() && !formats[i].is_plain()) return false;
  return true;
}

}  // namespace

std::expected<std::vector<Variant>, Refusal> open_variants(const Graph& graph, const Region& region,
                                                           const CompileOptions& options, const Target& target) {
  const OpenRequest request = any_request(graph, region, {});
  const auto read = opened(request, options, target);
  if (!read) return std::unexpected(read.error());
  Extents point;
  for (const Symbol& symbol : read->open.symbols) point.push_back(recorded_extent(graph, region, symbol));
  const Graph at_point = graph_at(graph, read->open, point);
  auto site = site_of(at_point, region, options, target);
  if (!site) return std::unexpected(site.error());
  site->is_open = true;
  auto variants = variants_of(*site);
  if (!variants) return variants;
  std::erase_if(*variants, [&](const Variant& variant) {
    return !is_plain_where_open(graph, region.inputs, variant.input_formats) ||
           !is_plain_where_open(graph, region.outputs, variant.output_formats);
  });
  if (variants->empty()) return refuse(RefusalReason::kFormat, "no implementation in plain format");
  return variants;
}

std::expected<Artifact, Refusal> compile_open(const CompileRequest& request, const CompileOptions& options,
                                              const Target& target) {
  const OpenRequest open = any_request(*request.graph, request.region, request.variant);
  const auto read = opened(open, options, target);
  if (!read) return std::unexpected(read.error());
  const auto code = code_of(*read, "kernel", request.variant.name);
  if (!code) return std::unexpected(code.error());
  const std::string name = request.variant.name + std::string(code->guards.empty() ? "" : kAny);
  return compile_set(open, {&name, 1}, {}, options, target);
}

std::expected<Artifact, Refusal> compile_set(const OpenRequest& request, std::span<const std::string> kernels,
                                             std::span<const KernelCase> cases, const CompileOptions& options,
                                             const Target& target) {
  const auto region = opened(request, options, target);
  if (!region) return std::unexpected(region.error());
  std::vector<TensorCode> codes;
  for (const std::string& name : kernels) {
    auto code = code_of(*region, "kernel" + std::to_string(codes.size()), name);
    if (!code) return std::unexpected(code.error());
    codes.push_back(*std::move(code));
  }
  Shared shared;
  auto set = set_of(*region, codes, kernels, cases, shared);
  if (!set) return std::unexpected(set.error());
  if (const std::string fault = fault_of(*set); !fault.empty()) return refuse(RefusalReason::kShape, fault);
  Program program{.symbol = "", .threads = options.threads, .constants = shared.parts, .set = *std::move(set)};
  std::vector<std::string> objects;
  for (const InstructionSet* one : sets_of(options, target.set)) {
    auto compiled = compile_codes(codes, *one);
    if (!compiled) return refuse(RefusalReason::kCompile, to_string(compiled.error()));
    Code code{.instruction_set = std::string(one->name)};
    for (const ScratchBytes& scratch : compiled->scratch) {
      code.serial_bytes = std::max(code.serial_bytes, scratch.serial);
      code.per_thread_bytes = std::max(code.per_thread_bytes, scratch.per_thread);
    }
    program.codes.push_back(std::move(code));
    objects.push_back(std::move(compiled->shared_object));
  }
  std::vector<CodeBytes> codes_bytes;
  for (const std::string& object : objects) codes_bytes.push_back({.shared_object = object, .objects = {}});
  return Artifact{.bytes = to_bytes(program, codes_bytes),
                  .compatibility = compatibility_of(program),
                  .constants = shared.constants,
                  .workspace_bytes = program.workspace_bytes()};
}

}  // namespace collage::native
