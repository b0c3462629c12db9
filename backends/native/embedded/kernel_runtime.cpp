// Compiled once into bytes, then linked into every shared object of kernels. No library is called from here.
#include "embedded/kernel_runtime.h"

namespace {
const collage::native::RuntimeTable* table = nullptr;
constexpr int kOutOfMemory = -11;  // halide_error_code_out_of_memory
}  // namespace

extern "C" {

void collage_native_attach(const collage::native::RuntimeTable* given);
void* halide_malloc(void* context, std::size_t bytes);
void halide_free(void* context, void* pointer);
int halide_do_par_for(void* context, collage::native::Task task, int first, int count, std::uint8_t* closure);
int halide_error_out_of_memory(void* context);

void collage_native_attach(const collage::native::RuntimeTable* given) { table = given; }
void* halide_malloc(void* context, std::size_t bytes) { return table->allocate(context, bytes); }
void halide_free(void* context, void* pointer) { table->release(context, pointer); }
int halide_do_par_for(void* context, collage::native::Task task, int first, int count, std::uint8_t* closure) {
  return table->parallel_for(context, task, first, count, closure);
}
int halide_error_out_of_memory(void*) { return kOutOfMemory; }
}
