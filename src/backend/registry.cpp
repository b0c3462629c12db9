// Loads backend modules and makes the instances that names like "onnxruntime:opt=basic" ask for.
// In: folders with libcollage_backend_<kind>.so. Out: instances, owned here for the registry's life.
#include "backend/registry.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

namespace collage {
namespace {

constexpr std::string_view kPrefix = "libcollage_backend_";
constexpr std::string_view kSuffix = ".so";
constexpr const char* kEntryPoint = "collage_backend_module";
constexpr std::uint32_t kAbiVersion = 1;
/// What a module of this version must at least have filled in.
constexpr std::uint32_t kSmallestTable = sizeof(BackendModule);

/// "kind:key=value,..." taken apart; `name` is the same with its options sorted, so that order makes no new instance.
struct InstanceName {
  std::string name;
  std::string kind;
  BackendOptions options;
};

std::unexpected<Error> bad_option(const std::string& name, std::string saw) {
  return fail(ExitCode::kUsage, "backend/bad-option", name, std::move(saw), "KIND or KIND:KEY=VALUE,KEY=VALUE");
}

bool is_kind_char(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-'; }

Result<InstanceName> parse_instance_name(const std::string& name) {
  const std::size_t colon = name.find(':');
  InstanceName parsed{.name = {}, .kind = name.substr(0, colon), .options = {}};
  if (parsed.kind.empty() || !std::all_of(parsed.kind.begin(), parsed.kind.end(), is_kind_char))
    return bad_option(name, "the kind '" + parsed.kind + "'");
  for (std::size_t from = colon; from != std::string::npos;) {
    const std::size_t comma = name.find(',', from + 1);
    const std::string option = name.substr(from + 1, comma == std::string::npos ? comma : comma - from - 1);
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) return bad_option(name, "the option '" + option + "'");
    if (!parsed.options.emplace(option.substr(0, equals), option.substr(equals + 1)).second)
      return bad_option(name, "the option '" + option.substr(0, equals) + "' twice");
    from = comma;
  }
  parsed.name = parsed.kind;
  char separator = ':';
  for (const auto& [key, value] : parsed.options) {
    parsed.name += separator + key + '=' + value;
    separator = ',';
  }
  return parsed;
}

/// The kind in a module's file name; empty for other files.
std::string kind_of_file(std::string_view file) {
  if (!file.starts_with(kPrefix) || !file.ends_with(kSuffix) || file.size() <= kPrefix.size() + kSuffix.size())
    return {};
  return std::string(file.substr(kPrefix.size(), file.size() - kPrefix.size() - kSuffix.size()));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::unexpected<Error> unusable(const std::string& where, std::string saw, std::string allowed = {}) {
  return fail(ExitCode::kUnsupported, "backend/unusable", where, std::move(saw), std::move(allowed));
}

/// Loads a module file. It is never unloaded: the runtimes behind modules keep threads and exit handlers, and kernels
/// may live longer than the registry.
Result<const BackendModule*> load_module(const std::string& path, const std::string& kind) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = ::dlerror();
    return unusable(path, reason != nullptr ? reason : "a module that does not load", "a loadable module");
  }
  const auto entry = reinterpret_cast<const BackendModule* (*)()>(::dlsym(handle, kEntryPoint));
  if (entry == nullptr) return unusable(path, std::string("no symbol ") + kEntryPoint, "a backend module");
  const BackendModule* module = entry();
  if (module == nullptr) return unusable(path, "an entry point that returns nothing", "a backend module");
  // The size comes first in the table and is checked first: it says which of the other fields exist.
  if (module->struct_size < kSmallestTable || module->abi_version != kAbiVersion)
    return unusable(
        path,
        "ABI version " + std::to_string(module->abi_version) + ", table of " + std::to_string(module->struct_size) +
            " bytes",
        "ABI version " + std::to_string(kAbiVersion) + ", at least " + std::to_string(kSmallestTable) + " bytes");
  if (module->kind == nullptr || module->create == nullptr)
    return unusable(path, "a table without kind or create", "a backend module");
  if (module->kind != kind)
    return unusable(path, "a module of kind '" + std::string(module->kind) + "'", "kind '" + kind + "'");
  return module;
}

}  // namespace

struct Registry::State {
  std::vector<std::string> folders;
  std::map<std::string, const BackendModule*> modules;        ///< by kind
  std::map<std::string, std::unique_ptr<Backend>> instances;  ///< by sorted instance name
  std::map<std::string, std::string> excluded;                ///< likewise, and why

  /// The first folder's module file of this kind; empty when there is none.
  [[nodiscard]] std::string find_module(const std::string& kind) const {
    for (const std::string& folder : folders) {
      const auto path = std::filesystem::path(folder) / (std::string(kPrefix) + kind + std::string(kSuffix));
      std::error_code ignored;
      if (std::filesystem::is_regular_file(path, ignored)) return path.string();
    }
    return {};
  }

  Result<const BackendModule*> module_of(const std::string& kind, const std::vector<std::string>& kinds) {
    if (const auto found = modules.find(kind); found != modules.end()) return found->second;
    const std::string path = find_module(kind);
    if (path.empty())
      return fail(ExitCode::kUnsupported, "backend/missing", kind, "no module of this kind in " + listed(folders),
                  listed(kinds));
    COLLAGE_TRY(const BackendModule* module, load_module(path, kind));
    modules.emplace(kind, module);
    return module;
  }
};

Registry::Registry(std::vector<std::string> module_folders) : state_(std::make_unique<State>()) {
  state_->folders = std::move(module_folders);
}

Registry::~Registry() = default;

std::vector<std::string> Registry::kinds() const {
  std::set<std::string> kinds;
  for (const std::string& folder : state_->folders) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (std::string kind = kind_of_file(entry->path().filename().string()); !kind.empty())
        kinds.insert(std::move(kind));
  }
  return {kinds.begin(), kinds.end()};
}

Result<Backend*> Registry::inspect(const std::string& instance_name) {
  COLLAGE_TRY(const InstanceName parsed, parse_instance_name(instance_name));
  if (const auto found = state_->excluded.find(parsed.name); found != state_->excluded.end())
    return unusable(parsed.name, found->second);
  if (const auto found = state_->instances.find(parsed.name); found != state_->instances.end())
    return found->second.get();
  COLLAGE_TRY(const BackendModule* module, state_->module_of(parsed.kind, kinds()));
  auto made = guard([&] { return std::unique_ptr<Backend>(module->create(parsed.name, parsed.options)); });
  if (!made) return unusable(parsed.name, "a failure while starting: " + made.error());
  if (*made == nullptr) return unusable(parsed.name, "a module that makes no instance");
  Backend* backend = made->get();
  state_->instances.emplace(parsed.name, std::move(*made));
  return backend;
}

void Registry::exclude(const std::string& instance_name, std::string why) {
  if (const auto parsed = parse_instance_name(instance_name)) state_->excluded[parsed->name] = std::move(why);
}

Result<Backend*> Registry::get(const std::string& instance_name) {
  COLLAGE_TRY(Backend * backend, inspect(instance_name));
  if (!backend->info().unusable.empty()) return unusable(instance_name, backend->info().unusable);
  return backend;
}

std::vector<std::string> default_module_folders() {
  std::vector<std::string> folders;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) folders.push_back((program.parent_path().parent_path() / "lib" / "collage").string());
  // One look at the environment, at the edge: the program passes the folders on.
  const char* listed_folders = std::getenv("COLLAGE_BACKENDS");
  std::string_view rest = listed_folders != nullptr ? listed_folders : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (const std::string_view folder = rest.substr(0, colon); !folder.empty()) folders.emplace_back(folder);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return folders;
}

}  // namespace collage
