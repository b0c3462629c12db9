// What every text of kernels begins with: the functions that expressions call.
#pragma once

namespace collage::native::cuda {

/// Functions of one element. Names that the compiler of a GPU knows without headers are used as they are.
/// Quotients and remainders are Halide's: remainders are never negative, and what is divided by zero gives zero.
/// Numbers become integers as on x86-64: what does not fit gives the least one.
inline constexpr const char* kPrelude = R"(
typedef signed char int8; typedef short int16; typedef int int32; typedef long long int64;
typedef unsigned char uint8; typedef unsigned short uint16; typedef unsigned int uint32; typedef unsigned long long uint64;
template <class T> __device__ T divided(T a, T b) {
  if (b == 0) return 0;
  const T rest = a % b;
  const T quotient = a / b;
  return rest < 0 ? (b > 0 ? quotient - 1 : quotient + 1) : quotient;
}
template <class T> __device__ T left_over(T a, T b) {
  if (b == 0) return 0;
  const T rest = a % b;
  return rest < 0 ? (b > 0 ? rest + b : rest - b) : rest;
}
template <class T> __device__ T larger(T a, T b) { return a > b ? a : b; }
template <class T> __device__ T smaller(T a, T b) { return a < b ? a : b; }
template <class T> __device__ int32 whole32(T x) {
  return x >= T(-2147483648.0) && x < T(2147483648.0) ? int32(x) : int32(-2147483647 - 1);
}
template <class T> __device__ int64 whole64(T x) {
  return x >= T(-9223372036854775808.0) && x < T(9223372036854775808.0) ? int64(x) : -9223372036854775807LL - 1;
}
)";

}  // namespace collage::native::cuda
