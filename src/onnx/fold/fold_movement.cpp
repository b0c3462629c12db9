#include <algorithm>
#include <limits>

#include "ir/broadcast.h"
#include "onnx/fold/fold_parts.h"

namespace collage {

Folded fold_shape(const Operands& in) {
  if (in.request.node.input_size() != 1) return std::nullopt;
  const auto shape = in.request.shape_of(in.request.node.input(0));
  if (!shape) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape->size());
  const auto clamp = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t start = clamp(in.attribute("start", 0));
  const std::int64_t end = clamp(in.attribute("end", rank));
  if (start >= end) return one(small_vector({}));
  return one(small_vector(Ints(shape->begin() + start, shape->begin() + end)));
}

Folded fold_size(const Operands& in) {
  if (in.request.node.input_size() != 1) return std::nullopt;
  const auto shape = in.request.shape_of(in.request.node.input(0));
  if (!shape) return std::nullopt;
  std::int64_t count = 1;
  for (const std::int64_t extent : *shape)
    if (__builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  return one({.type = pb::TensorProto::INT64, .dims = {}, .ints = {count}, .floats = {}});
}

Folded fold_gather(const Operands& in) {
  const SmallValue* data = in.at(0);
  const SmallValue* indices = in.at(1);
  if (!data || !indices || indices->is_float()) return std::nullopt;
  const auto axis = wrap_axis(in.attribute("axis", 0), data->rank());
  if (!axis) return std::nullopt;
  const auto split = data->dims.begin() + *axis;
  Ints dims(data->dims.begin(), split);
  dims.insert(dims.end(), indices->dims.begin(), indices->dims.end());
  dims.insert(dims.end(), split + 1, data->dims.end());
  if (!small_count(dims)) return std::nullopt;
  const std::int64_t extent = *split;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (auto d = data->dims.begin(); d != split; ++d) outer *= *d;
  for (auto d = split + 1; d != data->dims.end(); ++d) inner *= *d;
  SmallValue result = small_like(*data, dims);
  for (std::int64_t o = 0; o < outer; ++o)
    for (const std::int64_t raw : indices->ints) {
      const std::int64_t index = raw < 0 ? raw + extent : raw;
      if (index < 0 || index >= extent) return std::nullopt;
      for (std::int64_t i = 0; i < inner; ++i)
        take(result, *data, static_cast<std::size_t>((o * extent + index) * inner + i));
    }
  return one(std::move(result));
}

Folded fold_concat(const Operands& in) {
  if (!in.at(0)) return std::nullopt;
  const auto axis = wrap_axis(in.attribute("axis", 0), in.at(0)->rank());
  if (!axis) return std::nullopt;
  const auto at = static_cast<std::size_t>(*axis);
  Ints dims = in.at(0)->dims;
  dims[at] = 0;
  for (std::size_t i = 0; i < in.request.inputs.size(); ++i) {
    const SmallValue* part = in.at(i);
    if (!part || part->type != in.at(0)->type || part->dims.size() != dims.size()) return std::nullopt;
    for (std::size_t d = 0; d < dims.size(); ++d)
      if (d != at && part->dims[d] != dims[d]) return std::nullopt;
    dims[at] += part->dims[at];
  }
  if (!small_count(dims)) return std::nullopt;
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t d = 0; d < at; ++d) outer *= dims[d];
  for (std::size_t d = at + 1; d < dims.size(); ++d) inner *= dims[d];
  SmallValue result = small_like(*in.at(0), dims);
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < in.request.inputs.size(); ++i) {
      const std::int64_t run = in.at(i)->dims[at] * inner;
      for (std::int64_t k = 0; k < run; ++k) take(result, *in.at(i), static_cast<std::size_t>(o * run + k));
    }
  return one(std::move(result));
}

namespace {

Folded reshaped(const SmallValue& from, Ints dims) {
  const auto count = small_count(dims);
  if (!count || *count != from.size()) return std::nullopt;
  SmallValue result = from;
  result.dims = std::move(dims);
  return one(std::move(result));
}

}  // namespace

Folded fold_reshape(const Operands& in) {
  const SmallValue* data = in.at(0);
  const Ints* wanted = in.ints(1);
  if (!data || !wanted) return std::nullopt;
  Ints dims;
  std::int64_t known = 1;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    std::int64_t dim = (*wanted)[i];
    if (dim == 0 && in.attribute("allowzero", 0) == 0) {
      if (i >= data->dims.size()) return std::nullopt;
      dim = data->dims[i];
    }
    if (dim == -1 && open) return std::nullopt;
    if (dim == -1)
      open = i;
    else if (dim < 0 || dim > static_cast<std::int64_t>(kMostSmallElements))
      return std::nullopt;
    else
      known *= dim;
    if (known > static_cast<std::int64_t>(kMostSmallElements)) return std::nullopt;
    dims.push_back(dim);
  }
  if (open) {
    if (known == 0 || static_cast<std::int64_t>(data->size()) % known != 0) return std::nullopt;
    dims[*open] = static_cast<std::int64_t>(data->size()) / known;
  }
  return reshaped(*data, std::move(dims));
}

Folded fold_squeeze(const Operands& in) {
  const SmallValue* data = in.at(0);
  if (!data || (in.named(1) && !in.ints(1))) return std::nullopt;
  std::vector<bool> drop(data->dims.size(), false);
  if (!in.named(1))
    for (std::size_t d = 0; d < drop.size(); ++d) drop[d] = data->dims[d] == 1;
  for (const std::int64_t raw : in.named(1) ? *in.ints(1) : Ints{}) {
    const auto axis = wrap_axis(raw, data->rank());
    if (!axis || data->dims[static_cast<std::size_t>(*axis)] != 1) return std::nullopt;
    drop[static_cast<std::size_t>(*axis)] = true;
  }
  Ints dims;
  for (std::size_t d = 0; d < drop.size(); ++d)
    if (!drop[d]) dims.push_back(data->dims[d]);
  return reshaped(*data, std::move(dims));
}

Folded fold_unsqueeze(const Operands& in) {
  const SmallValue* data = in.at(0);
  const Ints* axes = in.ints(1);
  if (!data || !axes || axes->size() > 16) return std::nullopt;
  const std::size_t rank = data->dims.size() + axes->size();
  Ints dims(rank, -1);
  for (const std::int64_t raw : *axes) {
    const auto axis = wrap_axis(raw, static_cast<std::int64_t>(rank));
    if (!axis || dims[static_cast<std::size_t>(*axis)] == 1) return std::nullopt;
    dims[static_cast<std::size_t>(*axis)] = 1;
  }
  std::size_t next = 0;
  for (std::int64_t& dim : dims)
    if (dim < 0) dim = data->dims[next++];
  return reshaped(*data, std::move(dims));
}

namespace {

/// Start, step and count along one axis.
struct Range {
  std::int64_t start = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

std::optional<Range> slice_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t extent) {
  if (step == 0 || step == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  const auto clamp = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + extent : at, low, high);
  };
  Range range{.start = 0, .step = step, .count = 0};
  if (step > 0) {
    range.start = clamp(start, 0, extent);
    const std::int64_t last = clamp(end, 0, extent);
    range.count = last > range.start ? (last - range.start - 1) / step + 1 : 0;
  } else {
    range.start = clamp(start, 0, extent - 1);
    const std::int64_t last = clamp(end, -1, extent - 1);
    range.count = last < range.start ? (range.start - last - 1) / -step + 1 : 0;
  }
  return range;
}

}  // namespace

Folded fold_slice(const Operands& in) {
  const SmallValue* data = in.at(0);
  const Ints* starts = in.ints(1);
  const Ints* ends = in.ints(2);
  const Ints* axes = in.ints(3);
  const Ints* steps = in.ints(4);
  if (!data || !starts || !ends || starts->size() != ends->size() || small_count(data->dims) == 0) return std::nullopt;
  if ((in.named(3) && (!axes || axes->size() != starts->size())) ||
      (in.named(4) && (!steps || steps->size() != starts->size())))
    return std::nullopt;
  std::vector<Range> ranges;
  for (const std::int64_t dim : data->dims) ranges.push_back({.start = 0, .step = 1, .count = dim});
  for (std::size_t i = 0; i < starts->size(); ++i) {
    const auto axis = wrap_axis(axes ? (*axes)[i] : static_cast<std::int64_t>(i), data->rank());
    if (!axis) return std::nullopt;
    const auto d = static_cast<std::size_t>(*axis);
    const auto range = slice_range((*starts)[i], (*ends)[i], steps ? (*steps)[i] : 1, data->dims[d]);
    if (!range) return std::nullopt;
    ranges[d] = *range;
  }
  Ints dims;
  for (const Range& range : ranges) dims.push_back(range.count);
  const Ints strides = strides_of(data->dims);
  SmallValue result = small_like(*data, dims);
  for_each_index(dims, *small_count(dims), [&](const Ints& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) at += (ranges[d].start + index[d] * ranges[d].step) * strides[d];
    take(result, *data, static_cast<std::size_t>(at));
  });
  return one(std::move(result));
}

Folded fold_split(const Operands& in) {
  const SmallValue* data = in.at(0);
  if (!data || (in.named(1) && !in.ints(1))) return std::nullopt;
  const auto axis = wrap_axis(in.attribute("axis", 0), data->rank());
  if (!axis) return std::nullopt;
  const auto at = static_cast<std::size_t>(*axis);
  const std::int64_t outputs = in.request.node.output_size();
  Ints parts = in.named(1) ? *in.ints(1) : Ints{};
  if (parts.empty() && outputs > 0) {
    const std::int64_t chunk = (data->dims[at] + outputs - 1) / outputs;
    for (std::int64_t i = 0, left = data->dims[at]; i < outputs; ++i, left -= parts.back())
      parts.push_back(std::min(chunk, left));
  }
  std::int64_t inner = 1;
  std::int64_t outer = 1;
  std::int64_t total = 0;
  for (std::size_t d = 0; d < at; ++d) outer *= data->dims[d];
  for (std::size_t d = at + 1; d < data->dims.size(); ++d) inner *= data->dims[d];
  for (const std::int64_t part : parts) {
    if (part < 0 || part > data->dims[at]) return std::nullopt;
    total += part;
  }
  if (total != data->dims[at] || parts.size() != static_cast<std::size_t>(outputs)) return std::nullopt;
  SmallValues results;
  std::int64_t start = 0;
  for (const std::int64_t part : parts) {
    Ints dims = data->dims;
    dims[at] = part;
    SmallValue& result = results.emplace_back(small_like(*data, dims));
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t k = start * inner; k < (start + part) * inner; ++k)
        take(result, *data, static_cast<std::size_t>(o * data->dims[at] * inner + k));
    start += part;
  }
  return results;
}

Folded fold_constant_of_shape(const Operands& in) {
  const Ints* shape = in.ints(0);
  const auto count = shape ? small_count(*shape) : std::nullopt;
  if (!count) return std::nullopt;
  SmallValue fill{.type = pb::TensorProto::FLOAT, .dims = {1}, .ints = {}, .floats = {0.0}};
  if (const auto* value = attribute_of(in.request.node, "value")) {
    auto read = read_small(value->t());
    if (!read || read->size() != 1) return std::nullopt;
    fill = std::move(*read);
  }
  SmallValue result = small_like(fill, *shape);
  for (std::size_t i = 0; i < *count; ++i) take(result, fill, 0);
  return one(std::move(result));
}

namespace {

SmallValue expanded(const SmallValue& from, const Ints& dims, std::size_t count) {
  SmallValue result = small_like(from, dims);
  for_each_index(dims, count, [&](const Ints& index) { take(result, from, source_of(index, from.dims)); });
  return result;
}

}  // namespace

Folded fold_expand(const Operands& in) {
  const SmallValue* data = in.at(0);
  const Ints* shape = in.ints(1);
  if (!data || !shape) return std::nullopt;
  const auto dims = broadcast_extents(data->dims, *shape);
  const auto count = dims ? small_count(*dims) : std::nullopt;
  if (!count) return std::nullopt;
  return one(expanded(*data, *dims, *count));
}

Folded fold_tile(const Operands& in) {
  const SmallValue* data = in.at(0);
  const Ints* repeats = in.ints(1);
  if (!data || !repeats || repeats->size() != data->dims.size()) return std::nullopt;
  Ints dims = data->dims;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if ((*repeats)[d] < 0 || (*repeats)[d] > static_cast<std::int64_t>(kMostSmallElements)) return std::nullopt;
    dims[d] *= (*repeats)[d];
  }
  const auto count = small_count(dims);
  if (!count) return std::nullopt;
  const Ints strides = strides_of(data->dims);
  SmallValue result = small_like(*data, dims);
  for_each_index(dims, *count, [&](const Ints& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) at += index[d] % data->dims[d] * strides[d];
    take(result, *data, static_cast<std::size_t>(at));
  });
  return one(std::move(result));
}

Folded fold_transpose(const Operands& in) {
  const SmallValue* data = in.at(0);
  if (!data) return std::nullopt;
  Ints order = ints_attribute(in.request.node, "perm");
  if (order.empty())
    for (std::int64_t d = data->rank(); d-- > 0;) order.push_back(d);
  Ints sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t d = 0; d < sorted.size(); ++d)
    if (sorted[d] != static_cast<std::int64_t>(d)) return std::nullopt;
  if (order.size() != data->dims.size()) return std::nullopt;
  Ints dims;
  Ints steps;
  const Ints strides = strides_of(data->dims);
  for (const std::int64_t d : order) {
    dims.push_back(data->dims[static_cast<std::size_t>(d)]);
    steps.push_back(strides[static_cast<std::size_t>(d)]);
  }
  SmallValue result = small_like(*data, dims);
  for_each_index(dims, data->size(), [&](const Ints& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < dims.size(); ++d) at += index[d] * steps[d];
    take(result, *data, static_cast<std::size_t>(at));
  });
  return one(std::move(result));
}

Folded fold_non_zero(const Operands& in) {
  const SmallValue* data = in.at(0);
  if (!data || data->dims.empty()) return std::nullopt;
  std::vector<Ints> found(data->dims.size());
  std::size_t i = 0;
  for_each_index(data->dims, data->size(), [&](const Ints& index) {
    const bool set = data->is_float() ? data->floats[i] != 0 : data->ints[i] != 0;
    ++i;
    if (!set) return;
    for (std::size_t d = 0; d < index.size(); ++d) found[d].push_back(index[d]);
  });
  SmallValue result{.type = pb::TensorProto::INT64,
                    .dims = {data->rank(), static_cast<std::int64_t>(found[0].size())},
                    .ints = {},
                    .floats = {}};
  for (const Ints& row : found) result.ints.insert(result.ints.end(), row.begin(), row.end());
  return one(std::move(result));
}

}  // namespace collage
