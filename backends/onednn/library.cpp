#include "library.h"

#include <fmt/format.h>
#include <oneapi/dnnl/dnnl.hpp>

#include "backends/common/build_id/build_id.h"

namespace collage::onednn {
namespace {

std::string runtime_name(unsigned runtime) {
  switch (runtime) {
    case DNNL_RUNTIME_SEQ:
      return "sequential";
    case DNNL_RUNTIME_OMP:
      return "openmp";
    case DNNL_RUNTIME_TBB:
      return "tbb";
    default:
      return "runtime" + std::to_string(runtime);
  }
}

}  // namespace

std::string library_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string library_build() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}+{}+{}+{}+isa{:x}", library_version(), version->hash, build_id_of(version->hash),
                     runtime_name(version->cpu_runtime), static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
}

}  // namespace collage::onednn
