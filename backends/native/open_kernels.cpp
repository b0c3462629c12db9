#include "open_kernels.h"

#include <algorithm>
#include <optional>

#include "backend/extensions/open_compiler.h"
#include "base/pages.h"

namespace collage::native {
namespace {

constexpr std::int64_t kElementLimit = (std::int64_t{1} << 31) - 1;

/// What is ready to be called for one shape.
struct ShapedKernel {
  std::vector<Argument> arguments;
  std::vector<Extents> outputs;  ///< of ports
};

/// A buffer stays inside the bytes of its port.
bool fits(const Argument& argument, std::int64_t elements) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < argument.extents.size(); ++i) {
    std::int64_t reach = 0;
    if (argument.extents[i] < 1 || argument.strides[i] < 0 || argument.extents[i] > kElementLimit ||
        argument.strides[i] > kElementLimit)
      return false;
    if (__builtin_mul_overflow(argument.extents[i] - 1, argument.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return false;
  }
  return last < elements;
}

/// As element_count(), but for extents that were not checked.
std::int64_t checked_count(const Extents& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > kElementLimit) return kElementLimit + 1;
  return count;
}

bool has_no_elements(const Extents& extents) { return std::ranges::find(extents, 0) != extents.end(); }

class OpenKernels final : public MultiKernel {
 public:
  OpenKernels(std::shared_ptr<const Loaded> loaded, std::vector<Entry> entries, std::vector<Port> inputs,
              std::vector<Port> outputs)
      : loaded_(std::move(loaded)),
        set_(*loaded_->program.set),
        dispatcher_(set_),
        entries_(std::move(entries)),
        inputs_(std::move(inputs)),
        outputs_(std::move(outputs)) {}

  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override {
    return collage::bytes_of(loaded_->constants);
  }
  [[nodiscard]] std::size_t size() const override { return entries_.size(); }

  /// For ports that are all static: an artifact of open dimensions at one shape.
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    std::vector<Extents> extents;
    for (const Port& port : inputs_) {
      if (!port.type.is_static())
        return fail(ExitCode::kBug, "backend/open-shapes", "native", to_string(port.type), "extents to bind it at");
      extents.push_back(port.type.extents());
    }
    return bind_at(buffers, extents);
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                      std::span<const Extents> inputs) const override {
    return bound(buffers, inputs, std::nullopt);
  }

  [[nodiscard]] bool takes_all(std::size_t kernel) const override { return set_.members[kernel].guards.empty(); }
  [[nodiscard]] bool serves(std::size_t kernel, std::span<const Extents> inputs) const override {
    const auto symbols = symbols_at(set_, inputs);
    return symbols && native::serves(set_.members[kernel], sizes_at(set_, *symbols));
  }

  [[nodiscard]] Result<std::size_t> choice(std::span<const Extents> inputs) const override {
    if (const auto found = dispatcher_.find(set_, inputs)) return *found;
    return std::unexpected(symbols_at(set_, inputs).error());
  }

  [[nodiscard]] Result<std::unique_ptr<Call>> bind_one(std::size_t kernel, const Buffers& buffers,
                                                       std::span<const Extents> inputs) const override {
    return bound(buffers, inputs, kernel);
  }

 private:
  friend class OpenCall;

  /// `kernel`: nothing for the one that serves the shape.
  [[nodiscard]] Result<std::unique_ptr<Call>> bound(const Buffers& buffers, std::span<const Extents> inputs,
                                                    std::optional<std::size_t> kernel) const;

  [[nodiscard]] Result<ShapedKernel> shaped_at(const Member& member, std::span<const Extents> inputs) const {
    COLLAGE_TRY(const Extents symbols, symbols_at(set_, inputs));
    const Extents sizes = sizes_at(set_, symbols);
    ShapedKernel shaped{.arguments = member.arguments, .outputs = {}};
    for (const Terms& port : set_.outputs) {
      shaped.outputs.push_back(values_of(port, sizes));
      if (checked_count(shaped.outputs.back()) > kElementLimit)
        return fail(ExitCode::kUnsupported, "shape/outside", "native", "2^31 elements and more", "smaller extents");
    }
    for (std::size_t i = 0; i < member.views.size(); ++i) {
      Argument& argument = shaped.arguments[i];
      argument.extents = values_of(member.views[i].extents, sizes);
      argument.strides = values_of(member.views[i].strides, sizes);
      if (!fits(argument, elements_of(argument, inputs, shaped))) return misfit("a buffer past its port");
    }
    return shaped;
  }

  /// The outputs for inputs of which one has no elements. A kernel has nothing to do when no output has any either.
  [[nodiscard]] Result<std::vector<Extents>> outputs_without_work(std::span<const Extents> inputs) const {
    COLLAGE_TRY(const Extents symbols, symbols_of(set_, inputs));
    std::vector<Extents> outputs;
    for (const Terms& port : set_.outputs) {
      outputs.push_back(values_of(port, sizes_at(set_, symbols)));
      const bool is_negative = std::ranges::any_of(outputs.back(), [](std::int64_t extent) { return extent < 0; });
      if (is_negative || !has_no_elements(outputs.back()))
        return fail(ExitCode::kUnsupported, "shape/outside", "native", "an input without elements",
                    "at least one element");
    }
    return outputs;
  }

  [[nodiscard]] std::int64_t elements_of(const Argument& argument, std::span<const Extents> inputs,
                                         const ShapedKernel& shaped) const {
    if (argument.kind == ArgumentKind::kInput) return checked_count(inputs[argument.index]);
    if (argument.kind == ArgumentKind::kOutput) return checked_count(shaped.outputs[argument.index]);
    const auto bits = static_cast<std::int64_t>(bits_of(argument.type));
    return static_cast<std::int64_t>(loaded_->constants[argument.index].size()) * 8 / std::max<std::int64_t>(bits, 1);
  }

  std::shared_ptr<const Loaded> loaded_;
  const KernelSet& set_;
  Dispatcher dispatcher_;
  std::vector<Entry> entries_;
  std::vector<Port> inputs_;
  std::vector<Port> outputs_;
};

/// A call that makes the outputs of open shape itself, in memory that grows. The kernel outlives it.
class OpenCall final : public Call {
 public:
  OpenCall(const OpenKernels& kernels, Buffers buffers, std::optional<std::size_t> kernel)
      : kernels_(kernels), buffers_(std::move(buffers)), kernel_(kernel), made_(buffers_.outputs.size()) {}

  Result<void> place(std::span<const Extents> inputs) {
    call_.reset();
    extents_.clear();
    if (std::ranges::any_of(inputs, has_no_elements)) {
      COLLAGE_TRY(extents_, kernels_.outputs_without_work(inputs));
      return {};
    }
    std::size_t kernel = 0;
    if (kernel_) {
      kernel = *kernel_;
    } else {
      COLLAGE_TRY(kernel, kernels_.choice(inputs));
    }
    COLLAGE_TRY(ShapedKernel shaped, kernels_.shaped_at(kernels_.set_.members[kernel], inputs));
    Buffers placed = buffers_;
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (placed.outputs[i] != nullptr) continue;
      COLLAGE_TRY_VOID(made_[i].grow(byte_count(kernels_.outputs_[i].type.element, shaped.outputs[i])));
      placed.outputs[i] = made_[i].pages.get();
    }
    extents_ = std::move(shaped.outputs);
    call_ = std::make_unique<NativeCall>(kernels_.loaded_, kernels_.entries_[kernel], shaped.arguments, placed);
    return {};
  }

  Result<void> run() override {
    if (call_) return call_->run();
    return extents_.empty() ? misfit("a call that was not placed") : Result<void>();
  }

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    if (extents_.empty()) return misfit("a call that was not placed");
    const void* const data = buffers_.outputs[port] != nullptr ? buffers_.outputs[port] : made_[port].pages.get();
    return DynamicOutput{.type = kernels_.outputs_[port].type.element, .extents = extents_[port], .data = data};
  }

  Result<bool> move_inputs(std::span<const void* const> inputs, std::span<const Extents> extents) override {
    buffers_.inputs.assign(inputs.begin(), inputs.end());
    COLLAGE_TRY_VOID(place(extents));
    return true;
  }

 private:
  struct Memory {
    Pages pages;
    std::size_t size = 0;

    Result<void> grow(std::size_t bytes) {
      if (bytes <= size) return {};
      pages = allocate_pages(std::max(bytes, 2 * size));
      size = pages == nullptr ? 0 : std::max(bytes, 2 * size);
      if (pages != nullptr) return {};
      return fail(ExitCode::kLimit, "backend/no-memory", "native", std::to_string(bytes) + " bytes", "memory");
    }
  };

  const OpenKernels& kernels_;
  Buffers buffers_;  ///< as given: null for outputs that the call makes
  std::optional<std::size_t> kernel_;
  std::vector<Memory> made_;          ///< by output
  std::vector<Extents> extents_;      ///< of the outputs
  std::unique_ptr<NativeCall> call_;  ///< null when there is nothing to do
};

Result<std::unique_ptr<Call>> OpenKernels::bound(const Buffers& buffers, std::span<const Extents> inputs,
                                                 std::optional<std::size_t> kernel) const {
  auto call = std::make_unique<OpenCall>(*this, buffers, kernel);
  COLLAGE_TRY_VOID(call->place(inputs));
  return call;
}

bool have_types(const Member& member, const LoadRequest& request, std::size_t constants) {
  return std::ranges::all_of(member.arguments, [&](const Argument& argument) {
    if (argument.kind == ArgumentKind::kConstant) return argument.index < constants;
    const std::vector<Port>& ports = argument.kind == ArgumentKind::kInput ? request.inputs : request.outputs;
    const Port& port = ports[argument.index];
    return stored_element(port.type, port.place.format) == argument.type;
  });
}

/// Ports of the set and of the request are the same in number and type.
Result<void> check_ports(const Program& program, const LoadRequest& request) {
  const KernelSet& set = *program.set;
  if (set.inputs.size() != request.inputs.size() || set.outputs.size() != request.outputs.size())
    return misfit("another number of ports");
  for (const Member& member : set.members)
    if (!have_types(member, request, program.constants.size())) return misfit("an argument that no port answers to");
  return {};
}

}  // namespace

Result<std::unique_ptr<Kernel>> load_open_kernels(const Program& program, std::size_t code, const LoadRequest& request,
                                                  std::shared_ptr<const LoadedObject> object) {
  COLLAGE_TRY_VOID(check_ports(program, request));
  COLLAGE_TRY(const std::shared_ptr<Loaded> loaded, load_program(program, code, request, std::move(object)));
  std::vector<Entry> entries;
  for (const Member& member : program.set->members) {
    COLLAGE_TRY(entries.emplace_back(), entry_of(*loaded, member.symbol));
  }
  return std::make_unique<OpenKernels>(loaded, std::move(entries), request.inputs, request.outputs);
}

}  // namespace collage::native
