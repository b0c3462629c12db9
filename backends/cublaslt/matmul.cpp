#include "backends/cublaslt/matmul.h"

#include <algorithm>
#include <utility>

namespace collage::cublaslt {
namespace {

using blas::Operand;
using blas::Product;

/// Of buffers, as plans lay them out.
constexpr std::uint32_t kAlignment = 64;

bool is_same_for_all(const Operand& operand) {
  return std::ranges::all_of(operand.batch, [](std::int64_t step) { return step == 0; });
}

bool is_bias(const blas::Addend& addend, const Product& product) {
  const Operand& operand = addend.operand;
  return addend.scale == 1.F && operand.row == 0 && (operand.column == 1 || product.n == 1) && is_same_for_all(operand);
}

std::int64_t batch_step(const Operand& operand) { return operand.batch.empty() ? 0 : operand.batch[0]; }

Epilogue epilogue_of(const Product& product, const Added& added) {
  if (added.bias) return product.relu ? Epilogue::kReluBias : Epilogue::kBias;
  return product.relu ? Epilogue::kRelu : Epilogue::kNone;
}

}  // namespace

std::optional<Added> added_of(const Product& product) {
  if (product.batch.size() > 1 || product.m < 1 || product.n < 1 || product.k < 1) return std::nullopt;
  if (!blas::leading_of(product.a, product.m, product.k) || !blas::leading_of(product.b, product.k, product.n))
    return std::nullopt;
  if (product.n > 1 && product.out.column != 1) return std::nullopt;
  Added added;
  for (std::size_t i = 0; i < product.addends.size(); ++i) {
    if (i == 0 && product.accumulates)
      added.whole = i;
    else if (!added.bias && is_bias(product.addends[i], product))
      added.bias = i;
    else
      return std::nullopt;
  }
  return added;
}

Result<Matmul> Matmul::create(const Library& library, const Product& product, const Added& added, bool uses_tf32) {
  Matmul made(library);
  COLLAGE_TRY_VOID(made.describe(product, added, uses_tf32));
  return made;
}

Matmul::Matmul(Matmul&& other) noexcept
    : library_(other.library_),
      description_(std::exchange(other.description_, nullptr)),
      a_(std::exchange(other.a_, nullptr)),
      b_(std::exchange(other.b_, nullptr)),
      out_(std::exchange(other.out_, nullptr)),
      has_bias_(other.has_bias_),
      alpha_(other.alpha_),
      beta_(other.beta_) {}

Matmul::~Matmul() {
  if (description_ != nullptr) (void)library_->end_description(description_);
  for (const Handle layout : {a_, b_, out_})
    if (layout != nullptr) (void)library_->end_layout(layout);
}

Result<void> Matmul::add_layout(Handle& layout, std::int64_t rows, std::int64_t columns, std::int64_t step,
                                std::int64_t batch, std::int64_t batch_step) const {
  COLLAGE_TRY_VOID(library_->check(library_->make_layout(&layout, kFloat32, static_cast<std::uint64_t>(rows),
                                                         static_cast<std::uint64_t>(columns), step),
                                   "describe a matrix"));
  if (batch == 1) return {};
  const auto count = static_cast<std::int32_t>(batch);
  COLLAGE_TRY_VOID(
      library_->check(library_->set_layout(layout, LayoutAttribute::kBatchCount, &count, sizeof count), "set a batch"));
  return library_->check(library_->set_layout(layout, LayoutAttribute::kBatchStep, &batch_step, sizeof batch_step),
                         "set a batch");
}

Result<void> Matmul::describe(const Product& product, const Added& added, bool uses_tf32) {
  alpha_ = product.alpha;
  has_bias_ = added.bias.has_value();
  beta_ = added.whole ? product.addends[*added.whole].scale : 0.F;
  COLLAGE_TRY_VOID(library_->check(
      library_->make_description(&description_, uses_tf32 ? kComputeFastTf32 : kComputeFloat32, kFloat32),
      "describe a product"));
  const blas::Leading a = *blas::leading_of(product.a, product.m, product.k);
  const blas::Leading b = *blas::leading_of(product.b, product.k, product.n);
  const auto operation = [](const blas::Leading& leading) {
    return leading.transposed ? Operation::kTransposed : Operation::kAsItIs;
  };
  const auto set = [&](DescriptionAttribute which, const auto& value) {
    return library_->check(library_->set_description(description_, which, &value, sizeof value), "describe a product");
  };
  COLLAGE_TRY_VOID(set(DescriptionAttribute::kTransposeA, operation(b)));
  COLLAGE_TRY_VOID(set(DescriptionAttribute::kTransposeB, operation(a)));
  COLLAGE_TRY_VOID(set(DescriptionAttribute::kEpilogue, epilogue_of(product, added)));
  const std::int64_t batch = blas::batch_count(product);
  // A row-major matrix is one of columns that lie densely: rows and columns change places.
  COLLAGE_TRY_VOID(add_layout(a_, b.transposed ? product.k : product.n, b.transposed ? product.n : product.k, b.step,
                              batch, batch_step(product.b)));
  COLLAGE_TRY_VOID(add_layout(b_, a.transposed ? product.m : product.k, a.transposed ? product.k : product.m, a.step,
                              batch, batch_step(product.a)));
  return add_layout(out_, product.n, product.m, std::max(product.out.row, product.n), batch, batch_step(product.out));
}

Result<std::vector<Proposal>> Matmul::proposals(Handle handle, int most, std::size_t workspace_bytes) {
  // What is proposed depends on how the bias is aligned, as its address says.
  if (has_bias_) COLLAGE_TRY_VOID(set_bias(reinterpret_cast<const void*>(std::uintptr_t{kAlignment})));
  Handle preference = nullptr;
  COLLAGE_TRY_VOID(library_->check(library_->make_preference(&preference), "make a preference"));
  const std::uint64_t bytes = workspace_bytes;
  Result<void> done =
      library_->check(library_->set_preference(preference, PreferenceAttribute::kWorkspaceBytes, &bytes, sizeof bytes),
                      "limit workspace");
  using enum PreferenceAttribute;
  for (const PreferenceAttribute which : {kAlignmentA, kAlignmentB, kAlignmentC, kAlignmentD})
    if (done)
      done =
          library_->check(library_->set_preference(preference, which, &kAlignment, sizeof kAlignment), "set alignment");
  std::vector<Proposal> all(static_cast<std::size_t>(most));
  int count = 0;
  if (done)
    done = library_->check(
        library_->propose(handle, description_, a_, b_, out_, out_, preference, most, all.data(), &count), "propose");
  (void)library_->end_preference(preference);
  if (!done) return std::unexpected(std::move(done).error());
  all.resize(static_cast<std::size_t>(std::clamp(count, 0, most)));
  std::erase_if(all, [](const Proposal& one) { return one.state != 0; });
  return all;
}

Result<void> Matmul::set_bias(const void* address) {
  return library_->check(library_->set_description(description_, DescriptionAttribute::kBias, &address, sizeof address),
                         "set a bias");
}

Result<void> Matmul::run(Handle handle, const Operands& operands, const Algorithm& algorithm, void* workspace,
                         std::size_t workspace_bytes, Handle stream) const {
  const void* const whole = operands.whole != nullptr ? operands.whole : operands.out;
  return library_->check(library_->matmul(handle, description_, &alpha_, operands.b, a_, operands.a, b_, &beta_, whole,
                                          out_, operands.out, out_, &algorithm, workspace, workspace_bytes, stream),
                         "multiply");
}

}  // namespace collage::cublaslt
