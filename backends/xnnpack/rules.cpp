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
  // A product of bytes waits for several dequantisers, some of which others read too.
  const std::string product = "Conv|MatMul|Gemm(DequantizeLinear, DequantizeLinear, ";
  const std::string end = " -> Relu|Clip* -> QuantizeLinear";
  rules.more = {with_repeats(
      any_of({pattern_rule("bytes", product + "*?)" + end),
              pattern_rule("bytes-bias", product + "DequantizeLinear)" + end),
              pattern_rule("bytes-join", "Add|Mul|Sub(DequantizeLinear, DequantizeLinear)" + end),
              pattern_rule(
                  "bytes-step",
                  "DequantizeLinear -> Elu|Gelu|GlobalAveragePool|HardSwish|LeakyRelu|MaxPool|ReduceMean|Sigmoid|Tanh" +
                      end),
              pattern_rule("bytes-weights", "MatMul|Gemm(*, DequantizeLinear, *?)")}),
      {"DequantizeLinear"})};
  return rules;
}

}  // namespace collage::xnnpack
