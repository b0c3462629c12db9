#include "rules.h"

#include "analysis/steps.h"

namespace collage::onednn {

PartitionRules partition_rules() {
  const std::string steps = step_operators() + "*";
  const std::string between = "Relu|LeakyRelu|Clip|Sigmoid|HardSigmoid|HardSwish|Swish|Mul*";
  const std::string pools = "MaxPool|AveragePool|GlobalAveragePool|GlobalMaxPool|ReduceMean|ReduceMax|ReduceSum";
  PartitionRules rules;
  rules.patterns = {
      {"convolution", "Pad? -> Conv|ConvTranspose -> " + steps},
      {"two-convolutions", "Conv -> " + between + " -> Conv -> " + steps},
      {"three-convolutions", "Conv -> " + between + " -> Conv -> " + between + " -> Conv -> " + steps},
      {"join", "Conv -> " + steps + " -> Concat"},
      {"fork-and-join", "Conv -> " + between + " -> Conv -> " + between + " -> Conv -> " + between + " -> Concat"},
      {"product", "Transpose? -> MatMul|Gemm -> " + steps + " -> Transpose?"},
      {"pooling", "Pad? -> " + pools + " -> " + steps},
      {"resize", "Resize -> " + steps},
      {"batch-normalisation", "BatchNormalization -> " + steps},
      {"element-wise", step_operators() + " -> " + steps}};
  rules.growth = Growth::kNone;
  return rules;
}

}  // namespace collage::onednn
