// The text of an artifact: a product, and the BLAS routine that computes it.
// In:  a Program. Out: JSON that does not depend on a library or machine; and back, checked against the ports when it
//       is loaded.
// Cost: a few hundred bytes.
#pragma once

#include <string>
#include <string_view>

#include "backend/backend.h"
#include "product.h"

namespace collage::blas {

enum class Method : std::uint8_t {
  kGemm,
  kGemv  ///< the product has one column
};

struct Program {
  Method method = Method::kGemm;
  Product product;
  bool operator==(const Program&) const = default;
};

[[nodiscard]] std::string_view name_of(Method method);

/// The product turned the way in which the routine takes it; nothing when the routine cannot compute it.
[[nodiscard]] std::optional<Product> turned_for(Product product, Method method);

[[nodiscard]] std::string to_json(const Program& program);
/// Error backend/bad-artifact for text that is no program, and for one that reaches outside the request's ports.
[[nodiscard]] Result<Program> read_program(const LoadRequest& request);

}  // namespace collage::blas
