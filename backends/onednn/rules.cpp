#include "rules.h"

#include "analysis/steps.h"
#include "library.h"

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
  if (!kIsVersion3) return rules;
  rules.patterns.push_back(
      {"attention", "MatMul(Transpose?(*), Transpose?(*)) -> Mul|Div -> Add -> Softmax -> MatMul -> Transpose"});
  // A product of bytes waits for several dequantisers, some of which others read too.
  const std::string product = "Conv|MatMul|Gemm(DequantizeLinear, DequantizeLinear, ";
  const std::string end = ") -> " + steps + " -> QuantizeLinear?";
  rules.more = {with_repeats(any_of({pattern_rule("bytes", product + "*?" + end),
                                     pattern_rule("bytes-bias", product + "DequantizeLinear" + end)}),
                             {"DequantizeLinear"})};
  return rules;
}

}  // namespace collage::onednn
