// Reads whole files, and replaces them atomically: a reader sees the old content or the new one, never a part, also
// after a crash.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"

namespace collage {

/// A copy of the whole file, 64-byte aligned: what happens to the file afterwards does not matter. Error
/// io/cannot-read, also for a file that becomes shorter while it is read.
[[nodiscard]] Result<Buffer> read_file(const std::string& path);

/// Writes `pieces` to `path`: temporary name beside it, fsync, rename, fsync of the folder.
/// Error file/cannot-write; the temporary is removed then.
[[nodiscard]] Result<void> write_file_durably(const std::string& path, std::span<const std::string_view> pieces);

/// The same without the two syncs: for files that do not outlive the session.
[[nodiscard]] Result<void> write_file(const std::string& path, std::span<const std::string_view> pieces);
[[nodiscard]] Result<void> write_file(const std::string& path, std::string_view contents);

/// The names in a folder, in no order; none for one that cannot be read. To be used in place of
/// std::filesystem::directory_iterator, whose constructor in libstdc++ ends the program when memory runs out.
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

/// Removes temporaries of these two that their writers left behind an hour ago or earlier.
void remove_stale_temporaries(const std::string& folder);

}  // namespace collage
