// ZIP archives with uncompressed, aligned members, so that members are slices of the mapped file.
// Written here because the available archive libraries cannot align the data of a member.
// Format: PKWARE APPNOTE 6.3.10, stored members, always with ZIP64 records (one code path for all sizes). Padding
// before the data is a local extra field with Android's alignment id 0xD935, which other readers skip.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/error.h"

namespace collage {

/// A member to write: the concatenation of its parts.
struct ZipSource {
  std::string name;
  std::vector<std::span<const std::byte>> parts;
  std::size_t alignment = 64;  ///< of the first data byte in the file; a power of two, at most 32 KiB
};

/// A member found in an archive.
struct ZipMember {
  std::string name;
  Buffer data;  ///< shares the archive's owner
  std::uint32_t crc = 0;
};

/// Writes the archive to an open file descriptor from its current position, which must be 0. Error io/cannot-write;
/// `label` names the file in it.
[[nodiscard]] Result<void> write_zip(int descriptor, std::span<const ZipSource> members, const std::string& label);

/// Finds all members, in the order of the directory. Checks the structure, not the checksums (see has_right_crc).
/// Error zip/damaged for anything else than such an archive, compressed or overlapping members included.
[[nodiscard]] Result<std::vector<ZipMember>> read_zip(const Buffer& file, const std::string& label);

[[nodiscard]] bool has_right_crc(const ZipMember& member);

}  // namespace collage
