#include "onnx/files/external_data.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/number_text.h"
#include "base/sha1.h"
#include "onnx/tensor_proto.h"

namespace collage {
namespace {

std::unexpected<Error> bad_location(const std::string& where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, "import/external-data", where, std::move(saw), std::move(allowed));
}

struct FileRange {
  std::string location;
  std::size_t offset = 0;
  std::optional<std::size_t> length;
  std::string checksum;  ///< SHA-1 of the whole file; empty when the model names none
};

Result<FileRange> place_of(const pb::TensorProto& message, const std::string& where) {
  FileRange place;
  for (const auto& entry : message.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "checksum") place.checksum = entry.value();
    if (entry.key() != "offset" && entry.key() != "length") continue;
    const auto size = number_in<std::size_t>(entry.value());
    if (!size) return bad_location(where, entry.key() + " '" + entry.value() + "'", "a number of bytes");
    if (entry.key() == "offset")
      place.offset = *size;
    else
      place.length = *size;
  }
  if (place.location.empty()) return bad_location(where, "no location", "a file next to the model");
  return place;
}

bool stays_inside(const std::filesystem::path& folder, const std::filesystem::path& file) {
  std::error_code error;
  const auto root = std::filesystem::weakly_canonical(folder, error);
  if (error) return false;
  const auto real = std::filesystem::weakly_canonical(file, error);
  if (error) return false;
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  return end == root.end();
}

}  // namespace

Result<Buffer> ExternalFiles::file(const std::string& location, const std::string& where) {
  if (const auto found = files_.find(location); found != files_.end()) return found->second;
  const std::filesystem::path path(location);
  const char* allowed = "a relative path inside the model's folder";
  if (folder_.empty())
    return bad_location(where, "external data, but no folder to read it from", "data inside the model");
  if (location.find('\0') != std::string::npos || path.is_absolute())
    return bad_location(where, "location '" + first_line(location) + "'", allowed);
  for (const auto& part : path)
    if (part == "..") return bad_location(where, "location '" + location + "'", allowed);
  const std::filesystem::path full = std::filesystem::path(folder_) / path;
  if (!stays_inside(folder_, full)) return bad_location(where, "location '" + location + "'", allowed);
  std::error_code error;
  if (!std::filesystem::exists(full, error))
    return fail(ExitCode::kIo, "import/not-found", where, "no file '" + full.string() + "'",
                "the model's external data next to it");
  if (!std::filesystem::is_regular_file(full, error))
    return bad_location(where, "location '" + location + "'", "a regular file");
  // Another name of the file may lie outside the folder, where a model must not read, and nothing tells where it lies.
  // A folder unpacked from an archive can hold such links; who has made some to save room can copy the file.
  if (std::filesystem::hard_link_count(full, error) > 1)
    return bad_location(where, "location '" + location + "', a file with several names",
                        "a file with one name; a copy of it");
  COLLAGE_TRY(Buffer mapped, Buffer::map_file(full.string()));
  files_.emplace(location, mapped);
  return mapped;
}

Result<void> ExternalFiles::check(const std::string& location, const Buffer& mapped, std::string wanted,
                                  const std::string& where) {
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto [seen, is_new] = checksums_.try_emplace(location);
  if (is_new) seen->second = sha1_hex(mapped.bytes());
  if (seen->second == wanted) return {};
  return bad_location(where, fmt::format("'{}' of {} bytes with SHA-1 {}", location, mapped.size(), seen->second),
                      "the file with checksum " + first_line(wanted));
}

Result<Buffer> ExternalFiles::bytes_of(const pb::TensorProto& message, std::size_t bytes, const std::string& where) {
  COLLAGE_TRY(const FileRange place, place_of(message, where));
  COLLAGE_TRY(const Buffer mapped, file(place.location, where));
  if (place.length && *place.length != bytes)
    return bad_location(where, "length " + std::to_string(*place.length),
                        std::to_string(bytes) + " bytes for its dimensions");
  if (place.offset > mapped.size() || bytes > mapped.size() - place.offset)
    return bad_location(where,
                        "bytes " + std::to_string(place.offset) + " to " + std::to_string(place.offset + bytes) +
                            " of '" + place.location + "', which has " + std::to_string(mapped.size()),
                        "a range inside the file");
  if (!place.checksum.empty()) COLLAGE_TRY_VOID(check(place.location, mapped, place.checksum, where));
  return mapped.slice(place.offset, bytes);
}

Result<void> load_external_data(pb::ModelProto& model, const std::string& folder, std::string& hash_input) {
  constexpr std::size_t kMost = std::numeric_limits<std::int32_t>::max() - (std::size_t{16} << 20);
  ExternalFiles files(folder);
  std::size_t total = model.ByteSizeLong();
  Result<void> result;
  const auto load = [&](pb::TensorProto& message) -> Result<void> {
    if (message.data_location() != pb::TensorProto::EXTERNAL) return {};
    const std::string where = "tensor '" + message.name() + "'";
    const auto type = element_type_from(message.data_type());
    if (!type || bits_of(*type) == 0) return bad_location(where, "an element type without a size", "numbers");
    COLLAGE_TRY(const Extents extents, extents_of(message, where));
    const auto size = checked_byte_count(*type, extents);
    if (!size) return bad_location(where, "dimensions that overflow", "a tensor that fits into memory");
    COLLAGE_TRY(const Buffer bytes, files.bytes_of(message, *size, where));
    total += bytes.size();
    if (total > kMost)
      return fail(ExitCode::kLimit, "import/too-large", where, "more than 2 GiB of weights", "2 GiB in all");
    hash_input += hash_hex(bytes.data(), bytes.size());
    message.set_raw_data(bytes.data(), bytes.size());
    message.clear_external_data();
    message.clear_data_location();
    return {};
  };
  const auto visit = [&](pb::TensorProto& message) {
    if (result) result = load(message);
  };
  for_each_tensor(*model.mutable_graph(), visit);
  for (auto& function : *model.mutable_functions())
    for (auto& node : *function.mutable_node())
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) visit(*attribute.mutable_t());
        if (attribute.has_g()) for_each_tensor(*attribute.mutable_g(), visit);
      }
  return result;
}

}  // namespace collage
