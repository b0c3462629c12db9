#include "rules.h"

namespace collage::blas {

PartitionRules partition_rules() {
  PartitionRules rules;
  rules.patterns = {
      {"product",
       "MatMul|com.microsoft::FusedMatMul(Transpose?(*), Transpose?(*)) -> Mul|Div? -> Add* -> Relu? -> Transpose?"},
      {"gemm", "Gemm(Transpose?(*), Transpose?(*), *?) -> Add* -> Relu?"},
      {"convolution-of-one-pixel", "Conv{@group?=1} -> Add* -> Relu?"}};
  rules.growth = Growth::kNone;
  return rules;
}

}  // namespace collage::blas
