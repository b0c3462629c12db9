#include "kernel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include <unistd.h>

#include "backends/common/quantised/bytes.h"
#include "constants.h"
#include "library.h"
#include "subgraph.h"

namespace collage::xnnpack {
namespace {

std::unexpected<Error> library_failed(std::string what) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", "xnnpack", std::move(what));
}

bool has_packed_weights(const Program& program) {
  return std::ranges::any_of(program.ops, [](const Op& op) {
    return op.kind == OpKind::kConvolution || op.kind == OpKind::kDepthwiseConvolution ||
           op.kind == OpKind::kDeconvolution || op.kind == OpKind::kFullyConnected;
  });
}

/// What all calls of a kernel share.
struct Loaded {
  Program program;
  Ports ports;
  std::vector<Buffer> bytes;  ///< of constants and literals, by tensor
  std::vector<std::size_t> input_bytes, output_bytes;
  std::vector<bool> input_needs_tail, output_needs_tail;  ///< something may read past its end
  std::vector<bool> input_flips, output_flips;            ///< bytes of the port are moved by 128
  Pool pool;
  WeightsCache cache;
  std::mutex mutex;  ///< guards the rest, and the cache while a runtime looks its weights up
  Runtime first;     ///< of load(), for the first call

  Runtime take_runtime() {
    const std::lock_guard lock(mutex);
    if (first) return std::move(first);
    return make_runtime(program, ports, bytes, cache.get(), pool.get());
  }
};

/// Whether the bytes that the library may read past an end lie in another page than the last byte.
bool ends_at_page(const void* data, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto end = reinterpret_cast<std::uintptr_t>(data) + bytes;
  return bytes > 0 && (end - 1) / page != (end + XNN_EXTRA_BYTES - 1) / page;
}

/// Copies with the sign of every byte turned, a line of the cache at a time.
void copy_flipped(const std::byte* from, std::byte* to, std::size_t bytes) {
  constexpr std::uint64_t kSigns = 0x0101010101010101U * kSignBit;
  constexpr std::size_t kWords = 8;
  std::array<std::uint64_t, kWords> words;
  std::size_t done = 0;
  for (; done + sizeof words <= bytes; done += sizeof words) {
    std::memcpy(words.data(), from + done, sizeof words);
    for (std::size_t i = 0; i < kWords; ++i) words[i] ^= kSigns;
    std::memcpy(to + done, words.data(), sizeof words);
  }
  for (; done < bytes; ++done) to[done] = from[done] ^ std::byte{kSignBit};
}

class LoadedCall final : public Call {
 public:
  LoadedCall(std::shared_ptr<Loaded> loaded, const Buffers& buffers) : loaded_(std::move(loaded)) {
    std::vector<xnn_external_value> values;
    for (std::uint32_t i = 0; i < loaded_->ports.inputs; ++i) {
      const void* data = buffers.inputs[i];
      const std::size_t bytes = loaded_->input_bytes[i];
      const bool flips = loaded_->input_flips[i];
      if (flips || (loaded_->input_needs_tail[i] && ends_at_page(data, bytes))) {
        std::byte* copy = make_copy(bytes);
        before_.push_back({.to = copy, .from = data, .bytes = bytes, .flips = flips});
        data = copy;
      }
      values.push_back({.id = i, .data = const_cast<void*>(data)});  // the library writes to no input
    }
    for (std::uint32_t i = 0; i < loaded_->ports.outputs; ++i) {
      void* data = buffers.outputs[i];
      const std::size_t bytes = loaded_->output_bytes[i];
      const bool flips = loaded_->output_flips[i];
      if (flips || (loaded_->output_needs_tail[i] && ends_at_page(data, bytes))) {
        std::byte* copy = make_copy(bytes);
        after_.push_back({.to = data, .from = copy, .bytes = bytes, .flips = flips});
        data = copy;
      }
      values.push_back({.id = loaded_->ports.inputs + i, .data = data});
    }
    runtime_ = loaded_->take_runtime();
    check_status(xnn_setup_runtime_v2(runtime_.get(), values.size(), values.data()), "buffers");
  }

  Result<void> run() override {
    for (const Copy& copy : before_) copy.run();
    const xnn_status status = xnn_invoke_runtime(runtime_.get());
    if (status != xnn_status_success) return library_failed(status_text(status));
    for (const Copy& copy : after_) copy.run();
    return {};
  }

 private:
  struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
    bool flips = false;

    void run() const {
      if (!flips) {
        std::memcpy(to, from, bytes);
        return;
      }
      copy_flipped(static_cast<const std::byte*>(from), static_cast<std::byte*>(to), bytes);
    }
  };

  std::byte* make_copy(std::size_t bytes) {
    std::byte* data = nullptr;
    copies_.push_back(
        Buffer::make(bytes + XNN_EXTRA_BYTES, [&](std::span<std::byte> writable) { data = writable.data(); }));
    return data;
  }

  std::shared_ptr<Loaded> loaded_;
  std::vector<Buffer> copies_;
  std::vector<Copy> before_, after_;
  Runtime runtime_;
};

class LoadedKernel final : public Kernel {
 public:
  explicit LoadedKernel(std::shared_ptr<Loaded> loaded) : loaded_(std::move(loaded)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    auto call = guard([&]() -> std::unique_ptr<Call> { return std::make_unique<LoadedCall>(loaded_, buffers); });
    if (!call) return library_failed(call.error());
    return std::move(*call);
  }

 private:
  std::shared_ptr<Loaded> loaded_;
};

bool fits_port(const TensorInfo& tensor, const Port& port) {
  const bool has_type = port.type.element == tensor.type || is_flipped(port.type.element, tensor.type);
  const bool is_known = tensor.type == ElementType::kFloat32 || is_byte(tensor.type);
  return has_type && is_known && port.type.is_static() && is_common(port.place.format) && !port.place.format.narrow() &&
         element_count(tensor.extents) == element_count(port.type.extents());
}

/// Every port is a tensor of as many elements as it has, f32 or bytes; sizes go to `bytes`.
Result<void> check_ports(const Program& program, Role role, const std::vector<Port>& ports,
                         std::vector<std::size_t>& bytes, std::vector<bool>& flips) {
  flips.resize(ports.size());
  std::vector<bool> is_seen(ports.size(), false);
  for (const TensorInfo& tensor : program.tensors) {
    if (tensor.role != role) continue;
    if (tensor.index >= ports.size() || is_seen[tensor.index])
      return bad_artifact("a port that is not there, or twice");
    is_seen[tensor.index] = true;
    const Port& port = ports[tensor.index];
    if (!fits_port(tensor, port)) return bad_artifact("a port of another size");
    flips[tensor.index] = is_flipped(port.type.element, tensor.type);
  }
  if (std::ranges::find(is_seen, false) != is_seen.end()) return bad_artifact("a port that is not used");
  for (const Port& port : ports) bytes.push_back(byte_count(port.type.element, port.type.extents()));
  return {};
}

void note_tails(Loaded& loaded) {
  loaded.input_needs_tail.resize(loaded.ports.inputs);
  loaded.output_needs_tail.resize(loaded.ports.outputs);
  for (const Op& op : loaded.program.ops) {
    if (!reads_past_end(loaded.program, op)) continue;
    for (const int input : op.inputs) {
      const TensorInfo& tensor = loaded.program.tensors[static_cast<std::size_t>(input)];
      if (tensor.role == Role::kInput) loaded.input_needs_tail[tensor.index] = true;
      if (tensor.role == Role::kOutput) loaded.output_needs_tail[tensor.index] = true;
    }
  }
}

Buffer literal_bytes(const TensorInfo& tensor) {
  const std::vector<std::int32_t>& numbers = tensor.numbers;
  if (!numbers.empty())
    return Buffer::make(numbers.size() * sizeof(numbers[0]) + XNN_EXTRA_BYTES, [&](std::span<std::byte> bytes) {
      std::memcpy(bytes.data(), numbers.data(), numbers.size() * sizeof(numbers[0]));
    });
  return Buffer::make(sizeof(float) + XNN_EXTRA_BYTES,
                      [&](std::span<std::byte> bytes) { std::memcpy(bytes.data(), &tensor.scale, sizeof(float)); });
}

/// Equal constants of a plan may be one piece of memory. Weights of bytes are packed with scales, and the library tells
/// packed weights apart by where they were.
Buffer at_its_own_place(const Buffer& bytes, const std::vector<Buffer>& others) {
  const bool is_shared = std::ranges::any_of(others, [&](const Buffer& other) { return other.data() == bytes.data(); });
  return is_shared ? Buffer::copy_of(bytes.bytes()) : bytes;
}

/// A literal is one number of f32, or a list of i32.
Result<void> check_literal(const TensorInfo& tensor) {
  const bool is_list = tensor.type == ElementType::kInt32;
  const std::int64_t count = is_list ? std::ssize(tensor.numbers) : 1;
  if (is_byte(tensor.type) || tensor.extents != Extents{count} || is_list == tensor.numbers.empty())
    return bad_artifact("a literal of other numbers");
  return {};
}

/// Of constants and literals; empty for other tensors.
Result<std::vector<Buffer>> known_bytes(const Program& program, const std::vector<Tensor>& constants) {
  COLLAGE_TRY_VOID(check_repeats(program, constants));
  std::vector<Buffer> all;
  for (const TensorInfo& tensor : program.tensors) {
    Buffer bytes;
    if (tensor.role == Role::kConstant) {
      COLLAGE_TRY(bytes, constant_bytes(program, tensor, constants));
      if (is_byte(tensor.type)) bytes = at_its_own_place(bytes, all);
    } else if (tensor.role == Role::kLiteral) {
      COLLAGE_TRY_VOID(check_literal(tensor));
      bytes = literal_bytes(tensor);
    }
    all.push_back(std::move(bytes));
  }
  return all;
}

/// Throws where the library refuses, and where memory ends.
Result<std::shared_ptr<Loaded>> make_loaded(const Program& program, const LoadRequest& request, Pool pool) {
  auto loaded = std::make_shared<Loaded>();
  loaded->program = program;
  loaded->pool = std::move(pool);
  loaded->ports = {.inputs = static_cast<std::uint32_t>(request.inputs.size()),
                   .outputs = static_cast<std::uint32_t>(request.outputs.size())};
  COLLAGE_TRY_VOID(check_ports(program, Role::kInput, request.inputs, loaded->input_bytes, loaded->input_flips));
  COLLAGE_TRY_VOID(check_ports(program, Role::kOutput, request.outputs, loaded->output_bytes, loaded->output_flips));
  COLLAGE_TRY(loaded->bytes, known_bytes(program, request.constants));
  note_tails(*loaded);
  if (has_packed_weights(program)) loaded->cache = make_weights_cache();
  loaded->first = make_runtime(program, loaded->ports, loaded->bytes, loaded->cache.get(), loaded->pool.get());
  return loaded;
}

}  // namespace

bool reads_past_end(const Program& program, const Op& op) {
  const auto type = [&](int tensor) { return program.tensors[static_cast<std::size_t>(tensor)].type; };
  // Kernels of bytes read them by eights at least, and not all have masks.
  if (is_byte(type(op.output)) || is_byte(type(op.inputs[0]))) return true;
  // With masks, kernels of AVX-512 end where their input does. Those of the library that may not are marked
  // XNN_OOB_READS: the ones for windows and movements, and for some products with fewer columns than a block has.
  static const bool has_masks = __builtin_cpu_supports("avx512f");
  constexpr std::int64_t kBlock = 32;
  const Extents& out = program.tensors[static_cast<std::size_t>(op.output)].extents;
  switch (op.kind) {
    case OpKind::kConcat:
    case OpKind::kReshape:
      return false;
    case OpKind::kDeconvolution:
    case OpKind::kFullyConnected:
      return !has_masks || out.empty() || op.groups < 1 || out.back() / op.groups < kBlock;
    case OpKind::kConvolution:
    case OpKind::kDepthwiseConvolution:
    case OpKind::kBatchMatMul:
    case OpKind::kUnary:
    case OpKind::kBinary:
    case OpKind::kSoftmax:
    case OpKind::kReduction:
      return !has_masks;
    default:
      return true;
  }
}

Result<std::unique_ptr<Kernel>> load_kernel(const Program& program, const LoadRequest& request, Pool pool) {
  auto made = guard([&] { return make_loaded(program, request, std::move(pool)); });
  if (!made) return library_failed(made.error());
  if (!*made) return std::unexpected((*made).error());
  return std::make_unique<LoadedKernel>(**std::move(made));
}

void try_program(const Program& program, std::size_t inputs, std::size_t outputs) {
  std::vector<Buffer> bytes;
  for (const TensorInfo& tensor : program.tensors)
    bytes.push_back(tensor.role == Role::kConstant  ? blank_bytes(tensor)
                    : tensor.role == Role::kLiteral ? literal_bytes(tensor)
                                                    : Buffer());
  const Ports ports{.inputs = static_cast<std::uint32_t>(inputs), .outputs = static_cast<std::uint32_t>(outputs)};
  const WeightsCache cache = has_packed_weights(program) ? make_weights_cache() : nullptr;
  const Runtime runtime = make_runtime(program, ports, bytes, cache.get(), nullptr);
}

}  // namespace collage::xnnpack
