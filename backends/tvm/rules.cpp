#include "backends/tvm/rules.h"

#include "backends/tvm/lowering/lower.h"

namespace collage::tvm {

PartitionRules partition_rules() {
  const std::string elements = element_operators() + "*";
  PartitionRules rules;
  rules.patterns = {
      {"convolution", "Conv -> " + elements},
      {"product", "MatMul|Gemm -> " + elements},
      {"pooling", "MaxPool|AveragePool -> " + elements},
      {"reduction", element_operators() + "* -> GlobalAveragePool|ReduceMean|ReduceSum|Softmax -> " + elements},
      {"gated", "Conv -> Sigmoid -> Mul"}};
  rules.growth = Growth::kLikeNative;
  rules.max_region_nodes = 12;
  return rules;
}

}  // namespace collage::tvm
