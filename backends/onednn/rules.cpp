#include "rules.h"

#include "steps.h"

namespace collage::onednn {

PartitionRules partition_rules() {
  const std::string steps = step_operators() + "*";
  PartitionRules rules;
  rules.patterns = {
      {"convolution", {"Pad?", "Conv|ConvTranspose", steps}},
      {"pointwise-depthwise", {"Conv", "Relu|LeakyRelu|Clip|Sigmoid|HardSigmoid|HardSwish|Swish|Mul*", "Conv", steps}},
      {"product", {"Transpose?", "MatMul|Gemm", steps, "Transpose?"}},
      {"pooling",
       {"Pad?", "MaxPool|AveragePool|GlobalAveragePool|GlobalMaxPool|ReduceMean|ReduceMax|ReduceSum", steps}},
      {"resize", {"Resize", steps}},
      {"batch-normalisation", {"BatchNormalization", steps}},
      {"element-wise", {step_operators(), steps}}};
  rules.growth = Growth::kNone;
  return rules;
}

}  // namespace collage::onednn
