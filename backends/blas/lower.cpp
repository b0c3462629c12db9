#include "lower.h"

#include <algorithm>

namespace collage::blas {
namespace {

/// A tensor by its axes, in ONNX's order: extents, and steps in elements.
struct Seen {
  Extents extents, steps;
  [[nodiscard]] std::size_t rank() const { return extents.size(); }
  void insert(std::size_t axis, std::int64_t extent) {
    extents.insert(extents.begin() + static_cast<std::ptrdiff_t>(axis), extent);
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(axis), 0);
  }
};

Seen seen(const Extents& extents, const Format& format = plain()) {
  Seen result{.extents = extents, .steps = Extents(extents.size())};
  std::vector<std::size_t> inwards;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) inwards.push_back(axis);
  if (format.is_channels_last()) std::rotate(inwards.begin() + 1, inwards.begin() + 2, inwards.end());
  std::int64_t step = 1;
  for (std::size_t i = inwards.size(); i-- > 0;) {
    result.steps[inwards[i]] = step;
    step *= std::max<std::int64_t>(extents[inwards[i]], 1);
  }
  return result;
}

Seen in_order(const Seen& tensor, const std::vector<std::int64_t>& order) {
  if (order.empty()) return tensor;
  Seen result;
  for (const std::int64_t axis : order) {
    result.extents.push_back(tensor.extents[static_cast<std::size_t>(axis)]);
    result.steps.push_back(tensor.steps[static_cast<std::size_t>(axis)]);
  }
  return result;
}

/// The steps of a tensor that is broadcast to `extents`; nothing when it cannot be.
std::optional<Seen> broadcast(const Seen& tensor, const Extents& extents) {
  if (tensor.rank() > extents.size()) return std::nullopt;
  Seen result{.extents = extents, .steps = Extents(extents.size(), 0)};
  const std::size_t lead = extents.size() - tensor.rank();
  for (std::size_t axis = 0; axis < tensor.rank(); ++axis) {
    if (tensor.extents[axis] == extents[lead + axis])
      result.steps[lead + axis] = tensor.steps[axis];
    else if (tensor.extents[axis] != 1)
      return std::nullopt;
  }
  return result;
}

/// Writes one product: gives operands their sources, ports their formats.
class Writer {
 public:
  Writer(const Graph& graph, const Region& region, const Analysis& analysis, const Format& format)
      : graph_(graph), region_(region), analysis_(analysis), format_(format) {
    lowered_.input_formats.resize(region.inputs.size());
    is_placed_.resize(region.inputs.size());
  }

  std::expected<Lowered, Refusal> write() {
    const auto done = analysis_.head == Head::kConvolution ? write_convolution() : write_matmul();
    if (!done) return std::unexpected(done.error());
    if (!agrees_) return refuse(RefusalReason::kFormat, "a value that is read as activations and as weights");
    Product& product = lowered_.product;
    product.alpha = analysis_.alpha;
    product.relu = analysis_.relu;
    simplify(product);
    if (!orient(product)) return refuse(RefusalReason::kStructure, "an output whose rows are not dense");
    choose_accumulated();
    return std::move(lowered_);
  }

 private:
  using Done = std::expected<void, Refusal>;

  /// The tensor of a value, its port being in `format`.
  Seen read(ValueId id, const Format& format) {
    const auto port = static_cast<std::size_t>(std::ranges::find(region_.inputs, id) - region_.inputs.begin());
    if (port == region_.inputs.size()) return seen(extents_of(graph_, id));  // constants lie as in the model
    agrees_ = agrees_ && (!is_placed_[port] || lowered_.input_formats[port] == format);
    is_placed_[port] = true;
    lowered_.input_formats[port] = format;
    return seen(extents_of(graph_, id), format);
  }

  std::uint32_t source_of(ValueId id) {
    const auto port = std::ranges::find(region_.inputs, id) - region_.inputs.begin();
    if (static_cast<std::size_t>(port) < region_.inputs.size()) return static_cast<std::uint32_t>(port);
    auto& constants = lowered_.constants;
    const auto found = std::ranges::find(constants, id) - constants.begin();
    if (static_cast<std::size_t>(found) == constants.size()) constants.push_back(id);
    return static_cast<std::uint32_t>(region_.inputs.size()) + static_cast<std::uint32_t>(found);
  }

  /// An operand whose last two axes are rows and columns.
  static Operand operand(std::uint32_t source, const Seen& matrices) {
    const std::size_t rank = matrices.rank();
    return {.source = source,
            .row = matrices.steps[rank - 2],
            .column = matrices.steps[rank - 1],
            .batch = {matrices.steps.begin(), matrices.steps.end() - 2}};
  }

  Done write_matmul() {
    const Seen left = in_order(read(analysis_.a.value, plain()), analysis_.a.order);
    const Seen right = in_order(read(analysis_.b.value, plain()), analysis_.b.order);
    if (left.rank() == 0 || right.rank() == 0) return refuse(RefusalReason::kShape, "a scalar factor");
    Seen a = left;
    Seen b = right;
    if (left.rank() == 1) a.insert(0, 1);
    if (right.rank() == 1) b.insert(1, 1);
    Product& product = lowered_.product;
    product.m = a.extents[a.rank() - 2];
    product.k = a.extents[a.rank() - 1];
    product.n = b.extents[b.rank() - 1];
    if (b.extents[b.rank() - 2] != product.k) return refuse(RefusalReason::kShape, "factors that do not fit");
    const Extents batch_a(a.extents.begin(), a.extents.end() - 2);
    const Extents batch_b(b.extents.begin(), b.extents.end() - 2);
    product.batch.assign(std::max(batch_a.size(), batch_b.size()), 1);
    for (const Extents* batch : {&batch_a, &batch_b})
      for (std::size_t i = 0; i < batch->size(); ++i)
        if (const std::int64_t extent = (*batch)[batch->size() - 1 - i]; extent != 1)
          product.batch[product.batch.size() - 1 - i] = extent;
    const auto with_batch = [&](std::int64_t rows, std::int64_t columns) {
      Extents extents = product.batch;
      extents.insert(extents.end(), {rows, columns});
      return extents;
    };
    const auto all_a = broadcast(a, with_batch(product.m, product.k));
    const auto all_b = broadcast(b, with_batch(product.k, product.n));
    if (!all_a || !all_b) return refuse(RefusalReason::kShape, "batches that do not fit");
    product.a = operand(source_of(analysis_.a.value), *all_a);
    product.b = operand(source_of(analysis_.b.value), *all_b);
    return write_matmul_output(left.rank() == 1, right.rank() == 1);
  }

  Done write_matmul_output(bool left_is_vector, bool right_is_vector) {
    Product& product = lowered_.product;
    const Extents extents = extents_of(graph_, analysis_.product);
    const auto with_vectors = [&](Seen tensor) {
      if (left_is_vector) tensor.insert(product.batch.size(), 1);
      if (right_is_vector) tensor.insert(tensor.rank(), 1);
      return tensor;
    };
    Extents expected = product.batch;
    expected.insert(expected.end(), {product.m, product.n});
    if (with_vectors(seen(extents)).extents != expected)
      return refuse(RefusalReason::kShape, "an output of other size");
    Seen out = seen(extents);
    if (!analysis_.out_order.empty()) {
      const Seen written = seen(in_order(out, analysis_.out_order).extents);
      for (std::size_t i = 0; i < out.rank(); ++i)
        out.steps[static_cast<std::size_t>(analysis_.out_order[i])] = written.steps[i];
    }
    product.out = operand(0, with_vectors(out));
    for (const Term& term : analysis_.terms) {
      const auto added = broadcast(read(term.value, plain()), extents);
      if (!added) return refuse(RefusalReason::kShape, "an addend that does not fit");
      product.addends.push_back({operand(source_of(term.value), with_vectors(*added)), term.scale});
    }
    return {};
  }

  /// [n, spatial..., c]: pixels of the last axis are the rows, channels the columns, the other axes are the batch.
  static Seen channels_behind(Seen tensor) {
    std::rotate(tensor.extents.begin() + 1, tensor.extents.begin() + 2, tensor.extents.end());
    std::rotate(tensor.steps.begin() + 1, tensor.steps.begin() + 2, tensor.steps.end());
    return tensor;
  }

  Done write_convolution() {
    Product& product = lowered_.product;
    const Extents extents = extents_of(graph_, analysis_.product);
    const Seen pixels = channels_behind(read(analysis_.a.value, format_));
    const Seen weights = read(analysis_.b.value, plain());
    const Seen out = channels_behind(seen(extents, format_));
    const std::size_t rank = out.rank();
    if (weights.extents[1] != pixels.extents[rank - 1] || weights.extents[0] != extents[1])
      return refuse(RefusalReason::kShape, "weights that do not fit");
    product.batch.assign(out.extents.begin(), out.extents.end() - 2);
    product.m = out.extents[rank - 2];
    product.n = extents[1];
    product.k = weights.extents[1];
    product.a = operand(source_of(analysis_.a.value), pixels);
    product.b = {.source = source_of(analysis_.b.value),
                 .row = weights.steps[1],
                 .column = weights.steps[0],
                 .batch = Extents(product.batch.size(), 0)};
    product.out = operand(0, out);
    lowered_.output_format = format_;
    for (const Term& term : analysis_.terms)
      if (auto ok = add_to_convolution(term, extents); !ok) return ok;
    return {};
  }

  Done add_to_convolution(const Term& term, const Extents& extents) {
    const Extents own = extents_of(graph_, term.value);
    const bool has_format = !term.is_per_channel && own.size() == extents.size();
    Seen tensor = read(term.value, has_format ? format_ : plain());
    if (term.is_per_channel)
      while (tensor.rank() + 1 < extents.size()) tensor.insert(tensor.rank(), 1);
    const auto added = broadcast(tensor, extents);
    if (!added) return refuse(RefusalReason::kShape, "an addend that does not fit");
    lowered_.product.addends.push_back({operand(source_of(term.value), channels_behind(*added)), term.scale});
    return {};
  }

  /// Moves an addend that lies as the output does to the front.
  void choose_accumulated() {
    Product& product = lowered_.product;
    if (product.k == 0) return;
    const auto lies_as_out = [&](const Addend& addend) {
      return (product.m == 1 || addend.operand.row == product.out.row) &&
             (product.n == 1 || addend.operand.column == product.out.column) &&
             addend.operand.batch == product.out.batch;
    };
    const auto found = std::ranges::find_if(product.addends, lies_as_out);
    if (found == product.addends.end()) return;
    std::rotate(product.addends.begin(), found, found + 1);
    product.accumulates = true;
    const std::uint32_t source = product.addends[0].operand.source;
    const bool is_read_later = product.a.source == source || product.b.source == source ||
                               std::any_of(product.addends.begin() + 1, product.addends.end(),
                                           [&](const Addend& addend) { return addend.operand.source == source; });
    if (source < region_.inputs.size() && !is_read_later) lowered_.in_place.emplace_back(0, source);
  }

  const Graph& graph_;
  const Region& region_;
  const Analysis& analysis_;
  Format format_;
  Lowered lowered_;
  std::vector<bool> is_placed_;  ///< by input: its format is chosen
  bool agrees_ = true;           ///< no input was asked for in two formats
};

}  // namespace

std::expected<Lowered, Refusal> lower(const Graph& graph, const Region& region, const Analysis& analysis,
                                      const Format& format) {
  return Writer(graph, region, analysis, format).write();
}

}  // namespace collage::blas
