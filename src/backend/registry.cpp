// Loads backend modules and makes the instances that names like "onnxruntime:opt=basic" ask for.
// In: folders with libcollage_backend_<kind>.so, or such files. Out: instances, owned here for the registry's life.
#include "backend/registry.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string_view>

#include "backend/extensions/operator_library.h"
#include "backend/hooked_backend.h"
#include "backend/instance.h"
#include "backend/module_file.h"
#include "backend/roles.h"
#include "backend/unusable.h"
#include "base/file.h"
#include "base/suggest.h"

namespace collage {
namespace {

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

/// Reasons by kind, of those without a module.
std::map<std::string, std::string> left_out_of(const std::vector<std::string>& places) {
  std::map<std::string, std::string> reasons;
  for (const std::string& place : places) {
    for (const std::string& name : names_in(place)) {
      const std::string kind = left_out_kind_of_file(name);
      if (kind.empty()) continue;
      std::string reason;
      std::ifstream file(std::filesystem::path(place) / name);
      std::getline(file, reason);
      reasons.emplace(kind, "not built: " + reason);
    }
  }
  return reasons;
}

/// `code_generator` is asked for only by modules that need another one's.
std::unique_ptr<Backend> make_instance(const Module& module, const InstanceName& name,
                                       const std::function<Result<Backend*>()>& code_generator) {
  if (module.backend != nullptr) return std::unique_ptr<Backend>(module.backend->create(name.name, name.options));
  Result<Backend*> generator = nullptr;
  if (module.hooks->lower != nullptr && module.hooks->codegen == nullptr)
    generator = name.kind == kCodeGenerator ? unusable(name.name, "lower without codegen") : code_generator();
  return make_hooked_backend(*module.hooks, {.name = name.name, .options = name.options, .build = module.build},
                             std::move(generator));
}

}  // namespace

struct Registry::State {
  std::vector<std::string> places;
  std::vector<std::string> operator_libraries;                ///< paths
  std::map<std::string, Module> modules;                      ///< by kind
  std::map<std::string, std::unique_ptr<Backend>> instances;  ///< by sorted instance name
  std::map<std::string, std::string> excluded;                ///< likewise, and why

  Result<void> add_libraries(Backend& backend) const {
    auto* const takes = extension_of<OperatorLibraryExtension>(backend);
    if (takes == nullptr) return {};
    for (const std::string& path : operator_libraries) {
      COLLAGE_TRY(const OperatorLibrary library, read_operator_library(path));
      takes->add_library(library);
    }
    return {};
  }

  /// The first module file of this kind; empty when there is none.
  [[nodiscard]] std::string find_module(const std::string& kind) const {
    for (const std::string& place : places) {
      const std::filesystem::path path(place);
      std::error_code ignored;
      if (kind_of_file(path.filename().string()) == kind && std::filesystem::is_regular_file(path, ignored))
        return std::filesystem::absolute(path, ignored).string();
      const auto inside = path / file_of_kind(kind);
      if (std::filesystem::is_regular_file(inside, ignored)) return inside.string();
    }
    return {};
  }

  Result<const Module*> module_of(const std::string& kind, const std::vector<std::string>& kinds) {
    if (const auto found = modules.find(kind); found != modules.end()) return &found->second;
    const std::string path = find_module(kind);
    if (path.empty()) {
      const auto left_out = left_out_of(places);
      if (const auto found = left_out.find(kind); found != left_out.end()) return unusable(kind, found->second);
      return fail(ExitCode::kUnsupported, "backend/missing", kind,
                  "no module of this kind in " + listed(places) + did_you_mean(kind, kinds), listed(kinds));
    }
    COLLAGE_TRY(Module module, load_module(path, kind));
    return &modules.emplace(kind, std::move(module)).first->second;
  }
};

Registry::Registry(std::vector<std::string> places) : state_(std::make_unique<State>()) {
  for (std::string& place : places)
    if (place.starts_with(kOperatorPlace))
      state_->operator_libraries.push_back(place.substr(kOperatorPlace.size()));
    else
      state_->places.push_back(std::move(place));
}

Registry::~Registry() = default;

std::vector<std::string> Registry::kinds() const {
  std::set<std::string> kinds;
  const auto add = [&](const std::filesystem::path& path) {
    if (std::string kind = kind_of_file(path.filename().string()); !kind.empty()) kinds.insert(std::move(kind));
  };
  for (const std::string& place : state_->places) {
    std::error_code error;
    if (std::filesystem::is_regular_file(place, error)) add(place);
    for (const std::string& name : names_in(place)) add(name);
  }
  return {kinds.begin(), kinds.end()};
}

std::map<std::string, std::string> Registry::left_out() const {
  std::map<std::string, std::string> reasons = left_out_of(state_->places);
  for (const std::string& kind : kinds()) reasons.erase(kind);
  return reasons;
}

Result<Backend*> Registry::inspect(const std::string& instance_name) {
  COLLAGE_TRY(const InstanceName parsed, parse_instance_name(instance_name));
  if (const auto found = state_->excluded.find(parsed.name); found != state_->excluded.end())
    return unusable(parsed.name, found->second);
  if (const auto found = state_->instances.find(parsed.name); found != state_->instances.end())
    return found->second.get();
  COLLAGE_TRY(const Module* module, state_->module_of(parsed.kind, kinds()));
  auto made = guard([&] { return make_instance(*module, parsed, [this] { return get(kCodeGenerator); }); });
  if (!made) return unusable(parsed.name, "a failure while starting: " + made.error());
  if (*made == nullptr) return unusable(parsed.name, "a module that makes no instance");
  Backend* backend = made->get();
  COLLAGE_TRY_VOID(state_->add_libraries(*backend));
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

std::string own_module_folder() {
  std::error_code error;
  Dl_info library;
  // Any address of this library does.
  static const char own_address = 0;
  if (::dladdr(&own_address, &library) == 0) return {};
  // Where the library was found counts, not where a link leads.
  const auto folder = std::filesystem::canonical(std::filesystem::path(library.dli_fname).parent_path(), error);
  return error ? std::string() : (folder / "collage").string();
}

std::vector<std::string> default_module_folders() {
  std::vector<std::string> folders;
  if (std::string own = own_module_folder(); !own.empty()) folders.push_back(std::move(own));
  // The environment is read here only; the program passes the folders on.
  const char* listed_folders = std::getenv("COLLAGE_BACKEND_PATH");
  std::string_view rest = listed_folders != nullptr ? listed_folders : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    if (const std::string_view folder = rest.substr(0, colon); !folder.empty()) folders.emplace_back(folder);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return folders;
}

}  // namespace collage
