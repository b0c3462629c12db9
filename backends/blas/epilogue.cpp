#include "epilogue.h"

namespace collage::blas {
namespace {

/// Keeps NaN, as Relu does.
template <bool relu>
inline __attribute__((always_inline)) float rectified(float x) {
  return relu && x < 0.F ? 0.F : x;
}

template <bool relu>
inline __attribute__((always_inline)) void row_of(const Epilogue& e, float* __restrict c, const float* addend) {
  const std::int64_t n = e.columns;
  const float scale = e.scale;
  if (addend == nullptr) {
    for (std::int64_t i = 0; i < n; ++i) c[i] = rectified<relu>(c[i]);
  } else if (e.addend_column == 1) {
    for (std::int64_t i = 0; i < n; ++i) c[i] = rectified<relu>(c[i] + scale * addend[i]);
  } else if (e.addend_column == 0) {
    const float number = scale * addend[0];
    for (std::int64_t i = 0; i < n; ++i) c[i] = rectified<relu>(c[i] + number);
  } else {
    for (std::int64_t i = 0; i < n; ++i) c[i] = rectified<relu>(c[i] + scale * addend[i * e.addend_column]);
  }
}

/// One column of c that lies densely is one row, so that the loops have something to run along.
inline __attribute__((always_inline)) void body(Epilogue e) {
  if (e.columns == 1 && e.step == 1) {
    e.columns = e.rows;
    e.addend_column = e.addend_row;
    e.rows = 1;
  }
  for (std::int64_t row = 0; row < e.rows; ++row) {
    const float* addend = e.addend == nullptr ? nullptr : e.addend + row * e.addend_row;
    float* c = e.c + row * e.step;
    if (e.relu)
      row_of<true>(e, c, addend);
    else
      row_of<false>(e, c, addend);
  }
}

// The same loops, compiled for what the processor has.
void apply_baseline(const Epilogue& e) { body(e); }
__attribute__((target("avx2,fma"))) void apply_avx2(const Epilogue& e) { body(e); }
__attribute__((target("avx512f,avx512vl,fma,prefer-vector-width=512"))) void apply_avx512(const Epilogue& e) {
  body(e);
}

using Apply = void (*)(const Epilogue&);

Apply best() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return apply_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return apply_avx2;
  return apply_baseline;
}

}  // namespace

void apply(const Epilogue& epilogue) {
  static const Apply chosen = best();
  chosen(epilogue);
}

}  // namespace collage::blas
