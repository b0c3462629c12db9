// Attention in one kernel: scores, softmax and second product for a block of rows of one head at a time.
// How: the scores of a block stay in the second-level cache. Both products are computed in register tiles of `tile_x`
//       rows by `tile_c` (`tile_v`) vectors of columns. Keys whose columns are not contiguous are transposed once for
//       each head.
// Source: the blocking of FlashAttention (Dao et al., NeurIPS 2022), without its running softmax, because rows fit in
//       the cache here.
#include <algorithm>
#include <bit>

#include "compiler/analysis/attention_form.h"
#include "compiler/codegen/loops.h"
#include "compiler/expressions/elementary_functions.h"
#include "compiler/expressions/expression.h"
#include "compiler/expressions/row_reduction.h"
#include "compiler/strategies/families.h"

namespace collage::native {
namespace {

using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

/// Scores of a block and their powers should leave room for keys and values in the second cache.
constexpr std::int64_t kScoresInCache = std::int64_t{384} << 10;
/// What no unmasked score comes near, and whose power is zero: in place of infinities, which arithmetic may not see,
/// and of numbers whose exponents would not fit an integer.
constexpr float kMasked = -1e9F;

std::int64_t lanes_for(std::int64_t extent, const Site& site) {
  return std::min(site.lanes(), static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(extent))));
}

std::expected<Facts, Refusal> read(const Site& site) {
  if (auto ok = check_no_prologue(site); !ok) return std::unexpected(ok.error());
  const auto form = attention_of(site);
  if (!form) return std::unexpected(form.error());
  if (form->is_moved && (!site.after.empty() || site.region.outputs.size() != 1))
    return refuse(RefusalReason::kStructure, "work after a moved result");
  if (auto ok = check_epilogue(site); !ok) return std::unexpected(ok.error());
  return Facts{{"rows", form->rows},
               {"columns", form->columns},
               {"depth", form->depth},
               {"width", form->width},
               {"column_vectors", form->columns / lanes_for(form->columns, site)},
               {"width_vectors", form->width / lanes_for(form->width, site)}};
}

std::vector<Schedule> space(const Site& site, const Facts& facts) {
  const auto fact = [&](std::string_view name) { return facts.find(name)->second; };
  const std::int64_t most = site.set.registers >= 32 ? 4 : 2;
  const auto vectors = [&](std::int64_t extent) { return std::min(most, extent / lanes_for(extent, site)); };
  const std::int64_t tile_c = vectors(fact("columns"));
  const std::int64_t tile_v = vectors(fact("width"));
  const std::int64_t widest = std::max(tile_c, tile_v);
  struct Rated {
    double cost;
    std::int64_t tile_x, block;
  };
  std::vector<Rated> rated;
  for (std::int64_t tile_x = 1; tile_x * widest + widest + 1 <= site.set.registers; ++tile_x)
    for (std::int64_t tiles = 1; tiles <= 6; ++tiles) {
      const std::int64_t block = std::min(tile_x * tiles, fact("rows"));
      if (tile_x > block || (tiles > 1 && block * fact("columns") * 8 > kScoresInCache)) continue;
      const auto steps = static_cast<double>(ceil_div(fact("rows"), block) * ceil_div(block, tile_x));
      const auto work = static_cast<double>(tile_x * widest);
      const double loads = 0.5 * static_cast<double>(tile_x + widest);
      rated.push_back({steps * (std::max(work, 8.0) + loads) * (1 + 1.0 / static_cast<double>(block)), tile_x, block});
    }
  std::ranges::stable_sort(rated, {}, &Rated::cost);
  std::vector<Schedule> schedules;
  for (const Rated& one : rated)
    if (schedules.size() < 8)
      schedules.push_back({{"block", one.block}, {"tile_c", tile_c}, {"tile_v", tile_v}, {"tile_x", one.tile_x}});
  return schedules;
}

/// Writes the stages of one kernel.
class AttentionWriter {
 public:
  AttentionWriter(const Site& site, const Schedule& schedule, Lowering& lowering)
      : site_(site), schedule_(schedule), lowering_(lowering), form_(*attention_of(site)) {
    for (std::size_t i = 0; i < form_.batch.size(); ++i) batch_.emplace_back("batch" + std::to_string(i));
  }

  void write() {
    lanes_c_ = lanes_for(form_.columns, site_);
    lanes_v_ = lanes_for(form_.width, site_);
    write_scores();
    write_softmax();
    write_result();
    schedule();
  }

 private:
  /// `a`, `b` and the batch axes, as Halide wants them.
  [[nodiscard]] std::vector<Expr> at(const Expr& a, const Expr& b) const {
    std::vector<Expr> all = {a, b};
    for (std::size_t i = batch_.size(); i-- > 0;) all.emplace_back(batch_[i]);
    return all;
  }
  [[nodiscard]] std::vector<Var> over(const Var& a, const Var& b) const {
    std::vector<Var> all = {a, b};
    all.insert(all.end(), batch_.rbegin(), batch_.rend());
    return all;
  }
  [[nodiscard]] std::vector<Expr> row() const {
    const std::vector<Expr> all = at(c_, q_);
    return {all.begin() + 1, all.end()};
  }
  /// Batch axes, then `a`, `b`; heads that share keys see the same ones.
  [[nodiscard]] Indices place(const Expr& a, const Expr& b, bool shares) const {
    Indices all(batch_.begin(), batch_.end());
    if (shares && form_.share > 1) all.back() = all.back() / to_int(form_.share);
    all.push_back(a);
    all.push_back(b);
    return all;
  }
  [[nodiscard]] Readable readable(const Strided& from) const {
    return lowering_.read(from.source, View{.extents = from.extents, .strides = from.strides});
  }

  void write_scores() {
    const Readable queries = readable(form_.queries);
    const Readable keys = readable(form_.keys);
    turns_keys_ = form_.columns > 1 && form_.keys.strides[form_.batch.size()] != 1;
    if (turns_keys_) turned_(over(c_, d_)) = keys(place(c_, d_, true));
    const RDom r(0, to_int(form_.depth), "along_depth");
    const Expr key = turns_keys_ ? Expr(turned_(at(c_, r))) : keys(place(c_, r, true));
    dots_(over(c_, q_)) = 0.F;
    dots_(over(c_, q_)) += queries(place(q_, r, false)) * key;
    Expr score = dots_(at(c_, q_));
    if (form_.factor != 1.F) score = score * form_.factor;
    logits_(over(c_, q_)) = Halide::max(site_.composite != nullptr ? written_logits(score) : masked(score), kMasked);
  }

  [[nodiscard]] Space score_space() const {
    Space space{.result = form_.scores(), .axes = {}};
    for (std::size_t i = 0; i < space.result.size(); ++i) space.axes.push_back({i});
    return space;
  }

  [[nodiscard]] Expr written_logits(const Expr& score) const {
    const Space space = score_space();
    return Elements(lowering_, space, place(q_, c_, false), {{form_.product, score}}).at(form_.logits);
  }

  /// Softcap, mask and causality of ONNX's Attention.
  [[nodiscard]] Expr masked(const Expr& score) const {
    const Node& node = *site_.anchor;
    Expr value = score;
    if (const float cap = attribute_or<float>(node, "softcap", 0.F); cap > 0) {
      const Expr twice = Halide::exp(Halide::clamp(value * (2.F / cap), -80.F, 80.F));
      value = (1.F - 2.F / (twice + 1.F)) * cap;
    }
    if (const ValueId mask = input_of(node, 3); mask.valid()) {
      const Expr given = lowering_.read(mask, score_space())(place(q_, c_, false));
      value = given.type().is_bool() ? Halide::select(given, value, kMasked) : value + given;
    }
    // A sum: with a select on loop variables Halide 21 makes wrong rows, the official causal cases show it.
    if (attribute_or<std::int64_t>(node, "is_causal", 0) != 0)
      value = value + Halide::cast<float>(Halide::clamp(c_ - q_, 0, 1)) * kMasked;
    return value;
  }

  void write_softmax() {
    const auto of = [this](const Func& func) { return [this, func](const Expr& c) { return func(at(c, q_)); }; };
    most_ = joined_row("most", Join::kMax, form_.columns, site_.lanes(), row(), of(logits_));
    powers_(over(c_, q_)) = exp_below_zero(logits_(at(c_, q_)) - most_.total(row()));
    sum_ = joined_row("sum", Join::kSum, form_.columns, site_.lanes(), row(), of(powers_));
    has_weights_ = site_.composite != nullptr && form_.weights != form_.softmax;
    if (!has_weights_) return;
    const Space space = score_space();
    Elements elements(lowering_, space, place(q_, c_, false), {{form_.softmax, powers_(at(c_, q_)) * share_of_sum()}});
    weights_(over(c_, q_)) = elements.at(form_.weights);
  }

  /// What the powers of a row are multiplied by. A row that sees no key is zero in ONNX's Attention.
  [[nodiscard]] Expr share_of_sum() const {
    const Expr share = 1.F / sum_.total(row());
    if (site_.composite != nullptr) return share;
    return Halide::select(most_.total(row()) <= kMasked * 0.99F, 0.F, share);
  }

  void write_result() {
    const Readable values = readable(form_.values);
    const RDom r(0, to_int(form_.columns), "along_columns");
    const Func& factor = has_weights_ ? weights_ : powers_;
    mixed_(over(v_, q_)) = 0.F;
    mixed_(over(v_, q_)) += factor(at(r, q_)) * values(place(r, v_, true));
    Expr result = mixed_(at(v_, q_));
    if (!has_weights_) result = result * share_of_sum();
    std::vector<Var> loops = batch_;
    loops.push_back(q_);
    loops.push_back(v_);
    Extents extents = form_.batch;
    extents.push_back(form_.rows);
    extents.push_back(form_.width);
    if (!form_.is_moved) {
      Space space{.result = extents, .axes = {}};
      for (std::size_t i = 0; i < extents.size(); ++i) space.axes.push_back({i});
      out_ = define_output(site_, lowering_, space, loops, result);
      return;
    }
    out_(over(v_, q_)) = stored(result, lowering_.element_of(form_.result));
    bound_all(out_, loops, extents);
    lowering_.set_output(out_, form_.result, View{.extents = extents, .strides = form_.result_strides});
  }

  void schedule() {
    const std::int64_t block = schedule_["block"];
    const std::int64_t tile_x = schedule_["tile_x"];
    const std::int64_t wide = schedule_["tile_v"] * lanes_v_;
    const Var qo("qo");
    const Var qi("qi");
    const Var xo("xo");
    const Var xi("xi");
    const Var vo("vo");
    const Var vi("vi");
    const Var vu("vu");
    const Var vv("vv");
    out_.split(q_, qo, qi, to_int(block), TailStrategy::ShiftInwards)
        .split(qi, xo, xi, to_int(tile_x), TailStrategy::ShiftInwards)
        .split(v_, vo, vi, to_int(wide), TailStrategy::ShiftInwards)
        .split(vi, vu, vv, to_int(lanes_v_))
        .vectorize(vv)
        .unroll(vu)
        .unroll(xi);
    std::vector<Halide::VarOrRVar> order = {vv, vu, xi, vo, xo, qo};
    order.insert(order.end(), batch_.rbegin(), batch_.rend());
    out_.reorder(order);
    std::vector<Var> parallel = batch_;
    parallel.push_back(qo);
    Extents counts = form_.batch;
    counts.push_back(ceil_div(form_.rows, block));
    const Var outer = parallelise(out_, parallel, counts, site_);
    if (turns_keys_) {
      turned_.bound_extent(c_, to_int(form_.columns)).bound_extent(d_, to_int(form_.depth));
      if (site_.options.threads < 2 && !batch_.empty())
        turned_.compute_at(out_, batch_.back());
      else
        turned_.compute_root();
      turned_.vectorize(c_, to_int(lanes_c_), TailStrategy::ShiftInwards);
    }
    schedule_scores(outer);
    schedule_product(mixed_, v_, lanes_v_, wide);
    mixed_.compute_at(out_, vo);
  }

  /// The block's scores, their maxima, powers and sums.
  void schedule_scores(const Var& outer) {
    const std::int64_t block = schedule_["block"];
    const std::int64_t wide = schedule_["tile_c"] * lanes_c_;
    const Var co("co");
    const Var ci("ci");
    const Var cu("cu");
    const Var cv("cv");
    const Var xo("yo");
    const Var xi("yi");
    logits_.compute_at(out_, outer);
    bound_block(logits_, c_, form_.columns, block);
    logits_.split(c_, co, ci, to_int(wide), TailStrategy::ShiftInwards)
        .split(q_, xo, xi, to_int(schedule_["tile_x"]), TailStrategy::ShiftInwards)
        .split(ci, cu, cv, to_int(lanes_c_))
        .reorder(cv, cu, xi, xo, co)
        .vectorize(cv)
        .unroll(cu)
        .unroll(xi);
    dots_.compute_at(logits_, xo);
    schedule_product(dots_, c_, lanes_c_, wide);
    for (RowReduction* one : {&most_, &sum_}) {
      one->part.compute_at(out_, outer);
      one->total.compute_at(out_, outer);
      vectorise(*one, site_.lanes());
    }
    for (Func func : {powers_, weights_}) {
      if (!func.defined()) continue;
      func.compute_at(out_, outer);
      bound_block(func, c_, form_.columns, block);
      func.vectorize(c_, to_int(lanes_c_), TailStrategy::ShiftInwards);
    }
  }

  void bound_block(Func func, const Var& inner, std::int64_t extent, std::int64_t block) const {
    func.bound_extent(inner, to_int(extent)).bound_extent(q_, to_int(block));
    for (const Var& one : batch_) func.bound_extent(one, 1);
  }

  /// A register tile of a product: all of the reduction for `tile_x` rows and `wide` columns.
  void schedule_product(Func product, const Var& column, std::int64_t lanes, std::int64_t wide) const {
    bound_block(product, column, wide, schedule_["tile_x"]);
    const Var su("su");
    const Var sv("sv");
    product.split(column, su, sv, to_int(lanes)).vectorize(sv).unroll(su).unroll(q_);
    const Halide::RVar r = product.rvars(0)[0];
    product.update().split(column, su, sv, to_int(lanes)).reorder(sv, su, q_, r).vectorize(sv).unroll(su).unroll(q_);
  }

  const Site& site_;
  const Schedule& schedule_;
  Lowering& lowering_;
  AttentionForm form_;
  std::vector<Var> batch_;  ///< outer to inner
  const Var q_{"row"}, c_{"column"}, v_{"value"}, d_{"depth"};
  std::int64_t lanes_c_ = 1, lanes_v_ = 1;
  Func turned_{"turned"}, dots_{"dots"}, logits_{"logits"}, powers_{"powers"}, weights_{"weights"}, mixed_{"mixed"},
      out_{"out"};
  RowReduction most_, sum_;
  bool turns_keys_ = false;
  bool has_weights_ = false;
};

void build(const Site& site, const Facts&, const Schedule& schedule, Lowering& lowering) {
  AttentionWriter(site, schedule, lowering).write();
}

constexpr std::string_view kChoices = "block: 1..192, tile_c: 1..6, tile_v: 1..6, tile_x: 1..28";
constexpr std::string_view kLegal =
    "block <= rows and tile_x <= block and tile_c <= column_vectors and tile_v <= width_vectors and "
    "tile_x * tile_c + tile_c + 1 <= registers and tile_x * tile_v + tile_v + 1 <= registers";

const std::array<Implementation, 1> kImplementations = {{{.name = "blocks_of_rows",
                                                          .condition = "",
                                                          .priority = 10,
                                                          .layouts = {Layout::kPlain},
                                                          .space = space,
                                                          .build = build,
                                                          .choices = kChoices,
                                                          .legal = kLegal}}};

}  // namespace

const Family kAttentionFamily = {
    .name = "attention", .operators = "Attention", .read = read, .implementations = kImplementations};

}  // namespace collage::native
