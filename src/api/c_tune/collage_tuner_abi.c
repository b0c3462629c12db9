// A library with the declarations of collage_tune.h and no contents: tools/abi.py reads the interface from its debug
// information, where handles stay unknown types as they are for programs.
#include "collage_tune.h"

const collage_tune_api* collage_get_tune_api(uint32_t version) {
  (void)version;
  return NULL;
}
