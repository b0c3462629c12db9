#include "backend/open_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace collage {
namespace {

constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;

std::string reason_of_loader() {
  const char* words = ::dlerror();
  return words != nullptr ? words : "a library that does not load";
}

std::vector<std::string> library_folders() {
  const char* listed = std::getenv("COLLAGE_LIBRARY_PATH");
  std::vector<std::string> folders;
  std::istringstream words(listed != nullptr ? listed : "");
  for (std::string folder; std::getline(words, folder, ':');)
    if (!folder.empty()) folders.push_back(std::move(folder));
  return folders;
}

std::vector<NeededLibrary> needs_of(const std::string& path) {
  std::ifstream file(std::filesystem::path(path).replace_extension(".needs"));
  return parse_needed_libraries(std::string(std::istreambuf_iterator<char>(file), {}));
}

/// Opens it in the first folder that has it. What was wrong; empty when it is open.
std::string open_needed(const NeededLibrary& needed, const std::vector<std::string>& folders) {
  if (::dlopen(needed.soname.c_str(), kFlags) != nullptr) return {};
  std::string wrong = "no " + needed.soname + ", which is part of " + needed.from;
  for (const std::string& folder : folders) {
    const std::string file = (std::filesystem::path(folder) / needed.path).string();
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) continue;
    if (::dlopen(file.c_str(), kFlags) != nullptr) return {};
    wrong = reason_of_loader();
  }
  return wrong;
}

}  // namespace

std::vector<NeededLibrary> parse_needed_libraries(std::string_view text) {
  std::vector<NeededLibrary> found;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    NeededLibrary needed;
    if (words >> needed.soname >> needed.path && std::getline(words >> std::ws, needed.from))
      found.push_back(std::move(needed));
  }
  return found;
}

std::expected<void*, std::string> open_library(const std::string& path) {
  if (void* const handle = ::dlopen(path.c_str(), kFlags)) return handle;
  std::string reason = reason_of_loader();
  const std::vector<NeededLibrary> needs = needs_of(path);
  if (needs.empty()) return std::unexpected(std::move(reason));
  const std::vector<std::string> folders = library_folders();
  for (const NeededLibrary& needed : needs)
    if (std::string wrong = open_needed(needed, folders); !wrong.empty()) return std::unexpected(std::move(wrong));
  if (void* const handle = ::dlopen(path.c_str(), kFlags)) return handle;
  return std::unexpected(reason_of_loader());
}

}  // namespace collage
