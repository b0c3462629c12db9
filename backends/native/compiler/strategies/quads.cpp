// Products of 8-bit integers in quads: one instruction multiplies four unsigned bytes of the source by four signed
// bytes of the weights and adds the products to one 32-bit lane.
// How: signed sources and unsigned weights are shifted by 128, and so are their zero points. The contribution of the
//       zero points is subtracted afterwards, from tables with sums of the weights. A source is copied once when it is
//       signed, when its channels do not fill quads, or when its border must be filled with its zero point. Processors
//       without such an instruction multiply pairs of 16-bit integers; the source is then copied with its zero point
//       subtracted.
// Example: source 3 with zero point 5, weight -2 with zero point 0: (3 - 5) * -2 = 4. The quad adds 3 * -2 = -6;
// subtracting 5 * (sum of weights) = 5 * -2 = -10 gives 4.
#include <algorithm>

#include "compiler/codegen/loops.h"
#include "compiler/strategies/quantised.h"

namespace collage::native {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::RDom;
using Halide::TailStrategy;
using Halide::Var;

namespace {

bool is_signed(const Site& site, ValueId id) { return site.type(id).element == ElementType::kInt8; }

/// As the dense machinery counts: a group of channels is as large as a float.
Dense in_groups(const Dense& dense, const Site& site) {
  Dense groups = dense;
  groups.view.extents[4] = ceil_div(dense.channels(), bytes_of_lane(site));
  return groups;
}

bool is_zero(const Expr& value) { return Halide::Internal::is_const_zero(Halide::Internal::simplify(value)); }

/// All of these constant bytes are the value that represents zero after shifting.
bool is_all(const Site& site, ValueId id, std::byte value) {
  const Tensor* constant = constant_of(site.graph, id);
  if (constant == nullptr) return false;
  return std::ranges::all_of(constant->data.as<std::byte>(), [&](std::byte one) { return one == value; });
}

class Quads {
 public:
  Quads(const Quantised& quantised, const Site& site, const Schedule& schedule, Lowering& lowering)
      : q_(quantised),
        dense_(quantised.dense),
        site_(site),
        schedule_(schedule),
        lowering_(lowering),
        code_(quantised, site, lowering),
        block_(schedule["tile_c"] * site.lanes()),
        group_(bytes_of_lane(site)),
        groups_(ceil_div(dense_.channels(), group_)),
        packing_{.kind = has_quads() ? PackingKind::kQuads : PackingKind::kPairs,
                 .numbers = {dense_.outputs(), dense_.taps(), dense_.channels(), dense_.out_stride, dense_.tap_stride,
                             dense_.in_stride, block_}} {}

  void build();

 private:
  [[nodiscard]] bool has_quads() const { return site_.set.has_dot_i8; }
  [[nodiscard]] bool has_weight_zero() const;
  [[nodiscard]] Expr source_zero();
  [[nodiscard]] Expr weight_zero(const Expr& c);
  [[nodiscard]] bool is_staged();
  [[nodiscard]] Expr moved(const Expr& element);
  [[nodiscard]] Func staged(const Func& source);
  [[nodiscard]] Func sums_of_source(const Func& source);
  [[nodiscard]] Func offsets();

  const Quantised& q_;
  const Dense& dense_;
  const Site& site_;
  const Schedule& schedule_;
  Lowering& lowering_;
  QuantisedCode code_;
  std::int64_t block_;
  std::int64_t group_;
  std::int64_t groups_;
  Packing packing_;
  std::vector<Var> loops_ = loop_variables(5);
  Var ci_{"ci"}, co_{"co"};
  RDom taps_;
};

bool Quads::has_weight_zero() const {
  if (!q_.weight_zero.valid()) return !is_signed(site_, dense_.weights);
  return !is_all(site_, q_.weight_zero, is_signed(site_, dense_.weights) ? std::byte{0} : std::byte{128});
}

Expr Quads::source_zero() {
  if (!has_quads()) return 0;
  return cast<std::int32_t>(code_.whole(q_.source_zero)) + (is_signed(site_, dense_.source) ? 128 : 0);
}

Expr Quads::weight_zero(const Expr& c) {
  return cast<std::int32_t>(code_.by_output(q_.weight_zero, c)) - (is_signed(site_, dense_.weights) ? 0 : 128);
}

bool Quads::is_staged() {
  if (!has_quads() || is_signed(site_, dense_.source)) return true;
  if (dense_.channels() % group_ != 0 || dense_.view.strides[4] != 1) return true;
  return dense_.is_padded() && (has_weight_zero() || !is_zero(source_zero()));
}

Expr Quads::moved(const Expr& element) {
  if (!has_quads()) return cast<std::int16_t>(element) - cast<std::int16_t>(code_.whole(q_.source_zero));
  const Expr value = cast<std::uint8_t>(element);
  return is_signed(site_, dense_.source) ? value ^ cast<std::uint8_t>(128) : value;
}

Func Quads::staged(const Func& source) {
  const Var c("sc"), x("sx"), y("sy"), d("sd"), n("sn");
  const auto [inside, is_inside] = inside_source(dense_, {d, y, x});
  // Past the last channel anything does: the weights there are zeros.
  const Expr channel = dense_.channels() % group_ != 0 ? clamped(c, dense_.channels()) : Expr(c);
  const Expr value = moved(source(channel, inside[2], inside[1], inside[0], n));
  Func copy("copy");
  copy(c, x, y, d, n) = Halide::select(is_inside, value, cast(value.type(), source_zero()));
  const std::int64_t width = groups_ * group_;
  std::int64_t lanes = group_;
  while (lanes < 64 && width % (2 * lanes) == 0) lanes *= 2;
  copy.compute_root().bound(c, 0, to_int(width)).vectorize(c, to_int(lanes));
  parallelise(copy, {n, d, y, x}, {dense_.view.extents[0], dense_.in(0), dense_.in(1), dense_.in(2)}, site_);
  return copy;
}

/// Sums over windows of the source, by (x, y, d, n): what a zero point of the weights is multiplied with.
Func Quads::sums_of_source(const Func& source) {
  const RDom r(0, to_int(dense_.channels()), 0, to_int(dense_.kernel[2]), 0, to_int(dense_.kernel[1]), 0,
               to_int(dense_.kernel[0]), "rs");
  const Var n = loops_[0], d = loops_[1], y = loops_[2], x = loops_[3];
  Func sums("window");
  sums(x, y, d, n) = 0;
  sums(x, y, d, n) += cast<std::int32_t>(source(r.x, source_place(dense_, x, r.y, 2), source_place(dense_, y, r.z, 1),
                                                source_place(dense_, d, r.w, 0), n));
  sums.compute_root();
  std::int64_t lanes = 1;
  while (lanes < 64 && dense_.channels() % (2 * lanes) == 0) lanes *= 2;
  if (lanes > 1) sums.update().atomic().vectorize(r.x, to_int(lanes));
  return sums;
}

/// What every sum of an output begins with, by output; undefined when that is zero.
Func Quads::offsets() {
  const Expr zero = source_zero();
  Func made("offset");
  const Var c("offset_c");
  Expr sum;
  const auto add = [&](const Expr& term) { sum = sum.defined() ? sum + term : term; };
  if (q_.steps.valid() && !q_.steps_scale.valid()) add(code_.by_output(q_.steps, c));
  if (!is_zero(zero)) {
    const std::int64_t extent = ceil_div(dense_.outputs(), block_) * block_;
    Packing sums = packing_;
    sums.kind = PackingKind::kQuadSums;
    add(-(zero * lowering_.packed(dense_.weights, sums, ElementType::kInt32, {extent})(c)));
    if (has_weight_zero()) add(zero * weight_zero(c) * to_int(dense_.taps() * dense_.channels()));
  }
  if (!sum.defined()) return made;
  made(c) = sum;
  made.compute_root()
      .bound(c, 0, to_int(ceil_div(dense_.outputs(), block_) * block_))
      .vectorize(c, to_int(site_.lanes()));
  return made;
}

void Quads::build() {
  const auto& kernel = dense_.kernel;
  const bool is_copied = is_staged();
  const Func port = lowering_.read(dense_.source, dense_.view).func;
  const Func source = is_copied ? staged(port) : padded_source(dense_, port, {2});
  const Func weights =
      lowering_.packed(dense_.weights, packing_, has_quads() ? ElementType::kInt8 : ElementType::kInt16,
                       {ceil_div(dense_.outputs(), block_), kernel[0], kernel[1], kernel[2], groups_, block_, group_});
  const Var n = loops_[0], d = loops_[1], y = loops_[2], x = loops_[3], c = loops_[4];
  taps_ = RDom(0, to_int(group_), 0, to_int(groups_), 0, to_int(kernel[2]), 0, to_int(kernel[1]), 0, to_int(kernel[0]),
               "r");
  Expr row = source_place(dense_, y, taps_[3], 1);
  Expr plane = source_place(dense_, d, taps_[4], 0);
  // Taps outside a source with zeros around it are left out of the loop; the clamp is for Halide's eyes.
  if (!is_copied && dense_.is_padded(1)) {
    taps_.where(row >= 0 && row < to_int(dense_.in(1)));
    row = clamped(row, dense_.in(1));
  }
  if (!is_copied && dense_.is_padded(0)) {
    taps_.where(plane >= 0 && plane < to_int(dense_.in(0)));
    plane = clamped(plane, dense_.in(0));
  }
  const Func offset = offsets();
  Func sum("sum");
  sum(ci_, x, y, d, n, co_) = offset.defined() ? offset(co_ * to_int(block_) + ci_) : Expr(0);
  sum(ci_, x, y, d, n, co_) += cast<std::int32_t>(source(taps_[1] * to_int(group_) + taps_[0],
                                                         source_place(dense_, x, taps_[2], 2), row, plane, n)) *
                               cast<std::int32_t>(weights(taps_[0], ci_, taps_[1], taps_[2], taps_[3], taps_[4], co_));

  Expr total = sum(c % to_int(block_), x, y, d, n, c / to_int(block_));
  if (has_weight_zero()) total = total - weight_zero(c) * sums_of_source(source)(x, y, d, n);
  const Func out = define_output(site_, lowering_, dense_.space, loops_, code_.result(as_indices(loops_), total));
  schedule_grouped_sums(dense_, site_, schedule_, out, sum, taps_);
}

}  // namespace

std::vector<Schedule> quads_space(const Quantised& quantised, const Site& site) {
  return dense_space(in_groups(quantised.dense, site), site);
}

void build_quads(const Quantised& quantised, const Site& site, const Schedule& schedule, Lowering& lowering) {
  Quads(quantised, site, schedule, lowering).build();
}

}  // namespace collage::native
