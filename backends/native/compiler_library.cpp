#include "compiler_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

#include "backend/open_library.h"
#include "backend/registry.h"
#include "base/file.h"

namespace collage::native {
namespace {

constexpr std::string_view kStrategiesPrefix = "libcollage_native_strategies_";

std::unexpected<Error> missing(std::string saw) {
  return fail(ExitCode::kUnsupported, "backend/missing", "native", std::move(saw),
              "the native compiler beside this module, and binutils");
}

/// The folder this module was loaded from.
std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) return {};
  return std::filesystem::path(info.dli_fname).parent_path();
}

/// Whether posix_spawnp finds a program of this name.
bool is_in_path(const char* program) {
  const char* const listed = std::getenv("PATH");
  std::string_view rest = listed != nullptr ? listed : "/bin:/usr/bin";
  for (;;) {
    const std::size_t colon = rest.find(':');
    const auto path = std::filesystem::path(rest.substr(0, colon)) / program;
    if (::access(path.c_str(), X_OK) == 0) return true;
    if (colon == std::string_view::npos) return false;
    rest.remove_prefix(colon + 1);
  }
}

/// Never unloaded: LLVM inside it keeps exit handlers.
Result<const CompilerTable*> open_compiler() {
  for (const char* program : {"ld", "as"})
    if (!is_in_path(program)) return missing(std::string("no program ") + program + " in PATH, which makes objects");
  const std::string path = own_folder() / "libcollage_native_compiler.so";
  const auto opened = open_library(path);
  if (!opened) return missing(opened.error());
  const auto entry = reinterpret_cast<CompilerEntry>(::dlsym(*opened, kCompilerSymbol));
  if (entry == nullptr) return missing(std::string("no symbol ") + kCompilerSymbol);
  return entry();
}

}  // namespace

std::vector<std::string> libraries_of_strategies() {
  std::set<std::string> found;
  std::vector<std::string> folders = default_module_folders();
  folders.push_back(own_folder().string());
  for (const std::string& folder : folders) {
    std::error_code error;
    for (const std::string& name : names_in(folder))
      if (name.starts_with(kStrategiesPrefix) && name.ends_with(".so"))
        if (const auto path = std::filesystem::canonical(std::filesystem::path(folder) / name, error); !error)
          found.insert(path.string());
  }
  return {found.begin(), found.end()};
}

std::string whole_path(const std::string& file) {
  std::error_code error;
  const auto path = std::filesystem::canonical(file, error);
  return error ? file : path.string();
}

Result<const CompilerTable*> compiler() {
  static const Result<const CompilerTable*> opened = open_compiler();
  return opened;
}

}  // namespace collage::native
