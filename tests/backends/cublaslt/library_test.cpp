// What cuBLASLt itself says of our products, where it is (libcublasLt.so.13 in LD_LIBRARY_PATH). It needs no GPU to
// check descriptions.
#include <gtest/gtest.h>

#include "backends/cublaslt/matmul.h"

namespace collage::test {
namespace {

blas::Operand rows_of(std::int64_t step, std::int64_t batch) {
  return {.source = 0, .row = step, .column = 1, .batch = {batch}};
}

TEST(CublasLtItself, TakesOurProducts) {
  const auto library = cublaslt::open_library("");
  if (!library) GTEST_SKIP() << library.error();
  blas::Product product{.batch = {3}, .m = 4, .n = 6, .k = 8};
  product.a = rows_of(8, 32);
  product.b = rows_of(6, 0);
  product.out = rows_of(6, 24);
  product.addends = {{.operand = rows_of(0, 0), .scale = 1.F}};
  product.relu = true;
  const auto added = cublaslt::added_of(product);
  ASSERT_TRUE(added && added->bias);
  for (const bool uses_tf32 : {false, true}) {
    const auto matmul = cublaslt::Matmul::create(*library, product, *added, uses_tf32);
    EXPECT_TRUE(matmul) << to_string(matmul.error());
  }
}

}  // namespace
}  // namespace collage::test
