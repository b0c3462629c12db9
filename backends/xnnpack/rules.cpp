#include "rules.h"

#include "lowering/lower.h"

namespace collage::xnnpack {

PartitionRules partition_rules() {
  const std::string steps = step_operators() + "*";
  const std::string between = "Relu|Clip|LeakyRelu|Sigmoid|HardSigmoid|HardSwish|Mul*";
  PartitionRules rules;
  rules.patterns = {{"convolution", "Pad? -> Conv|ConvTranspose -> " + steps},
                    {"two-convolutions", "Conv -> " + between + " -> Conv -> " + steps},
                    {"three-convolutions", "Conv -> " + between + " -> Conv -> " + between + " -> Conv -> " + steps},
                    {"join", "Conv -> " + between + " -> Concat"},
                    {"product", "Transpose? -> MatMul|Gemm -> " + steps},
                    {"two-products", "MatMul|Gemm -> " + steps + " -> MatMul|Gemm -> " + steps},
                    {"attention", "Transpose? -> MatMul -> Mul|Div? -> Add? -> Softmax -> MatMul"},
                    {"pooling", "MaxPool|AveragePool|GlobalAveragePool|GlobalMaxPool|ReduceMean|ReduceSum -> " + steps},
                    {"gate", "GlobalAveragePool|ReduceMean -> Conv -> " + between + " -> Conv -> " + between},
                    {"resize", "Resize -> " + steps},
                    {"element-wise", step_operators() + " -> " + steps}};
  rules.growth = Growth::kNone;
  return rules;
}

}  // namespace collage::xnnpack
