// Finds, loads and configures backends. Modules lie in a folder beside the program or in folders that the user names. A
// module is loaded when its backend is first asked for, so that environment variables of its runtime can be set before.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// Options of an instance: "onnxruntime:opt=basic" -> {{"opt","basic"}}.
using BackendOptions = std::map<std::string, std::string>;

/// The version of the table below, class Backend and its extensions: incremented with every change of their layout or
/// virtual functions, so that a module built with another version is refused.
inline constexpr std::uint32_t kModuleVersion = 8;

/// The table that a module with its own class Backend exports through `const collage::BackendModule*
/// collage_backend_module()`, with C linkage. A module with hooks exports collage_backend_hooks() instead (hooks.h).
struct BackendModule {
  std::uint32_t struct_size = sizeof(BackendModule);
  std::uint32_t abi_version = kModuleVersion;
  const char* kind = nullptr;
  /// Makes an instance; never null. If an instance cannot be used, info().unusable says why.
  Backend* (*create)(const std::string& instance_name, const BackendOptions& options) = nullptr;
};

/// Owns the loaded modules and the instances made from them. Not thread-safe; pass it by reference.
class Registry {
 public:
  /// `places` are searched in order: folders for libcollage_backend_<kind>.so, or files with such a name. One that
  /// begins with kOperatorPlace is a library of operators, for every instance that takes some
  /// (extensions/operator_library.h).
  explicit Registry(std::vector<std::string> places);
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Kinds for which a module file exists, sorted; nothing is loaded.
  [[nodiscard]] std::vector<std::string> kinds() const;
  /// Kinds of this tree that were left out of the build, sorted, with the reason. Only a build tree knows them.
  [[nodiscard]] std::map<std::string, std::string> left_out() const;
  /// The instance of this name ("kind" or "kind:key=value,..."), made on first use.
  /// Error backend/missing, backend/unusable, backend/bad-option, operators/missing.
  [[nodiscard]] Result<Backend*> get(const std::string& instance_name);
  /// Like get(), but an unusable instance is returned too (for `collage backends`).
  [[nodiscard]] Result<Backend*> inspect(const std::string& instance_name);
  /// From now on get() returns error backend/unusable with this reason, and the instance is not made.
  void exclude(const std::string& instance_name, std::string why);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Finds a backend by its instance name when kernels are loaded: Registry::get, or a test double.
using BackendSource = std::function<Result<Backend*>(const std::string& instance)>;

/// The folder `collage` beside the library that contains this function, with the backends of this tree and its
/// programs; "" when it cannot be told.
[[nodiscard]] std::string own_module_folder();

/// own_module_folder() (lib/collage of an installed tree, whichever
/// program loads it), then the folders in the environment variable COLLAGE_BACKEND_PATH, separated by ':'.
[[nodiscard]] std::vector<std::string> default_module_folders();

}  // namespace collage
