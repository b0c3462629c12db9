// Opens a shared library of ours whose foreign libraries may lie where the dynamic loader does not look.
// In:  a library's path; beside it perhaps a file NAME.needs; folders of the environment variable COLLAGE_LIBRARY_PATH.
// Out: its handle, or a reason in words.
//
// A line of NAME.needs is "SONAME PATH FROM...": the foreign library's name, where it lies below a folder of
// COLLAGE_LIBRARY_PATH, and in words where to get it. It is used only if the dynamic loader finds no library of its
// own.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace collage {

/// A foreign library that a library of ours needs.
struct NeededLibrary {
  std::string soname;
  std::string path;  ///< below a folder of COLLAGE_LIBRARY_PATH
  std::string from;
};

/// The lines of NAME.needs; malformed ones and those that begin with '#' are left out.
[[nodiscard]] std::vector<NeededLibrary> parse_needed_libraries(std::string_view text);

/// dlopen(path, RTLD_NOW | RTLD_LOCAL), once more after the libraries of NAME.needs were opened if it fails. Nothing
/// that was opened is ever closed: runtimes keep threads and exit handlers.
[[nodiscard]] std::expected<void*, std::string> open_library(const std::string& path);

}  // namespace collage
