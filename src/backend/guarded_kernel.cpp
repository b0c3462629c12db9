#include "backend/guarded_kernel.h"

namespace collage {
namespace {

std::unexpected<Error> failed(const std::string& name, std::string words) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", name, std::move(words));
}

class GuardedCall final : public Call {
 public:
  GuardedCall(std::unique_ptr<Call> call, std::string name) : call_(std::move(call)), name_(std::move(name)) {}

  Result<void> run() override {
    auto ran = guard([&] { return call_->run(); });
    return ran ? std::move(*ran) : failed(name_, ran.error());
  }
  Result<DynamicOutput> dynamic_output(std::size_t port) override {
    auto given = guard([&] { return call_->dynamic_output(port); });
    return given ? std::move(*given) : failed(name_, given.error());
  }

 private:
  std::unique_ptr<Call> call_;
  std::string name_;
};

class GuardedKernel final : public Kernel {
 public:
  GuardedKernel(std::unique_ptr<Kernel> kernel, std::string name)
      : kernel_(std::move(kernel)), name_(std::move(name)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    auto bound = guard([&] { return kernel_->bind(buffers); });
    if (!bound) return failed(name_, bound.error());
    COLLAGE_TRY(auto call, std::move(*bound));
    if (call == nullptr) return failed(name_, "a kernel that binds to nothing");
    return std::make_unique<GuardedCall>(std::move(call), name_);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override {
    auto known = guard([&] { return kernel_->packed_constants(); });
    return known ? std::move(*known) : std::nullopt;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  std::string name_;
};

}  // namespace

std::unique_ptr<Kernel> guarded(std::unique_ptr<Kernel> kernel, std::string name) {
  return std::make_unique<GuardedKernel>(std::move(kernel), std::move(name));
}

}  // namespace collage
