// A product as cuBLASLt is told of it: descriptions of the operation and of its four matrices.
// In:  a product of the blas backend, rows of whose output are dense. Out: descriptions, proposals of algorithms.
// How: the library counts columns first, so out^T = b^T a^T is what it computes: its A is our b. A vector that is added
//       to every row is its bias; an addend laid out as the output is its C.
// Source: cuBLASLt's cublasLtMatmul.
#pragma once

#include <expected>
#include <optional>
#include <vector>

#include "backends/blas/product.h"
#include "backends/cublaslt/library.h"

namespace collage::cublaslt {

/// Which addends of a product are what for the library.
struct Added {
  std::optional<std::size_t> bias;  ///< index into the product's addends
  std::optional<std::size_t> whole;
};

/// Nothing when the library cannot compute the product in one call.
[[nodiscard]] std::optional<Added> added_of(const blas::Product& product);

/// The four layouts and the operation; ends them.
class Matmul {
 public:
  /// `uses_tf32` allows products of numbers with 10 bits behind the point. Errors of the library.
  [[nodiscard]] static Result<Matmul> create(const Library& library, const blas::Product& product, const Added& added,
                                             bool uses_tf32);
  Matmul(Matmul&& other) noexcept;
  Matmul& operator=(Matmul&&) = delete;
  ~Matmul();

  /// At most so many, best first by the library's own judgement, that can be run with this much workspace.
  [[nodiscard]] Result<std::vector<Proposal>> proposals(Handle handle, int most, std::size_t workspace_bytes);
  /// Where the bias lies, on the device.
  [[nodiscard]] Result<void> set_bias(const void* address);
  struct Operands {
    const void* a = nullptr;
    const void* b = nullptr;
    const void* whole = nullptr;  ///< the addend that is laid out as the output; null: none
    void* out = nullptr;
  };
  /// Queues the product.
  [[nodiscard]] Result<void> run(Handle handle, const Operands& operands, const Algorithm& algorithm, void* workspace,
                                 std::size_t workspace_bytes, Handle stream) const;

 private:
  explicit Matmul(const Library& library) : library_(&library) {}
  [[nodiscard]] Result<void> describe(const blas::Product& product, const Added& added, bool uses_tf32);
  [[nodiscard]] Result<void> add_layout(Handle& layout, std::int64_t rows, std::int64_t columns, std::int64_t step,
                                        std::int64_t batch, std::int64_t batch_step) const;

  const Library* library_;
  Handle description_ = nullptr;
  Handle a_ = nullptr;    ///< of our b
  Handle b_ = nullptr;    ///< of our a
  Handle out_ = nullptr;  ///< of the addend, too
  bool has_bias_ = false;
  float alpha_ = 1.F;
  float beta_ = 0.F;
};

}  // namespace collage::cublaslt
