#include "movement/copy_program.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "movement/copy_loops.h"
#include "parallel.h"

namespace collage::host {
namespace {

bool is_dense_pair(const BlockAxis& outer, const BlockAxis& inner) {
  return outer.from_stride == inner.from_stride * inner.extent && outer.to_stride == inner.to_stride * inner.extent;
}

class CopyCall final : public Call {
 public:
  explicit CopyCall(std::vector<BoundLoop> loops) : loops_(std::move(loops)) {}
  Result<void> run() override {
    for (const BoundLoop& loop : loops_) run_loop(loop);
    return {};
  }

 private:
  std::vector<BoundLoop> loops_;
};

class CopyKernel final : public Kernel {
 public:
  CopyKernel(CopyProgram program, const std::vector<Tensor>& constants, int threads)
      : program_(std::move(program)), threads_(threads) {
    for (const Tensor& constant : constants) constants_.push_back(constant.data.data());
    for (const Block& block : program_.blocks) loops_.push_back(plan_loop(block, program_.element_bytes));
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    std::vector<BoundLoop> bound;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      const Block& block = program_.blocks[i];
      const std::byte* from = source_of(block, buffers);
      auto* to = static_cast<std::byte*>(buffers.outputs[block.output]) + block.to * program_.element_bytes;
      // A part that already lies in its place needs no copy.
      if (loops_[i].elements() == 0 || (from == to && loops_[i].is_dense())) continue;
      const int threads = threads_for(threads_, loops_[i].bytes(), loops_[i].parts());
      bound.push_back({.loop = &loops_[i], .from = from, .to = to, .threads = threads, .pool = buffers.pool});
    }
    return std::make_unique<CopyCall>(std::move(bound));
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  [[nodiscard]] const std::byte* source_of(const Block& block, const Buffers& buffers) const {
    if (!block.fill.empty()) return nullptr;
    const std::size_t ports = buffers.inputs.size();
    const std::byte* start = block.input < ports ? static_cast<const std::byte*>(buffers.inputs[block.input])
                                                 : constants_[block.input - ports];
    return start + block.from * program_.element_bytes;
  }

  CopyProgram program_;
  std::vector<const std::byte*> constants_;
  std::vector<CopyLoop> loops_;
  int threads_;
};

/// More elements than a port has bytes; products of strides and extents below do not overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 56;
/// A run descends one call per axis.
constexpr std::size_t kMostAxes = 64;

/// Least and one past the greatest element that a side of a block touches; nothing where that is beyond all memory.
std::optional<std::pair<std::int64_t, std::int64_t>> reach(const Block& block, std::int64_t first,
                                                           std::int64_t BlockAxis::*stride) {
  std::int64_t low = first;
  std::int64_t high = first;
  if (first < 0 || first > kMostElements) return std::nullopt;
  for (const BlockAxis& axis : block.axes) {
    if (axis.extent == 0) return std::pair<std::int64_t, std::int64_t>{0, 0};
    std::int64_t last = 0;
    if (__builtin_mul_overflow(axis.extent - 1, axis.*stride, &last) || last < -kMostElements || last > kMostElements)
      return std::nullopt;
    (last < 0 ? low : high) += last;
    if (low < -kMostElements || high > kMostElements) return std::nullopt;
  }
  return std::pair{low, high + 1};
}

/// The bytes of a port; nothing where there is none, or where its extents are not known.
std::optional<std::size_t> port_bytes(const std::vector<Port>& ports, std::size_t port) {
  if (port >= ports.size() || !ports[port].type.is_static()) return std::nullopt;
  return byte_count(stored_element(ports[port].type, ports[port].place.format), ports[port].type.extents());
}

bool fits(const Block& block, const LoadRequest& request, std::int64_t element_bytes) {
  const std::size_t ports = request.inputs.size();
  const bool is_constant = block.input >= ports && block.input - ports < request.constants.size();
  const std::optional<std::size_t> from_bytes =
      is_constant ? request.constants[block.input - ports].data.size() : port_bytes(request.inputs, block.input);
  const auto inside = [&](std::optional<std::size_t> bytes, std::int64_t first, std::int64_t BlockAxis::*stride) {
    const auto range = reach(block, first, stride);
    return bytes && range && range->first >= 0 && range->second <= static_cast<std::int64_t>(*bytes) / element_bytes;
  };
  std::int64_t copied = 1;
  const bool is_sane = block.axes.size() <= kMostAxes && std::ranges::all_of(block.axes, [&](const BlockAxis& axis) {
                         return axis.extent >= 0 && axis.extent <= kMostElements &&
                                (block.fill.empty() || axis.from_stride == 0) &&
                                !__builtin_mul_overflow(copied, axis.extent, &copied);
                       });
  const std::optional<std::size_t> to_bytes = port_bytes(request.outputs, block.output);
  if (!is_sane || !inside(to_bytes, block.to, &BlockAxis::to_stride)) return false;
  if (copied > static_cast<std::int64_t>(*to_bytes) / element_bytes) return false;  // no element is written twice
  return block.fill.empty() ? inside(from_bytes, block.from, &BlockAxis::from_stride)
                            : block.fill.size() == static_cast<std::size_t>(element_bytes);
}

}  // namespace

Block normalised(Block block) {
  const bool is_empty = std::ranges::any_of(block.axes, [](const BlockAxis& axis) { return axis.extent == 0; });
  if (is_empty) {
    block.axes = {{.extent = 0}};
    return block;
  }
  std::erase_if(block.axes, [](const BlockAxis& axis) { return axis.extent == 1; });
  std::ranges::stable_sort(block.axes,
                           [](const BlockAxis& a, const BlockAxis& b) { return a.to_stride > b.to_stride; });
  std::vector<BlockAxis> merged;
  for (const BlockAxis& axis : block.axes) {
    if (!merged.empty() && is_dense_pair(merged.back(), axis)) {
      merged.back() = {merged.back().extent * axis.extent, axis.from_stride, axis.to_stride};
    } else {
      merged.push_back(axis);
    }
  }
  block.axes = std::move(merged);
  return block;
}

bool is_view(const CopyProgram& program, std::uint32_t input, std::int64_t elements) {
  if (program.blocks.size() != 1) return false;
  const Block block = normalised(program.blocks.front());
  if (!block.fill.empty() || block.input != input || block.from != 0 || block.to != 0) return false;
  if (block.axes.empty()) return elements == 1;
  return block.axes == std::vector<BlockAxis>{{elements, 1, 1}} || block.axes.front().extent == 0;
}

nlohmann::json to_json(const CopyProgram& program) {
  nlohmann::json blocks = nlohmann::json::array();
  for (const Block& block : program.blocks) {
    nlohmann::json axes = nlohmann::json::array();
    for (const BlockAxis& axis : block.axes) axes.push_back({axis.extent, axis.from_stride, axis.to_stride});
    nlohmann::json entry = {{"output", block.output}, {"to", block.to}, {"axes", std::move(axes)}};
    if (block.fill.empty()) {
      entry["input"] = block.input;
      entry["from"] = block.from;
    } else {
      entry["fill"] = block.fill;
    }
    blocks.push_back(std::move(entry));
  }
  return {{"element_bytes", program.element_bytes}, {"blocks", std::move(blocks)}};
}

CopyProgram copy_program_of(const nlohmann::json& json) {
  CopyProgram program{.element_bytes = json.at("element_bytes").get<std::int64_t>(), .blocks = {}};
  for (const nlohmann::json& entry : json.at("blocks")) {
    Block block;
    block.output = entry.at("output").get<std::uint32_t>();
    block.to = entry.at("to").get<std::int64_t>();
    if (entry.contains("fill")) {
      block.fill = entry.at("fill").get<std::vector<std::uint8_t>>();
    } else {
      block.input = entry.at("input").get<std::uint32_t>();
      block.from = entry.at("from").get<std::int64_t>();
    }
    for (const nlohmann::json& axis : entry.at("axes"))
      block.axes.push_back(
          {axis.at(0).get<std::int64_t>(), axis.at(1).get<std::int64_t>(), axis.at(2).get<std::int64_t>()});
    program.blocks.push_back(std::move(block));
  }
  return program;
}

Result<std::unique_ptr<Kernel>> load_copy(const CopyProgram& program, const LoadRequest& request) {
  const bool sane = program.element_bytes >= 1 && program.element_bytes <= 16 &&
                    std::has_single_bit(static_cast<std::uint64_t>(program.element_bytes)) &&
                    std::ranges::all_of(program.blocks, [&](const Block& block) {
                      return fits(block, request, program.element_bytes);
                    });
  if (!sane)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", "a copy outside its ports", "blocks inside them");
  return std::make_unique<CopyKernel>(program, request.constants, request.threads);
}

}  // namespace collage::host
