#include "backends/mnn/rules.h"

#include "backends/mnn/lower.h"

namespace collage::mnn {

PartitionRules partition_rules() {
  const std::string element = unary_operators() + "|" + binary_operators();
  const std::string elements = element + "*";
  const std::string between = "Relu|LeakyRelu|PRelu|Clip|HardSwish|Swish|Sigmoid|Mul|Add*";
  PartitionRules rules;
  rules.patterns = {{"convolution", "Conv|ConvTranspose -> " + elements},
                    {"two-convolutions", "Conv -> " + between + " -> Conv -> " + elements},
                    {"three-convolutions", "Conv -> " + between + " -> Conv -> " + between + " -> Conv -> " + elements},
                    {"convolution-pool", "Conv -> " + elements + " -> MaxPool|AveragePool|GlobalAveragePool"},
                    {"product", "MatMul|Gemm -> " + elements},
                    {"two-products", "MatMul|Gemm -> " + elements + " -> MatMul|Gemm -> " + elements},
                    {"element-wise", element + " -> " + elements}};
  rules.growth = Growth::kAny;
  rules.max_splits = 1;
  return rules;
}

}  // namespace collage::mnn
