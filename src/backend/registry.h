// Finds, loads and configures backends. Modules lie in a folder beside the program or where the user says; each is
// loaded when first asked for, so that the environment of its runtime can be set before.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// Options of an instance: "onnxruntime:opt=basic" -> {{"opt","basic"}}.
using BackendOptions = std::map<std::string, std::string>;

/// Of the table below, class Backend and its extensions: raised with every change of their layout or virtual functions,
/// so that a module that was built against another one is refused.
inline constexpr std::uint32_t kModuleVersion = 4;

/// What a module exports as `const collage::BackendModule* collage_backend_module()` with C linkage when it makes its
/// own Backend; one that has hooks exports collage_backend_hooks() in its place (hooks.h).
struct BackendModule {
  std::uint32_t struct_size = sizeof(BackendModule);
  std::uint32_t abi_version = kModuleVersion;
  const char* kind = nullptr;
  /// Makes an instance; never null. An instance that cannot work here says so in info().unusable.
  Backend* (*create)(const std::string& instance_name, const BackendOptions& options) = nullptr;
};

/// Owner of the loaded modules and the instances made of them. Not thread-safe; pass it by reference.
class Registry {
 public:
  /// `places` are searched in order: folders for libcollage_backend_<kind>.so, or files with such a name.
  explicit Registry(std::vector<std::string> places);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Kinds for which a module file exists, sorted; nothing is loaded.
  [[nodiscard]] std::vector<std::string> kinds() const;
  /// The instance of this name ("kind" or "kind:key=value,..."), made on first use.
  /// Error backend/missing, backend/unusable, backend/bad-option.
  [[nodiscard]] Result<Backend*> get(const std::string& instance_name);
  /// Like get(), but an unusable instance is returned all the same (for `collage backends`).
  [[nodiscard]] Result<Backend*> inspect(const std::string& instance_name);
  /// From here on the instance is error backend/unusable with this reason, and none is made.
  void exclude(const std::string& instance_name, std::string why);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How who loads kernels gets at a backend by its instance name: Registry::get wrapped, or test doubles.
using BackendSource = std::function<Result<Backend*>(const std::string& instance)>;

/// The folder collage beside the library that this function is in (lib/collage of an installed tree, whatever program
/// loads it), then the environment variable COLLAGE_BACKEND_PATH (':' separated).
[[nodiscard]] std::vector<std::string> default_module_folders();

}  // namespace collage
