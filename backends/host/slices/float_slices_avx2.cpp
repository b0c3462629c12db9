// The f32 loops over slices compiled for this instruction set; flags are in CMakeLists.txt.
#define COLLAGE_SLICE_LOOPS slice_loops_avx2
#include "slices/float_slices.inc"
