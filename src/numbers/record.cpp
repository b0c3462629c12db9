#include "numbers/record.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/json.h"
#include "ir/packed_value.h"

namespace collage {
namespace {

constexpr std::string_view kSchema = "collage.record/1";
constexpr std::size_t kAlignment = 64;

std::unexpected<Error> cannot_write(const std::string& path) {
  return fail(ExitCode::kIo, "record/cannot-write", path, std::strerror(errno), "room for the record");
}

std::unexpected<Error> malformed(const std::string& path, std::string saw) {
  return fail(ExitCode::kIo, "record/malformed", path, std::move(saw), "a record written by this program");
}

bool write_at(int descriptor, std::span<const std::byte> bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
  return true;
}

std::size_t aligned(std::size_t offset) { return (offset + kAlignment - 1) / kAlignment * kAlignment; }

Result<Tensor> packed_from(const Json& entry, const ValueType& type, std::size_t offset, const Buffer& data,
                           const std::string& path) {
  const auto bytes = entry.at("bytes").get<std::size_t>();
  if (offset > data.size() || bytes > data.size() - offset) return malformed(path, "a value past the end");
  auto value = unpack_value(data.text().substr(offset, bytes));
  if (!value || value->value_type() != type) return malformed(path, "another value than " + to_string(type));
  return *std::move(value);
}

Result<Tensor> tensor_from(const Json& entry, const Buffer& data, const std::string& path) {
  const auto text = entry.at("type").get<std::string>();
  const auto type = parse_value_type(text);
  if (!type || (!type->is_static() && !type->is_held())) return malformed(path, "type " + text);
  const auto offset = entry.at("offset").get<std::size_t>();
  if (type->is_held()) return packed_from(entry, *type, offset, data, path);
  const Extents extents = type->extents();
  const std::size_t bytes = byte_count(type->element, extents);
  if (offset > data.size() || bytes > data.size() - offset) return malformed(path, "a value past the end");
  return Tensor{.type = type->element, .extents = extents, .data = data.slice(offset, bytes), .strings = {}};
}

}  // namespace

Result<RecordWriter> RecordWriter::create(const std::string& path) {
  ::unlink((path + ".json").c_str());
  // A new inode: readers that still map an older record of this name keep what they have.
  ::unlink(path.c_str());
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return cannot_write(path);
  return RecordWriter(path, descriptor);
}

RecordWriter::RecordWriter(RecordWriter&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_),
      values_(std::move(other.values_)) {}

RecordWriter::~RecordWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> RecordWriter::add(const std::string& name, const Tensor& tensor) {
  const ValueType type = tensor.value_type();
  if (!type.is_static() && !type.is_held())
    return fail(ExitCode::kUnsupported, "record/unsupported-type", name, to_string(type), "a value of known type");
  if (values_.contains(name)) return fail(ExitCode::kBug, "record/duplicate", name, "a second value of this name");
  const std::size_t offset = aligned(size_);
  const std::string packed = type.is_held() ? pack_value(tensor) : std::string();
  const auto bytes = type.is_held() ? std::as_bytes(std::span(packed)) : tensor.data.bytes();
  if (!write_at(descriptor_, bytes, offset)) return cannot_write(path_);
  size_ = offset + bytes.size();
  values_.emplace(name, Entry{.type = to_string(type),
                              .offset = offset,
                              .packed_bytes = type.is_held() ? std::optional(bytes.size()) : std::nullopt,
                              .slack = 0});
  return {};
}

Result<void> RecordWriter::finish() {
  if (::ftruncate(descriptor_, static_cast<off_t>(aligned(size_))) != 0) return cannot_write(path_);
  Json values = Json::array();
  for (const auto& [name, entry] : values_) {
    values.push_back({{"name", name}, {"type", entry.type}, {"offset", entry.offset}});
    if (entry.packed_bytes) values.back()["bytes"] = *entry.packed_bytes;
    if (entry.slack != 0) values.back()["slack"] = entry.slack;
  }
  const std::string index = to_line({{"schema", kSchema}, {"bytes", aligned(size_)}, {"values", values}});
  if (auto written = write_file(path_ + ".json", index); !written)
    return fail(ExitCode::kIo, "record/cannot-write", path_, written.error().saw, "room for the record");
  return {};
}

Result<Record> Record::open(const std::string& path) {
  const auto index = Buffer::map_file(path + ".json");
  if (!index) return fail(ExitCode::kIo, "record/cannot-read", path + ".json", index.error().saw, "a finished record");
  const auto data = Buffer::map_file(path);
  if (!data) return fail(ExitCode::kIo, "record/cannot-read", path, data.error().saw, "a finished record");
  const auto json = parse_json(index->text(), path + ".json");
  if (!json) return malformed(path, json.error().saw);
  Record record;
  record.path_ = path;
  auto filled = read_json(path, [&]() -> Result<bool> {
    if (json->at("schema") != kSchema) return malformed(path, "schema " + json->at("schema").dump());
    if (json->at("bytes").get<std::size_t>() != data->size()) return malformed(path, "another size than its index");
    for (const Json& entry : json->at("values")) {
      COLLAGE_TRY(Tensor tensor, tensor_from(entry, *data, path));
      const auto name = entry.at("name").get<std::string>();
      record.tensors_.emplace(name, std::move(tensor));
      if (const auto slack = entry.find("slack"); slack != entry.end())
        record.slacks_.emplace(name, slack->get<double>());
    }
    return true;
  });
  if (!filled) return malformed(path, filled.error().saw);
  if (!*filled) return std::unexpected(filled->error());
  return record;
}

Result<Tensor> Record::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    return fail(ExitCode::kBug, "record/no-such-value", path_, name, "a value that the record run reached");
  return found->second;
}

double Record::slack(const std::string& name) const {
  const auto found = slacks_.find(name);
  return found == slacks_.end() ? 0 : found->second;
}

}  // namespace collage
