#include "backend/module_file.h"

#include <dlfcn.h>

#include "backend/open_library.h"
#include "backend/unusable.h"
#include "base/buffer.h"
#include "base/hash.h"

namespace collage {
namespace {

constexpr std::string_view kPrefix = "libcollage_backend_";
constexpr std::string_view kSuffix = ".so";
constexpr std::string_view kLeftOutSuffix = ".lacks";
constexpr const char* kModuleSymbol = "collage_backend_module";
/// What a module of this version must at least have filled in.
constexpr std::uint32_t kSmallestModule = sizeof(BackendModule);

std::string kind_before(std::string_view file, std::string_view suffix) {
  if (!file.starts_with(kPrefix) || !file.ends_with(suffix) || file.size() <= kPrefix.size() + suffix.size()) return {};
  return std::string(file.substr(kPrefix.size(), file.size() - kPrefix.size() - suffix.size()));
}

Result<const BackendModule*> checked_module(const BackendModule* module, const std::string& path) {
  if (module == nullptr) return unusable(path, "an entry point that returns nothing", "a backend module");
  // The size comes first in the table and is checked first: it says which of the other fields exist.
  if (module->struct_size < kSmallestModule || module->abi_version != kModuleVersion)
    return unusable(
        path,
        "ABI version " + std::to_string(module->abi_version) + ", table of " + std::to_string(module->struct_size) +
            " bytes",
        "ABI version " + std::to_string(kModuleVersion) + ", at least " + std::to_string(kSmallestModule) + " bytes");
  if (module->kind == nullptr || module->create == nullptr)
    return unusable(path, "a table without kind or create", "a backend module");
  return module;
}

Result<Module> module_with_hooks(HooksEntry entry, const std::string& path) {
  COLLAGE_TRY(const BackendHooks hooks, checked_hooks(entry(), path));
  COLLAGE_TRY(const Buffer file, Buffer::map_file(path));
  return Module{.hooks = hooks, .build = hash_hex(file.data(), file.size()).substr(0, 16)};
}

}  // namespace

std::string file_of_kind(const std::string& kind) { return std::string(kPrefix) + kind + std::string(kSuffix); }

std::string kind_of_file(std::string_view file) { return kind_before(file, kSuffix); }
std::string left_out_kind_of_file(std::string_view file) { return kind_before(file, kLeftOutSuffix); }

Result<Module> load_module(const std::string& path, const std::string& kind) {
  const auto opened = open_library(path);
  if (!opened) return unusable(path, opened.error(), "a loadable module");
  void* const handle = *opened;
  Module module;
  if (const auto entry = reinterpret_cast<const BackendModule* (*)()>(::dlsym(handle, kModuleSymbol))) {
    COLLAGE_TRY(module.backend, checked_module(entry(), path));
  } else if (const auto hooks = reinterpret_cast<HooksEntry>(::dlsym(handle, kHooksSymbol))) {
    COLLAGE_TRY(module, module_with_hooks(hooks, path));
  } else {
    return unusable(path, std::string("no symbol ") + kModuleSymbol + " or " + kHooksSymbol, "a backend module");
  }
  const std::string said = module.backend != nullptr ? module.backend->kind : module.hooks->kind;
  if (said != kind) return unusable(path, "a module of kind '" + said + "'", "kind '" + kind + "'");
  return module;
}

}  // namespace collage
