// What the processor that tests run on can do: some kernels exist only where it has their instructions.
#pragma once

namespace collage::test {

[[nodiscard]] inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
}

/// Instructions that multiply unsigned by signed bytes without saturating sums of two products.
[[nodiscard]] inline bool has_exact_byte_products() { return __builtin_cpu_supports("avx512vnni"); }

}  // namespace collage::test
