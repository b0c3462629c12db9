// The family of reductions, softmax and normalisations along rows, and what the first two compute.
#include "compiler/strategies/rows.h"

#include <algorithm>
#include <set>

#include "compiler/codegen/autoschedule.h"
#include "compiler/expressions/elementary_functions.h"
#include "compiler/expressions/expression.h"
#include "compiler/strategies/by_layout.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;

void write_reduction(const Node& node, const Rows& rows, RowWriter& writer) {
  const std::string& op = node.op_type;
  const Func source = writer.source();
  const Expr x = writer.here(source);
  const auto total = [&](Join join, const Expr& value) {
    return writer.row(writer.reduce("total", writer.mapped("value", value), join));
  };
  const Expr count = Expr(static_cast<float>(rows.length()));
  if (op == "ReduceSum") return writer.finish(total(Join::kSum, x));
  if (op == "ReduceMean" || op == "GlobalAveragePool") return writer.finish(total(Join::kSum, x) / count);
  if (op == "ReduceMax" || op == "GlobalMaxPool") return writer.finish(total(Join::kMax, x));
  if (op == "ReduceMin") return writer.finish(total(Join::kMin, x));
  if (op == "ReduceProd") return writer.finish(total(Join::kProduct, x));
  if (op == "ReduceL1") return writer.finish(total(Join::kSum, Halide::abs(x)));
  if (op == "ReduceSumSquare") return writer.finish(total(Join::kSum, x * x));
  if (op == "ReduceL2") return writer.finish(Halide::sqrt(total(Join::kSum, x * x)));
  if (op == "ReduceLogSum") return writer.finish(Halide::log(total(Join::kSum, x)));
  const Func most = writer.reduce("most", source, Join::kMax);
  const Expr shifted = total(Join::kSum, exp_below_zero(x - writer.row(most)));
  writer.finish(Halide::log(shifted) + writer.row(most));
}

void write_softmax(const Node& node, RowWriter& writer) {
  const Func source = writer.source();
  const Func most = writer.reduce("most", source, Join::kMax);
  const Expr shifted = writer.here(source) - writer.row(most);
  const Func powers = writer.mapped("powers", exp_below_zero(shifted));
  if (node.op_type == "Softmax") writer.keep(powers);
  const Func sum = writer.reduce("sum", powers, Join::kSum);
  if (node.op_type == "LogSoftmax") return writer.finish(shifted - Halide::log(writer.row(sum)));
  writer.finish(writer.here(powers) * (1.F / writer.row(sum)));
}

std::expected<void, Refusal> check_types(const Site& site) {
  static const std::set<std::string, std::less<>> kAnyType = {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"};
  const ElementType type = site.type(site.anchor->inputs[0]).element;
  if (type == ElementType::kFloat32) return {};
  if (kAnyType.contains(site.anchor->op_type) && (type == ElementType::kInt32 || type == ElementType::kInt64))
    return {};
  return refuse(RefusalReason::kType, std::string(name_of(type)));
}

bool has_one_output(const Node& node) {
  return std::ranges::count_if(node.outputs, [](ValueId id) { return id.valid(); }) == 1;
}

bool is_epilogue_seen(const Site& site, const Rows& rows, const Format& format) {
  return are_seen(site, site.after, rows.result, format) &&
         view_of(site.extents(site.region.outputs[0]), format, rows.result);
}

/// The epilogue of a reduction sees its result; a prologue sees the input.
bool fits(const Site& site, Layout layout) {
  const Format format = format_in(site, layout);
  const auto rows = rows_of(site, format);
  if (!rows) return false;
  // Parameters of several axes lie in plain order.
  const bool has_parameters =
      site.anchor->op_type == "LayerNormalization" || site.anchor->op_type == "RMSNormalization";
  if (has_parameters && layout == Layout::kChannelsLast && rows->space.axes[rows->reduced].size() > 1) return false;
  const Format result = can_be_channels_last(site.type(site.result())) ? format : plain();
  if (!is_epilogue_seen(site, *rows, result)) return false;
  return are_seen(site, site.before, rows->space, format);
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (!has_one_output(*site.anchor)) return refuse(RefusalReason::kStructure, "more than one output");
  if (auto ok = check_types(site); !ok) return std::unexpected(ok.error());
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  const Extents in = site.extents(site.anchor->inputs[0]);
  if (in.empty()) return refuse(RefusalReason::kShape, "a scalar");
  const bool fits_nhwc = can_be_channels_last(site.type(site.anchor->inputs[0])) && fits(site, Layout::kChannelsLast);
  const std::int64_t layouts = layouts_fact(fits(site, Layout::kPlain), fits_nhwc);
  if (layouts == 0) return refuse(RefusalReason::kStructure, "axes or epilogue that are no rows");
  const auto rows = rows_of(site, plain());
  return Facts{{"layouts", layouts},
               {"elements", element_count(in)},
               {"length", rows ? rows->length() : 0},
               {"autoscheduler", autoscheduler_fact()}};
}

std::vector<Schedule> space(const Site&, const Facts&) { return {Schedule{}}; }

template <Layout kLayout, bool kIsAutomatic>
void build(const Site& site, const Facts&, const Schedule&, Lowering& lowering) {
  const Rows rows = *rows_of(site, format_in(site, kLayout));
  RowWriter writer(site, rows, lowering, kIsAutomatic);
  if (rows.is_reduction)
    write_reduction(*site.anchor, rows, writer);
  else if (site.anchor->op_type.ends_with("oftmax"))
    write_softmax(*site.anchor, writer);
  else
    write_norm(site, rows, writer);
}

const std::string kAutomaticRows = std::string(kHasPlain) + " and autoscheduler == 1";
const std::string kAutomaticStrips = std::string(kHasChannelsLast) + " and autoscheduler == 1";

const std::array<Implementation, 4> kImplementations = {{{.name = "rows",
                                                          .condition = kHasPlain,
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain},
                                                          .space = space,
                                                          .build = build<Layout::kPlain, false>},
                                                         {.name = "strips",
                                                          .condition = kHasChannelsLast,
                                                          .priority = 9,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build<Layout::kChannelsLast, false>},
                                                         {.name = "automatic_rows",
                                                          .condition = kAutomaticRows,
                                                          .priority = 2,
                                                          .layouts = {Layout::kPlain},
                                                          .space = space,
                                                          .build = build<Layout::kPlain, true>,
                                                          .narrow = NarrowUse::kRefused},
                                                         {.name = "automatic_strips",
                                                          .condition = kAutomaticStrips,
                                                          .priority = 1,
                                                          .layouts = {Layout::kChannelsLast},
                                                          .space = space,
                                                          .build = build<Layout::kChannelsLast, true>,
                                                          .narrow = NarrowUse::kRefused}}};

}  // namespace

const Family kRowsFamily = {
    .name = "rows",
    .operators =
        "ReduceSum|ReduceMean|ReduceMax|ReduceMin|ReduceProd|ReduceL1|ReduceL2|ReduceSumSquare|ReduceLogSum|"
        "ReduceLogSumExp|GlobalAveragePool|GlobalMaxPool|Softmax|LogSoftmax|LayerNormalization|"
        "RMSNormalization|InstanceNormalization|MeanVarianceNormalization",
    .read = read,
    .implementations = kImplementations,
    .domains = kLayoutsDomain};

}  // namespace collage::native
