// In place of micro_kernel.cpp where there was no libxsmm to build with.
#include "compiler/products/micro_kernel.h"

namespace collage::native {

std::int64_t micro_kernel_version() { return 0; }

std::expected<std::string, std::string> micro_kernel(const MicroProduct&, const InstructionSet&) {
  return std::unexpected("built without libxsmm");
}

}  // namespace collage::native
