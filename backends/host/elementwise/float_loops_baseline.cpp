// The f32 loops compiled for this instruction set; flags are in CMakeLists.txt.
#define COLLAGE_FIND_FLOAT_LOOP find_float_loop_baseline
#include "elementwise/float_loops.inc"
