// Runs element programs. Per tile: prepare the operands that are not dense, then one loop per instruction. Results of
// instructions live in tiles that later instructions reuse, so a long chain keeps to a few KiB of cache.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "elementwise/element_loops.h"
#include "elementwise/element_program.h"
#include "parallel.h"

namespace collage::host {
namespace {

constexpr std::int64_t kTile = 1024;  // elements; 4 KiB of f32

/// Short periods are laid out once per run with one more tile, so that every tile finds its part dense.
constexpr std::int64_t kMaxPattern = 4096;

enum class Access : std::uint8_t {
  kDense,    ///< read where it lies
  kPattern,  ///< a scalar or a short period: laid out once per run
  kRuns,     ///< a long period, or each element repeats: filled tile by tile
  kWalk      ///< strides: gathered tile by tile
};

Access access_of(const Operand& operand, std::int64_t count) {
  if (!operand.axes.empty()) return Access::kWalk;
  if (operand.period == count && operand.run == 1) return Access::kDense;
  if (operand.period == 1 || (operand.run == 1 && operand.period <= kMaxPattern)) return Access::kPattern;
  return Access::kRuns;
}

template <std::int64_t E>
void repeat_into(std::byte* out, const std::byte* element, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * E, element, static_cast<std::size_t>(E));
}
void repeat_element(std::byte* out, const std::byte* element, std::int64_t n, std::int64_t bytes) {
  switch (bytes) {
    case 1:
      return repeat_into<1>(out, element, n);
    case 2:
      return repeat_into<2>(out, element, n);
    case 4:
      return repeat_into<4>(out, element, n);
    default:
      return repeat_into<8>(out, element, n);
  }
}

template <std::int64_t E>
void gather_into(std::byte* out, const std::byte* from, std::int64_t n, std::int64_t stride) {
  for (std::int64_t i = 0; i < n; ++i) std::memcpy(out + i * E, from + i * stride * E, static_cast<std::size_t>(E));
}
void gather_elements(std::byte* out, const std::byte* from, std::int64_t n, std::int64_t stride, std::int64_t bytes) {
  if (stride == 1) {
    std::memcpy(out, from, static_cast<std::size_t>(n * bytes));
    return;
  }
  switch (bytes) {
    case 1:
      return gather_into<1>(out, from, n, stride);
    case 2:
      return gather_into<2>(out, from, n, stride);
    case 4:
      return gather_into<4>(out, from, n, stride);
    default:
      return gather_into<8>(out, from, n, stride);
  }
}

struct LoadedOperand {
  Operand operand;
  Access access = Access::kDense;
  std::int64_t bytes = 4;  ///< of one element
  const std::byte* constant = nullptr;
};

struct LoadedInstruction {
  ElementLoop loop = nullptr;
  std::uint32_t in[3] = {0, 0, 0};
  double params[2] = {0.0, 0.0};
  std::uint32_t tile = 0;    ///< where the result lies when it is no output
  std::int32_t output = -1;  ///< output port it is written to
  std::int64_t bytes = 4;    ///< of one element of the result
};

struct LoadedProgram {
  std::int64_t count = 0;
  std::vector<LoadedOperand> operands;
  std::vector<LoadedInstruction> instructions;
  std::uint32_t tiles = 0;
};

/// Elements i, i+1, ... of an operand with runs.
void fill_runs(const Operand& operand, const std::byte* data, std::int64_t bytes, std::int64_t i, std::int64_t n,
               std::byte* out) {
  while (n > 0) {
    const std::int64_t part =
        std::min(n, operand.run == 1 ? operand.period - i % operand.period : operand.run - i % operand.run);
    if (operand.run == 1) {
      std::memcpy(out, data + i % operand.period * bytes, static_cast<std::size_t>(part * bytes));
    } else {
      repeat_element(out, data + i / operand.run % operand.period * bytes, part, bytes);
    }
    out += part * bytes;
    i += part;
    n -= part;
  }
}

/// Elements i, i+1, ... of an operand with strides.
void walk(const Operand& operand, const std::byte* data, std::int64_t bytes, std::int64_t i, std::int64_t n,
          std::byte* out) {
  const OperandAxis& inner = operand.axes.back();
  while (n > 0) {
    std::int64_t rest = i / inner.extent;
    std::int64_t offset = i % inner.extent * inner.stride;
    for (std::size_t axis = operand.axes.size() - 1; axis-- > 0;) {
      offset += rest % operand.axes[axis].extent * operand.axes[axis].stride;
      rest /= operand.axes[axis].extent;
    }
    const std::int64_t part = std::min(n, inner.extent - i % inner.extent);
    gather_elements(out, data + offset * bytes, part, inner.stride, bytes);
    out += part * bytes;
    i += part;
    n -= part;
  }
}

/// Memory for patterns and tiles.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : data_(static_cast<std::byte*>(std::aligned_alloc(64, std::max<std::size_t>((bytes + 63) / 64 * 64, 64)))) {
    if (data_ == nullptr) throw std::bad_alloc();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(data_); }
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::byte* data_;
};

constexpr int kMostBits = 64;  ///< of an element in a tile
constexpr std::size_t kTileBytes = static_cast<std::size_t>(kTile) * kMostBits / 8;
/// A region has far fewer nodes.
constexpr std::size_t kMostInstructions = 4096;

/// What one thread needs: a tile per live result and per operand that is filled tile by tile.
struct Lane {
  std::byte* tiles = nullptr;
  std::vector<std::byte*> operand_tiles;  ///< by operand; null where none is needed
  std::vector<const void*> registers;     ///< pointers to the current tile
};

class ElementCall final : public Call {
 public:
  ElementCall(const LoadedProgram& program, const Buffers& buffers, int threads)
      : program_(program),
        outputs_(buffers.outputs),
        threads_(threads),
        pool_(buffers.pool),
        scratch_(pattern_bytes(program) + lane_bytes(program) * static_cast<std::size_t>(threads)) {
    std::byte* next = scratch_.data();
    for (const LoadedOperand& operand : program.operands) {
      data_.push_back(operand.constant != nullptr
                          ? operand.constant
                          : static_cast<const std::byte*>(buffers.inputs[operand.operand.source]));
      patterns_.push_back(next);
      next += pattern_bytes(operand);
    }
    for (int thread = 0; thread < threads; ++thread) {
      lanes_.push_back(make_lane(next));
      next += lane_bytes(program);
    }
  }

  Result<void> run() override {
    if (program_.count == 0) return {};
    for (std::size_t k = 0; k < program_.operands.size(); ++k)
      if (program_.operands[k].access == Access::kPattern) lay_out_pattern(k);
    const std::int64_t tiles = (program_.count + kTile - 1) / kTile;
    in_ranges(pool_, threads_, tiles, [&](std::int64_t first, std::int64_t last, int thread) {
      for (std::int64_t tile = first; tile < last; ++tile)
        run_tile(lanes_[static_cast<std::size_t>(thread)], tile * kTile,
                 std::min(kTile, program_.count - tile * kTile));
    });
    return {};
  }

 private:
  static std::size_t pattern_bytes(const LoadedOperand& operand) {
    if (operand.access != Access::kPattern) return 0;
    return (static_cast<std::size_t>((operand.operand.period + kTile) * operand.bytes) + 63) / 64 * 64;
  }
  static std::size_t pattern_bytes(const LoadedProgram& program) {
    std::size_t bytes = 0;
    for (const LoadedOperand& operand : program.operands) bytes += pattern_bytes(operand);
    return bytes;
  }
  static bool needs_tile(const LoadedOperand& operand) {
    return operand.access == Access::kRuns || operand.access == Access::kWalk;
  }
  static std::size_t lane_bytes(const LoadedProgram& program) {
    return (program.tiles + static_cast<std::size_t>(std::ranges::count_if(program.operands, needs_tile))) * kTileBytes;
  }

  Lane make_lane(std::byte* memory) const {
    Lane lane{.tiles = memory, .operand_tiles = {}, .registers = {}};
    memory += program_.tiles * kTileBytes;
    for (const LoadedOperand& operand : program_.operands) {
      lane.operand_tiles.push_back(needs_tile(operand) ? memory : nullptr);
      if (needs_tile(operand)) memory += kTileBytes;
    }
    lane.registers.resize(program_.operands.size() + program_.instructions.size());
    return lane;
  }

  void lay_out_pattern(std::size_t k) {
    const LoadedOperand& operand = program_.operands[k];
    const std::int64_t period = operand.operand.period;
    if (period == 1) {
      repeat_element(patterns_[k], data_[k], std::min(kTile + 1, program_.count), operand.bytes);
      return;
    }
    for (std::int64_t i = 0; i < period + kTile; i += period)
      std::memcpy(patterns_[k] + i * operand.bytes, data_[k],
                  static_cast<std::size_t>(std::min(period, period + kTile - i) * operand.bytes));
  }

  const void* prepare(const Lane& lane, std::size_t k, std::int64_t i, std::int64_t n) const {
    const LoadedOperand& operand = program_.operands[k];
    switch (operand.access) {
      case Access::kDense:
        return data_[k] + i * operand.bytes;
      case Access::kPattern:
        return patterns_[k] + i % operand.operand.period * operand.bytes;
      case Access::kRuns:
        fill_runs(operand.operand, data_[k], operand.bytes, i, n, lane.operand_tiles[k]);
        break;
      case Access::kWalk:
        walk(operand.operand, data_[k], operand.bytes, i, n, lane.operand_tiles[k]);
        break;
    }
    return lane.operand_tiles[k];
  }

  void run_tile(Lane& lane, std::int64_t i, std::int64_t n) const {
    const std::size_t operands = program_.operands.size();
    for (std::size_t k = 0; k < operands; ++k) lane.registers[k] = prepare(lane, k, i, n);
    const void** result = lane.registers.data() + operands;
    for (const LoadedInstruction& instruction : program_.instructions) {
      void* out = lane.tiles + instruction.tile * kTileBytes;
      if (instruction.output >= 0)
        out = static_cast<std::byte*>(outputs_[static_cast<std::size_t>(instruction.output)]) + i * instruction.bytes;
      const void* in[3] = {lane.registers[instruction.in[0]], lane.registers[instruction.in[1]],
                           lane.registers[instruction.in[2]]};
      instruction.loop(out, in, instruction.params, n);
      *result++ = out;
    }
  }

  const LoadedProgram& program_;
  std::vector<void*> outputs_;
  int threads_;
  ThreadPool* pool_;
  Scratch scratch_;
  std::vector<const std::byte*> data_;  ///< by operand
  std::vector<std::byte*> patterns_;    ///< by operand
  std::vector<Lane> lanes_;             ///< by thread
};

class ElementKernel final : public Kernel {
 public:
  ElementKernel(LoadedProgram program, int threads) : program_(std::move(program)) {
    std::int64_t bytes = 0;
    for (const LoadedOperand& operand : program_.operands) bytes += program_.count * operand.bytes;
    for (const LoadedInstruction& instruction : program_.instructions) bytes += program_.count * instruction.bytes;
    threads_ = threads_for(threads, bytes, (program_.count + kTile - 1) / kTile);
  }
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<ElementCall>(program_, buffers, threads_);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  LoadedProgram program_;
  int threads_ = 1;
};

ElementType stored_in(const Port& port) { return stored_element(port.type, port.place.format); }

/// Elements of the source that an operand may touch; -1 for nonsense.
std::int64_t reach(const Operand& operand, std::int64_t count) {
  if (operand.axes.empty()) {
    const std::int64_t least = count > 0 ? 1 : 0;
    return operand.run >= least && operand.period >= least ? operand.period : -1;
  }
  std::int64_t reached = 1;
  std::int64_t elements = 1;
  for (const OperandAxis& axis : operand.axes) {
    std::int64_t step = 0;
    if (axis.extent < 1 || axis.stride < 0 || __builtin_mul_overflow(axis.extent - 1, axis.stride, &step) ||
        __builtin_add_overflow(reached, step, &reached) || __builtin_mul_overflow(elements, axis.extent, &elements))
      return -1;
  }
  return elements == count ? reached : -1;
}

/// In a register: of an operand, or of an instruction's result.
ElementType element_at(const ElementProgram& program, std::uint32_t index) {
  const std::size_t operands = program.operands.size();
  return index < operands ? program.operands[index].type : program.instructions[index - operands].to;
}

/// The registers it reads are written before it, and hold elements of the type that its loop reads.
bool reads_right(const ElementProgram& program, std::size_t index) {
  const Instruction& instruction = program.instructions[index];
  const auto holds = [&](std::uint32_t in, ElementType type) {
    return in < program.operands.size() + index && element_at(program, in) == type;
  };
  if (instruction.operation != "Where")
    return !instruction.in.empty() && instruction.in.size() <= 3 &&
           std::ranges::all_of(instruction.in, [&](std::uint32_t in) { return holds(in, instruction.from); });
  return instruction.in.size() == 3 && holds(instruction.in[0], ElementType::kBool) &&
         holds(instruction.in[1], instruction.to) && holds(instruction.in[2], instruction.to);
}

/// Tiles for the results that are no outputs; a tile is free again after its result's last reader.
void assign_tiles(const ElementProgram& program, LoadedProgram& loaded) {
  const std::size_t operands = program.operands.size();
  std::vector<std::size_t> last_reader(program.instructions.size(), 0);
  for (std::size_t i = 0; i < program.instructions.size(); ++i)
    for (const std::uint32_t in : program.instructions[i].in)
      if (in >= operands) last_reader[in - operands] = i;
  std::vector<std::uint32_t> free_tiles;
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    LoadedInstruction& instruction = loaded.instructions[i];
    if (instruction.output < 0) {
      if (free_tiles.empty()) free_tiles.push_back(loaded.tiles++);
      instruction.tile = free_tiles.back();
      free_tiles.pop_back();
    }
    for (std::size_t k = 0; k < i; ++k)
      if (last_reader[k] == i && loaded.instructions[k].output < 0) free_tiles.push_back(loaded.instructions[k].tile);
  }
}

}  // namespace

Result<std::unique_ptr<Kernel>> load_elements(const ElementProgram& program, const LoadRequest& request) {
  const auto bad = [](std::string saw) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", std::move(saw),
                "an element-wise program that fits");
  };
  LoadedProgram loaded{.count = program.count, .operands = {}, .instructions = {}, .tiles = 0};
  const std::size_t ports = request.inputs.size();
  if (program.instructions.size() > kMostInstructions || program.outputs.empty()) return bad("no such chain");
  for (const Operand& operand : program.operands) {
    if (operand.source >= ports + request.constants.size()) return bad("an operand without a source");
    const bool is_constant = operand.source >= ports;
    const Tensor* constant = is_constant ? &request.constants[operand.source - ports] : nullptr;
    const ValueType type = is_constant ? constant->value_type() : request.inputs[operand.source].type;
    const ElementType stored = is_constant ? type.element : stored_in(request.inputs[operand.source]);
    const int bits = bits_of(type.element);
    if (stored != operand.type || !type.is_static() || bits <= 0 || bits % 8 != 0 || bits > kMostBits)
      return bad("a wrong type");
    const std::int64_t needed = reach(operand, program.count);
    const std::int64_t there =
        is_constant ? static_cast<std::int64_t>(constant->data.size()) * 8 / bits : element_count(type.extents());
    if (needed < 0 || needed > there) return bad("an operand read past its end");
    loaded.operands.push_back({.operand = operand,
                               .access = access_of(operand, program.count),
                               .bytes = bits_of(operand.type) / 8,
                               .constant = is_constant ? constant->data.data() : nullptr});
  }
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const ElementLoop loop = find_element_loop(instruction.operation, instruction.from, instruction.to);
    if (loop == nullptr || instruction.params.size() > 2 || !reads_right(program, i))
      return bad("operation " + instruction.operation);
    LoadedInstruction next{.loop = loop, .bytes = bits_of(instruction.to) / 8};
    std::ranges::fill(next.in, instruction.in.front());
    std::ranges::copy(instruction.in, next.in);
    std::ranges::copy(instruction.params, next.params);
    loaded.instructions.push_back(next);
  }
  if (program.outputs.size() != request.outputs.size()) return bad("another number of outputs");
  for (std::size_t port = 0; port < program.outputs.size(); ++port) {
    const std::size_t writer = program.outputs[port] - program.operands.size();
    if (writer >= loaded.instructions.size() || loaded.instructions[writer].output >= 0 ||
        program.instructions[writer].to != stored_in(request.outputs[port]) ||
        element_count(request.outputs[port].type.extents()) != program.count)
      return bad("an output that no instruction writes");
    loaded.instructions[writer].output = static_cast<std::int32_t>(port);
  }
  assign_tiles(program, loaded);
  return std::make_unique<ElementKernel>(std::move(loaded), request.threads);
}

}  // namespace collage::host
