#include "export/library/linked_backends.h"

#include <array>

#include "backend/instance.h"

// Each module's collage_backend_module() under a name of its own; the build lists them.
#define COLLAGE_MODULE(kind) extern "C" const collage::BackendModule* collage_linked_##kind();
COLLAGE_LINKED_MODULES
#undef COLLAGE_MODULE

namespace collage {
namespace {

const BackendModule* module_of(const std::string& kind) {
  static constexpr std::array kModules = {
#define COLLAGE_MODULE(kind) &collage_linked_##kind,
      COLLAGE_LINKED_MODULES
#undef COLLAGE_MODULE
  };
  for (const auto module : kModules)
    if (module()->kind == kind) return module();
  return nullptr;
}

}  // namespace

Result<Backend*> LinkedBackends::get(const std::string& instance_name) {
  COLLAGE_TRY(const InstanceName parsed, parse_instance_name(instance_name));
  std::unique_ptr<Backend>& instance = instances_[parsed.name];
  if (instance == nullptr) {
    const BackendModule* const module = module_of(parsed.kind);
    if (module == nullptr)
      return fail(ExitCode::kUnsupported, "backend/missing", instance_name, "no backend of this kind in this library");
    instance.reset(module->create(parsed.name, parsed.options));
  }
  if (const std::string& why = instance->info().unusable; !why.empty())
    return fail(ExitCode::kUnsupported, "backend/unusable", instance_name, why);
  return instance.get();
}

}  // namespace collage
