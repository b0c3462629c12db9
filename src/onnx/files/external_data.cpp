#include "onnx/files/external_data.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/number_text.h"
#include "base/sha1.h"
#include "onnx/tensor_proto.h"

namespace collage {
namespace {

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
    if (!size)
      return bad_external_data(where, entry.key() + " '" + first_line(entry.value()) + "'", "a number of bytes");
    if (entry.key() == "offset")
      place.offset = *size;
    else
      place.length = *size;
  }
  if (place.location.empty()) return bad_external_data(where, "no location", "a file next to the model");
  return place;
}

}  // namespace

Result<Buffer> ExternalFiles::file(const std::string& location, const std::string& where) {
  if (const auto found = files_.find(location); found != files_.end()) return found->second;
  COLLAGE_TRY(Buffer mapped, map_beside_model(folders_, location, where));
  files_.emplace(location, mapped);
  return mapped;
}

std::size_t ExternalFiles::total_bytes() const {
  std::size_t total = 0;
  for (const auto& [location, mapped] : files_) total += mapped.size();
  return total;
}

Result<void> ExternalFiles::check(const std::string& location, const Buffer& mapped, std::string wanted,
                                  const std::string& where) {
  std::ranges::transform(wanted, wanted.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto [seen, is_new] = checksums_.try_emplace(location);
  if (is_new) seen->second = sha1_hex(mapped.bytes());
  if (seen->second == wanted) return {};
  return bad_external_data(where, fmt::format("'{}' of {} bytes with SHA-1 {}", location, mapped.size(), seen->second),
                           "the file with checksum " + first_line(wanted));
}

Result<Buffer> ExternalFiles::bytes_of(const pb::TensorProto& message, std::size_t bytes, const std::string& where) {
  COLLAGE_TRY(const FileRange place, place_of(message, where));
  COLLAGE_TRY(const Buffer mapped, file(place.location, where));
  if (place.length && *place.length != bytes)
    return bad_external_data(where, "length " + std::to_string(*place.length),
                             std::to_string(bytes) + " bytes for its dimensions");
  if (place.offset > mapped.size() || bytes > mapped.size() - place.offset)
    return bad_external_data(where,
                             "bytes " + std::to_string(place.offset) + " to " + std::to_string(place.offset + bytes) +
                                 " of '" + place.location + "', which has " + std::to_string(mapped.size()),
                             "a range inside the file");
  if (!place.checksum.empty()) COLLAGE_TRY_VOID(check(place.location, mapped, place.checksum, where));
  return mapped.slice(place.offset, bytes);
}

namespace {

/// A message holds less than 2 GiB, with room for what is no weight.
constexpr std::size_t kMostInside = std::numeric_limits<std::int32_t>::max() - (std::size_t{16} << 20);

/// The header of a tensor with external data; its bytes are not read.
struct ExternalTensor {
  ElementType type = ElementType::kUndefined;
  Extents extents;
  std::size_t bytes = 0;
};

Result<ExternalTensor> external_tensor(const pb::TensorProto& message, const std::string& where) {
  const auto type = element_type_from(message.data_type());
  if (!type || bits_of(*type) == 0) return bad_external_data(where, "an element type without a size", "numbers");
  COLLAGE_TRY(Extents extents, extents_of(message, where));
  const auto size = checked_byte_count(*type, extents);
  if (!size) return bad_external_data(where, "dimensions that overflow", "a tensor that fits into memory");
  return ExternalTensor{.type = *type, .extents = std::move(extents), .bytes = *size};
}

class ExternalLoader {
 public:
  ExternalLoader(pb::ModelProto& model, const ModelFolders& folders, std::string& hash_input, ParkedWeights& parked)
      : model_(model), files_(folders), hash_input_(hash_input), parked_(parked), inside_(model.ByteSizeLong()) {}

  Result<void> run() {
    COLLAGE_TRY(const std::size_t total, total_bytes());
    if (inside_ + total > kMostInside) {
      is_large_ = true;
      each_initialiser([&](pb::TensorProto& message) { return park(message); });
    }
    if (result_) each_tensor([&](pb::TensorProto& message) { return load(message); });
    return result_;
  }

  [[nodiscard]] LoadedData loaded() const {
    return {.is_large = is_large_, .files = is_large_ ? files_.read() : std::map<std::string, Buffer>()};
  }

 private:
  template <class Visit>
  void each_tensor(Visit visit) {
    const auto checked = [&](pb::TensorProto& message) {
      if (result_ && message.data_location() == pb::TensorProto::EXTERNAL) result_ = visit(message);
    };
    for_each_tensor(*model_.mutable_graph(), checked);
    for (auto& function : *model_.mutable_functions())
      for (auto& node : *function.mutable_node())
        for (auto& attribute : *node.mutable_attribute()) {
          if (attribute.has_t()) checked(*attribute.mutable_t());
          if (attribute.has_g()) for_each_tensor(*attribute.mutable_g(), checked);
        }
  }

  template <class Visit>
  void each_initialiser(Visit visit) {
    for_each_graph(*model_.mutable_graph(), [&](pb::GraphProto& graph) {
      for (auto& message : *graph.mutable_initializer())
        if (result_ && message.data_location() == pb::TensorProto::EXTERNAL) result_ = visit(message);
    });
  }

  Result<std::size_t> total_bytes() {
    std::size_t total = 0;
    each_tensor([&](pb::TensorProto& message) -> Result<void> {
      COLLAGE_TRY(const ExternalTensor tensor, external_tensor(message, where_of(message)));
      if (__builtin_add_overflow(total, tensor.bytes, &total))
        return bad_external_data(where_of(message), "sizes that overflow", "tensors that fit into memory");
      return {};
    });
    if (!result_) return std::unexpected(result_.error());
    return total;
  }

  Result<Buffer> bytes_of(const pb::TensorProto& message, const ExternalTensor& tensor) {
    COLLAGE_TRY(Buffer bytes, files_.bytes_of(message, tensor.bytes, where_of(message)));
    const auto [hash, is_new] = hashes_.try_emplace({bytes.data(), bytes.size()});
    if (is_new) {
      hashed_ += bytes.size();
      // Tensors may share their bytes. Parts that overlap otherwise are read again and again.
      if (hashed_ > files_.total_bytes())
        return bad_external_data(where_of(message), "a part of a file that overlaps others",
                                 "parts that lie side by side");
      hash->second = hash_hex(bytes.data(), bytes.size());
    }
    hash_input_ += hash->second;
    return bytes;
  }

  /// Leaves the bytes in the mapped file.
  Result<void> park(pb::TensorProto& message) {
    COLLAGE_TRY(ExternalTensor tensor, external_tensor(message, where_of(message)));
    if (!ParkedWeights::takes(tensor.type, tensor.bytes)) return {};
    COLLAGE_TRY(Buffer bytes, bytes_of(message, tensor));
    const auto element_bytes = static_cast<std::uintptr_t>(std::max(1, bits_of(tensor.type) / 8));
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % element_bytes != 0) bytes = Buffer::copy_of(bytes.bytes());
    parked_.park({.type = tensor.type, .extents = std::move(tensor.extents), .data = std::move(bytes), .strings = {}},
                 message);
    return {};
  }

  /// Copies the bytes into the message.
  Result<void> load(pb::TensorProto& message) {
    COLLAGE_TRY(const ExternalTensor tensor, external_tensor(message, where_of(message)));
    COLLAGE_TRY(const Buffer bytes, bytes_of(message, tensor));
    inside_ += bytes.size();
    if (inside_ > kMostInside)
      return fail(ExitCode::kLimit, "import/too-large", where_of(message),
                  "more than 2 GiB of weights that are int32, int64, bool or no initialisers", "2 GiB of them");
    message.set_raw_data(bytes.data(), bytes.size());
    message.clear_external_data();
    message.clear_data_location();
    return {};
  }

  static std::string where_of(const pb::TensorProto& message) { return "tensor '" + message.name() + "'"; }

  pb::ModelProto& model_;
  ExternalFiles files_;
  std::string& hash_input_;
  ParkedWeights& parked_;
  std::size_t inside_;
  std::size_t hashed_ = 0;
  std::map<std::pair<const std::byte*, std::size_t>, std::string> hashes_;
  bool is_large_ = false;
  Result<void> result_;
};

}  // namespace

Result<LoadedData> load_external_data(pb::ModelProto& model, const ModelFolders& folders, std::string& hash_input,
                                      ParkedWeights& parked) {
  ExternalLoader loader(model, folders, hash_input, parked);
  COLLAGE_TRY_VOID(loader.run());
  return loader.loaded();
}

}  // namespace collage
