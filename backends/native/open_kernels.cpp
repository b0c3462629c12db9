#include "open_kernels.h"

#include <algorithm>

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

/// A call with the outputs that it makes itself.
class OpenCall final : public NativeCall {
 public:
  OpenCall(std::shared_ptr<const Loaded> loaded, Entry entry, const ShapedKernel& shaped, const Buffers& buffers,
           std::vector<ElementType> types, std::vector<Pages> pages)
      : NativeCall(std::move(loaded), entry, shaped.arguments, buffers),
        extents_(shaped.outputs),
        types_(std::move(types)),
        data_(buffers.outputs.begin(), buffers.outputs.end()),
        pages_(std::move(pages)) {}

  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    return DynamicOutput{.type = types_[port], .extents = extents_[port], .data = data_[port]};
  }

 private:
  std::vector<Extents> extents_;
  std::vector<ElementType> types_;
  std::vector<const void*> data_;
  std::vector<Pages> pages_;
};

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
    COLLAGE_TRY(const std::size_t kernel, choice(inputs));
    return bind_one(kernel, buffers, inputs);
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
    COLLAGE_TRY(const ShapedKernel shaped, shaped_at(set_.members[kernel], inputs));
    Buffers own = buffers;
    std::vector<Pages> pages;
    std::vector<ElementType> types;
    for (std::size_t i = 0; i < own.outputs.size(); ++i) {
      types.push_back(outputs_[i].type.element);
      if (own.outputs[i] != nullptr) continue;
      const std::size_t bytes = byte_count(types.back(), shaped.outputs[i]);
      pages.push_back(allocate_pages(bytes));
      if (pages.back() == nullptr)
        return fail(ExitCode::kLimit, "backend/no-memory", "native", std::to_string(bytes) + " bytes", "memory");
      own.outputs[i] = pages.back().get();
    }
    return std::make_unique<OpenCall>(loaded_, entries_[kernel], shaped, own, std::move(types), std::move(pages));
  }

 private:
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
