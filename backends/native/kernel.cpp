#include "kernel.h"

#include "open_kernels.h"

namespace collage::native {
namespace {

class NativeKernel final : public Kernel {
 public:
  NativeKernel(std::shared_ptr<const Loaded> loaded, Entry entry) : loaded_(std::move(loaded)), entry_(entry) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<NativeCall>(loaded_, entry_, loaded_->program.arguments, buffers);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override {
    return collage::bytes_of(loaded_->constants);
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
  Entry entry_;
};

/// Every argument names a port or a constant that is there.
Result<void> check_arguments(const Program& program, const LoadRequest& request) {
  for (const Argument& argument : program.arguments) {
    const std::size_t count = argument.kind == ArgumentKind::kInput    ? request.inputs.size()
                              : argument.kind == ArgumentKind::kOutput ? request.outputs.size()
                                                                       : program.constants.size();
    if (argument.index >= count || argument.extents.size() != argument.strides.size() ||
        argument.extents.size() > kMostDimensions)
      return misfit("an argument that no port answers to");
    if (argument.kind == ArgumentKind::kConstant) continue;
    const Port& port = (argument.kind == ArgumentKind::kInput ? request.inputs : request.outputs)[argument.index];
    if (argument.type != stored_element(port.type, port.place.format))
      return misfit("an argument of other elements than its port's");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Kernel>> load_kernel(const Program& program, std::size_t code, const LoadRequest& request,
                                            std::shared_ptr<const LoadedObject> object) {
  if (program.set) return load_open_kernels(program, code, request, std::move(object));
  COLLAGE_TRY_VOID(check_arguments(program, request));
  COLLAGE_TRY(const std::shared_ptr<Loaded> loaded, load_program(program, code, request, std::move(object)));
  COLLAGE_TRY(const Entry entry, entry_of(*loaded, program.symbol));
  return std::make_unique<NativeKernel>(loaded, entry);
}

}  // namespace collage::native
