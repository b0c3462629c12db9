#include "backends/tvm/rules.h"

#include "backends/tvm/lowering/lower.h"

namespace collage::tvm {

PartitionRules partition_rules() {
  const std::string elements = element_operators() + "*";
  const std::string between = "Relu|Clip|LeakyRelu|HardSwish*";
  PartitionRules rules;
  rules.patterns = {{"convolution", "Conv -> " + elements},
                    {"two-convolutions", "Conv -> " + between + " -> Conv -> " + elements},
                    {"product", "MatMul|Gemm -> " + elements},
                    {"scores", "MatMul -> Mul|Div|Add* -> Softmax"},
                    {"pooling", "MaxPool|AveragePool|GlobalAveragePool|ReduceMean|ReduceSum -> " + elements},
                    {"gated", "Conv -> Sigmoid -> Mul"}};
  rules.growth = Growth::kLikeNative;
  rules.max_region_nodes = 12;
  return rules;
}

}  // namespace collage::tvm
