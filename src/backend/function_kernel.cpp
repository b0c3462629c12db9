#include "backend/function_kernel.h"

namespace collage {
namespace {

class FunctionCall final : public Call {
 public:
  FunctionCall(std::shared_ptr<const KernelFunction> function, Buffers buffers)
      : function_(std::move(function)), buffers_(std::move(buffers)) {}
  Result<void> run() override { return (*function_)(buffers_); }

 private:
  std::shared_ptr<const KernelFunction> function_;
  Buffers buffers_;
};

class FunctionKernel final : public Kernel {
 public:
  explicit FunctionKernel(KernelFunction function)
      : function_(std::make_shared<const KernelFunction>(std::move(function))) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<FunctionCall>(function_, buffers);
  }

 private:
  std::shared_ptr<const KernelFunction> function_;  ///< shared with calls, which may live longer
};

}  // namespace

std::unique_ptr<Kernel> make_kernel(KernelFunction function) {
  return std::make_unique<FunctionKernel>(std::move(function));
}

}  // namespace collage
