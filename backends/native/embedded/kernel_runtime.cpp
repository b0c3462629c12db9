// Compiled once into bytes, then linked into every shared object of kernels. Nothing is called from here but through
// the table.
#include "embedded/kernel_runtime.h"

#include <HalideRuntime.h>

namespace {
const collage::native::RuntimeTable* table = nullptr;
constexpr int kOutOfMemory = -11;  // halide_error_code_out_of_memory

constexpr int kRowMajor = 101;  // those of the CBLAS interface
constexpr int kAsItIs = 111;
constexpr int kTurned = 112;

struct Factor {
  const float* data;
  int turn;
  int leading;
};

/// A factor from the first place of the result on, along the dimension `shared` that it has in common with the result
/// and along the batches. One of its two strides is 1.
Factor factor_at(const halide_buffer_t& factor, int shared, const halide_buffer_t& result) {
  const auto* data = reinterpret_cast<const float*>(factor.host);
  for (int i = 0; i < factor.dimensions; ++i)
    if (i == shared || (i >= 2 && factor.dim[i].extent > 1))
      data += std::int64_t{result.dim[i].min - factor.dim[i].min} * factor.dim[i].stride;
  const bool is_turned = factor.dim[0].stride != 1;
  return {data, is_turned ? kTurned : kAsItIs, factor.dim[is_turned ? 0 : 1].stride};
}
}  // namespace

extern "C" {

void collage_native_attach(const collage::native::RuntimeTable* given);
int collage_native_product(halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* result);
int collage_native_tile(halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* result,
                        collage::native::MicroKernel kernel);

void collage_native_attach(const collage::native::RuntimeTable* given) { table = given; }
void* halide_malloc(void* context, std::size_t bytes) { return table->allocate(context, bytes); }
void halide_free(void* context, void* pointer) { table->release(context, pointer); }
int halide_do_par_for(void* context, collage::native::Task task, int first, int count, std::uint8_t* closure) {
  return table->parallel_for(context, task, first, count, closure);
}
int halide_error_out_of_memory(void*) { return kOutOfMemory; }
int collage_native_product(halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* result) {
  const Factor left = factor_at(*a, 1, *result);
  const Factor right = factor_at(*b, 0, *result);
  const halide_dimension_t* wanted = result->dim;
  table->sgemm(kRowMajor, left.turn, right.turn, wanted[1].extent, wanted[0].extent, a->dim[0].extent, 1.F, left.data,
               left.leading, right.data, right.leading, 0.F, reinterpret_cast<float*>(result->host), wanted[1].stride);
  return 0;
}
int collage_native_tile(halide_buffer_t* a, halide_buffer_t* b, halide_buffer_t* result,
                        collage::native::MicroKernel kernel) {
  kernel(factor_at(*b, 0, *result).data, factor_at(*a, 1, *result).data, reinterpret_cast<float*>(result->host));
  return 0;
}
}
