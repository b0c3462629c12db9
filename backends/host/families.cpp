#include "family.h"

namespace collage::host {

std::vector<const Family*> all_families() {
  return {&kResize, &kMovement, &kElementwise, &kGather, &kSoftmax, &kReduce, &kNormalise};
}

}  // namespace collage::host
