// A library with the declarations of collage.h and no contents: tools/abi.py reads the interface from its debug
// information, where handles stay unknown types as they are for programs.
#include "collage.h"

const collage_api* collage_get_api(uint32_t version) {
  (void)version;
  return NULL;
}
