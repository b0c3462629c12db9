#include "plan/file/zip.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace collage {
namespace {

static_assert(std::endian::native == std::endian::little, "ZIP fields are copied as they lie in memory");

constexpr std::uint32_t kLocalSignature = 0x04034b50;
constexpr std::uint32_t kCentralSignature = 0x02014b50;
constexpr std::uint32_t kEnd64Signature = 0x06064b50;
constexpr std::uint32_t kLocatorSignature = 0x07064b50;
constexpr std::uint32_t kEndSignature = 0x06054b50;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kCentralBytes = 46;
constexpr std::size_t kEnd64Bytes = 56;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kEndBytes = 22;
constexpr std::uint16_t kVersion = 45;  // the first with ZIP64
constexpr std::uint16_t kNamesAreUtf8 = 1U << 11;
constexpr std::uint16_t kDosDate = 0x0021;  // 1980-01-01: archives with equal contents are equal bytes
constexpr std::uint16_t kZip64Extra = 0x0001;
constexpr std::uint16_t kAlignExtra = 0xd935;
constexpr std::uint32_t kIn64 = 0xffffffff;

/// Little-endian fields appended to a byte string.
class Fields {
 public:
  template <class T>
  Fields& add(T value) {
    std::array<char, sizeof(T)> bytes;
    std::memcpy(bytes.data(), &value, sizeof(T));
    bytes_.append(bytes.data(), bytes.size());
    return *this;
  }
  Fields& add_text(std::string_view text) {
    bytes_.append(text);
    return *this;
  }
  Fields& add_zeros(std::size_t count) {
    bytes_.append(count, '\0');
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

struct Written {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;
  std::uint64_t header = 0;
};

Result<void> write_all(int descriptor, const void* data, std::size_t bytes, const std::string& label) {
  const auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor, next, std::min<std::size_t>(bytes, std::size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(ExitCode::kIo, "io/cannot-write", label, std::strerror(errno), "a writable file");
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return {};
}

std::uint32_t crc_of(std::span<const std::byte> bytes, std::uint32_t crc) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<z_size_t>(bytes.size())));
}

/// Local header, name, ZIP64 sizes and the padding that puts the data at `alignment`.
std::string local_header(const Written& member, std::size_t alignment) {
  const std::size_t fixed = kLocalBytes + member.name.size() + 20 + 6;
  const std::size_t padding = (alignment - (member.header + fixed) % alignment) % alignment;
  Fields out;
  out.add(kLocalSignature).add(kVersion).add(kNamesAreUtf8).add(std::uint16_t{0}).add(std::uint16_t{0}).add(kDosDate);
  out.add(member.crc).add(kIn64).add(kIn64).add(static_cast<std::uint16_t>(member.name.size()));
  out.add(static_cast<std::uint16_t>(20 + 6 + padding)).add_text(member.name);
  out.add(kZip64Extra).add(std::uint16_t{16}).add(member.size).add(member.size);
  out.add(kAlignExtra).add(static_cast<std::uint16_t>(2 + padding)).add(static_cast<std::uint16_t>(alignment));
  return out.add_zeros(padding).bytes();
}

std::string central_header(const Written& member) {
  Fields out;
  out.add(kCentralSignature).add(kVersion).add(kVersion).add(kNamesAreUtf8).add(std::uint16_t{0});
  out.add(std::uint16_t{0}).add(kDosDate).add(member.crc).add(kIn64).add(kIn64);
  out.add(static_cast<std::uint16_t>(member.name.size())).add(std::uint16_t{28}).add(std::uint16_t{0});
  out.add(std::uint16_t{0}).add(std::uint16_t{0}).add(std::uint32_t{0}).add(kIn64).add_text(member.name);
  out.add(kZip64Extra).add(std::uint16_t{24}).add(member.size).add(member.size).add(member.header);
  return out.bytes();
}

std::string end_records(std::uint64_t count, std::uint64_t directory, std::uint64_t directory_bytes) {
  const std::uint64_t end64 = directory + directory_bytes;
  Fields out;
  out.add(kEnd64Signature).add(std::uint64_t{kEnd64Bytes - 12}).add(kVersion).add(kVersion).add(std::uint32_t{0});
  out.add(std::uint32_t{0}).add(count).add(count).add(directory_bytes).add(directory);
  out.add(kLocatorSignature).add(std::uint32_t{0}).add(end64).add(std::uint32_t{1});
  out.add(kEndSignature)
      .add(std::uint16_t{0})
      .add(std::uint16_t{0})
      .add(std::uint16_t{0xffff})
      .add(std::uint16_t{0xffff});
  out.add(kIn64).add(kIn64).add(std::uint16_t{0});
  return out.bytes();
}

std::unexpected<Error> damaged_zip(const std::string& label, std::string saw) {
  return fail(ExitCode::kBadInput, "zip/damaged", label, std::move(saw), "a ZIP64 archive of stored members");
}

/// Reads fields at positions that were checked before.
class View {
 public:
  explicit View(const Buffer& file) : file_(file) {}
  [[nodiscard]] bool holds(std::uint64_t offset, std::uint64_t bytes) const {
    return offset <= file_.size() && bytes <= file_.size() - offset;
  }
  template <class T>
  [[nodiscard]] T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof(T));
    return value;
  }
  [[nodiscard]] std::string_view text(std::uint64_t offset, std::size_t bytes) const {
    return file_.text().substr(offset, bytes);
  }

 private:
  const Buffer& file_;
};

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
};

Result<Directory> find_directory(const View& view, std::size_t size, const std::string& label) {
  constexpr std::size_t kTail = kEnd64Bytes + kLocatorBytes + kEndBytes;
  if (size < kTail) return damaged_zip(label, fmt::format("{} bytes", size));
  const std::uint64_t end = size - kEndBytes;
  const std::uint64_t locator = end - kLocatorBytes;
  const std::uint64_t end64 = locator - kEnd64Bytes;
  if (view.at<std::uint32_t>(end) != kEndSignature || view.at<std::uint32_t>(locator) != kLocatorSignature ||
      view.at<std::uint32_t>(end64) != kEnd64Signature || view.at<std::uint64_t>(locator + 8) != end64)
    return damaged_zip(label, "no end of the archive's directory: not such a file, or cut short");
  const Directory directory{.offset = view.at<std::uint64_t>(end64 + 48),
                            .bytes = view.at<std::uint64_t>(end64 + 40),
                            .count = view.at<std::uint64_t>(end64 + 32)};
  if (directory.offset > end64 || directory.bytes != end64 - directory.offset ||
      directory.count > directory.bytes / kCentralBytes || view.at<std::uint64_t>(end64 + 24) != directory.count)
    return damaged_zip(label, "a directory that does not fit the file");
  return directory;
}

/// The sizes and the offset from the ZIP64 extra field of a central header, as write_zip puts it: first and complete.
struct Extent64 {
  std::uint64_t size = 0;
  std::uint64_t header = 0;
};
std::optional<Extent64> read_extra(const View& view, std::uint64_t extra, std::size_t bytes) {
  if (bytes < 28 || view.at<std::uint16_t>(extra) != kZip64Extra || view.at<std::uint16_t>(extra + 2) != 24)
    return std::nullopt;
  if (view.at<std::uint64_t>(extra + 4) != view.at<std::uint64_t>(extra + 12)) return std::nullopt;
  return Extent64{view.at<std::uint64_t>(extra + 4), view.at<std::uint64_t>(extra + 20)};
}

/// The first data byte of the member with this local header, when header and directory agree.
std::optional<std::uint64_t> find_data(const View& view, std::string_view name, const Extent64& extent,
                                       std::uint64_t directory) {
  if (!view.holds(extent.header, kLocalBytes) || view.at<std::uint32_t>(extent.header) != kLocalSignature)
    return std::nullopt;
  const std::size_t name_bytes = view.at<std::uint16_t>(extent.header + 26);
  const std::size_t extra_bytes = view.at<std::uint16_t>(extent.header + 28);
  if (!view.holds(extent.header, kLocalBytes + name_bytes + extra_bytes)) return std::nullopt;
  if (view.at<std::uint16_t>(extent.header + 8) != 0 || view.text(extent.header + kLocalBytes, name_bytes) != name)
    return std::nullopt;
  const std::uint64_t data = extent.header + kLocalBytes + name_bytes + extra_bytes;
  if (data > directory || extent.size > directory - data) return std::nullopt;
  return data;
}

}  // namespace

Result<void> write_zip(int descriptor, std::span<const ZipSource> members, const std::string& label) {
  std::uint64_t position = 0;
  std::vector<Written> written;
  for (const ZipSource& source : members) {
    COLLAGE_CHECK(source.name.size() <= 0xffff && std::has_single_bit(source.alignment) &&
                  source.alignment <= std::size_t{32} * 1024);
    Written member{.name = source.name, .crc = 0, .size = 0, .header = position};
    for (const std::span<const std::byte> part : source.parts) {
      member.crc = crc_of(part, member.crc);
      member.size += part.size();
    }
    const std::string header = local_header(member, source.alignment);
    COLLAGE_TRY_VOID(write_all(descriptor, header.data(), header.size(), label));
    for (const std::span<const std::byte> part : source.parts)
      COLLAGE_TRY_VOID(write_all(descriptor, part.data(), part.size(), label));
    position += header.size() + member.size;
    written.push_back(std::move(member));
  }
  std::string directory;
  for (const Written& member : written) directory += central_header(member);
  const std::string end = end_records(written.size(), position, directory.size());
  directory += end;
  return write_all(descriptor, directory.data(), directory.size(), label);
}

Result<std::vector<ZipMember>> read_zip(const Buffer& file, const std::string& label) {
  const View view(file);
  COLLAGE_TRY(const Directory directory, find_directory(view, file.size(), label));
  const std::uint64_t directory_end = directory.offset + directory.bytes;
  std::vector<ZipMember> members;
  std::set<std::string> names;
  std::uint64_t next = directory.offset;
  std::uint64_t data_end = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    if (directory_end - next < kCentralBytes || view.at<std::uint32_t>(next) != kCentralSignature)
      return damaged_zip(label, "a broken directory entry");
    const std::size_t name_bytes = view.at<std::uint16_t>(next + 28);
    const std::size_t extra_bytes = view.at<std::uint16_t>(next + 30);
    const std::size_t entry_bytes = kCentralBytes + name_bytes + extra_bytes + view.at<std::uint16_t>(next + 32);
    if (directory_end - next < entry_bytes) return damaged_zip(label, "a directory entry past the end");
    const std::string_view name = view.text(next + kCentralBytes, name_bytes);
    if (view.at<std::uint16_t>(next + 10) != 0) return damaged_zip(label, fmt::format("compressed member '{}'", name));
    const std::optional<Extent64> extent = read_extra(view, next + kCentralBytes + name_bytes, extra_bytes);
    const std::optional<std::uint64_t> data = extent ? find_data(view, name, *extent, directory.offset) : std::nullopt;
    if (!data || *data < data_end) return damaged_zip(label, fmt::format("member '{}' with a wrong place", name));
    if (!names.emplace(name).second) return damaged_zip(label, fmt::format("member '{}' twice", name));
    members.push_back(
        {.name = std::string(name), .data = file.slice(*data, extent->size), .crc = view.at<std::uint32_t>(next + 16)});
    data_end = *data + extent->size;
    next += entry_bytes;
  }
  if (next != directory_end) return damaged_zip(label, "bytes after the last directory entry");
  return members;
}

bool has_right_crc(const ZipMember& member) { return crc_of(member.data.bytes(), 0) == member.crc; }

}  // namespace collage
