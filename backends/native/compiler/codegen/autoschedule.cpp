#include "compiler/codegen/autoschedule.h"

#include <dlfcn.h>

#include <filesystem>

#include "compiler/codegen/codegen.h"

namespace collage::native {
namespace {

constexpr const char* kName = "Mullapudi2016";
constexpr const char* kPlugin = "libautoschedule_mullapudi2016.so";
/// The cache that a kernel can use, in addition to what other kernels occupy.
constexpr std::int64_t kCacheBytes = std::int64_t{1} << 20;
/// Of a load against an operation.
constexpr int kBalance = 40;

/// Empty where Halide's library has none beside it.
std::string plugin() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&Halide::load_plugin), &info) == 0 || info.dli_fname == nullptr) return {};
  const auto path = std::filesystem::path(info.dli_fname).parent_path() / kPlugin;
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? path.string() : "";
}

}  // namespace

std::int64_t autoscheduler_fact() {
  static const bool is_here = !plugin().empty();
  return is_here ? 1 : 0;
}

void autoschedule(const Halide::Func& out, const Site& site) {
  Halide::load_plugin(plugin());
  Halide::Pipeline(out).apply_autoscheduler(target_of(site.set),
                                            {kName,
                                             {{"parallelism", std::to_string(site.options.threads)},
                                              {"last_level_cache_size", std::to_string(kCacheBytes)},
                                              {"balance", std::to_string(kBalance)}}});
}

}  // namespace collage::native
