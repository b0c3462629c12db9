#include "backends/cublaslt/kernel.h"

#include <tuple>

#include "backends/common/cuda/constants.h"
#include "backends/common/cuda/workspace.h"
#include "backends/cublaslt/matmul.h"
#include "base/binary.h"

namespace collage::cublaslt {

inline auto members(StoredProduct& of) {
  auto& data = of.algorithm.data;
  return std::tie(of.program, data[0], data[1], data[2], data[3], data[4], data[5], data[6], data[7], of.uses_tf32,
                  of.workspace_bytes);
}

namespace {

using blas::Operand;
using blas::Product;

/// What the calls of a kernel share.
struct Loaded {
  cuda::CudaDevice& device;
  const Library& library;
  Handle handle;
  Product product;
  Added added;
  StoredProduct stored;
  std::vector<std::unique_ptr<DeviceMemory>> constants;

  [[nodiscard]] Result<Matmul> describe() const { return Matmul::create(library, product, added, stored.uses_tf32); }
};

class ProductCall final : public Call {
 public:
  ProductCall(std::shared_ptr<const Loaded> loaded, Matmul matmul, const Matmul::Operands& operands,
              const Buffers& buffers)
      : loaded_(std::move(loaded)),
        matmul_(std::move(matmul)),
        operands_(operands),
        workspace_(cuda::aligned_workspace(buffers.workspace)),
        stream_(buffers.queue->native()) {}

  Result<void> run() override {
    COLLAGE_TRY(const cuda::CurrentContext current, loaded_->device.use());
    auto done = matmul_.run(loaded_->handle, operands_, loaded_->stored.algorithm, workspace_,
                            static_cast<std::size_t>(loaded_->stored.workspace_bytes), stream_);
    if (done) return done;
    return std::unexpected(loaded_->device.driver().behind(std::move(done).error(), stream_));
  }

 private:
  std::shared_ptr<const Loaded> loaded_;
  Matmul matmul_;
  Matmul::Operands operands_;
  void* workspace_;
  Handle stream_;
};

class ProductKernel final : public Kernel {
 public:
  explicit ProductKernel(std::shared_ptr<const Loaded> loaded) : loaded_(std::move(loaded)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    COLLAGE_CHECK(buffers.queue != nullptr, "a kernel of a device is bound to its queue");
    const auto start = [&](const Operand& operand) -> const void* {
      const std::size_t inputs = buffers.inputs.size();
      return operand.source < inputs ? buffers.inputs[operand.source]
                                     : loaded_->constants[operand.source - inputs]->data();
    };
    const Product& product = loaded_->product;
    COLLAGE_TRY(Matmul matmul, loaded_->describe());
    Matmul::Operands operands{.a = start(product.a), .b = start(product.b), .out = buffers.outputs[0]};
    if (loaded_->added.whole) operands.whole = start(product.addends[*loaded_->added.whole].operand);
    if (loaded_->added.bias) COLLAGE_TRY_VOID(matmul.set_bias(start(product.addends[*loaded_->added.bias].operand)));
    return std::make_unique<ProductCall>(loaded_, std::move(matmul), operands, buffers);
  }

  /// In the device's memory: nothing of it lies in the caches of the host.
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace

std::string to_bytes(const StoredProduct& stored) { return to_binary(stored); }

Result<std::unique_ptr<Kernel>> make_kernel(cuda::CudaDevice& device, const Library& library, Handle handle,
                                            const LoadRequest& request) {
  auto stored = from_binary<StoredProduct>(request.artifact.bytes);
  if (!stored || request.artifact.workspace_bytes < cuda::padded_workspace(stored->workspace_bytes))
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "cublaslt", "other bytes", "a product of this backend");
  LoadRequest text = request;
  text.artifact.bytes = stored->program;
  COLLAGE_TRY(const blas::Program program, blas::read_program(text));
  const auto added = added_of(program.product);
  if (!added)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "cublaslt", "a product that is not one call", "one call");
  std::vector<Buffer> constants;
  for (const Tensor& constant : request.constants) constants.push_back(constant.data);
  COLLAGE_TRY(auto uploaded, cuda::uploaded(device, constants));
  return std::make_unique<ProductKernel>(std::make_shared<const Loaded>(Loaded{.device = device,
                                                                               .library = library,
                                                                               .handle = handle,
                                                                               .product = program.product,
                                                                               .added = *added,
                                                                               .stored = *std::move(stored),
                                                                               .constants = std::move(uploaded)}));
}

}  // namespace collage::cublaslt
