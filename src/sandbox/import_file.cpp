#include "sandbox/import_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include "base/binary.h"
#include "base/hash.h"
#include "base/mapped_descriptor.h"
#include "base/pages.h"
#include "ir/graph_binary.h"

namespace collage {
namespace {

constexpr std::uint32_t kInside = 0;  ///< BytePlace::file of bytes in the file itself; 1 and more: beside the model

/// At the start of the file.
struct Start {
  std::uint64_t offset = 0;  ///< of the rest
  std::uint64_t bytes = 0;
};

struct WeightFile {
  std::string location;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;  ///< of its first and last bytes
};

/// All but the contents of tensors.
struct Rest {
  std::string model_hash;
  std::int64_t opset = 0;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> notes;
  std::vector<WeightFile> files;
  BytePlace bound_model;
  std::string graph;
};

inline auto members(WeightFile& of) { return std::tie(of.location, of.bytes, of.hash); }
inline auto members(Rest& of) {
  return std::tie(of.model_hash, of.opset, of.metadata, of.notes, of.files, of.bound_model, of.graph);
}

/// Appends to the file, at places that every element type can be read from.
class Appender {
 public:
  explicit Appender(int descriptor) : descriptor_(descriptor) {}

  Result<BytePlace> add(std::span<const std::byte> bytes) {
    const BytePlace place{.file = kInside, .offset = end_, .bytes = bytes.size()};
    COLLAGE_TRY_VOID(write_at(end_, bytes));
    end_ = aligned_up(end_ + bytes.size());
    return place;
  }

  Result<void> write_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const std::size_t piece = std::min(bytes.size(), std::size_t{1} << 30);
      const ssize_t written = ::pwrite(descriptor_, bytes.data(), piece, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0)
        return fail(ExitCode::kLimit, "sandbox/cannot-write", "imported model", std::strerror(errno), "room in memory");
      bytes = bytes.subspan(static_cast<std::size_t>(written));
      offset += static_cast<std::uint64_t>(written);
    }
    return {};
  }

 private:
  int descriptor_;
  std::size_t end_ = kBufferAlignment;  ///< behind the Start
};

/// Puts contents of tensors into the file, each once, unless they lie in a file beside the model.
class Keeper {
 public:
  Keeper(Appender& file, const std::map<std::string, Buffer>& beside) : file_(file) {
    for (const auto& [location, mapped] : beside) beside_.push_back(&mapped);
  }

  Result<BytePlace> keep(const Buffer& bytes) {
    if (bytes.size() == 0) return BytePlace{};
    for (std::size_t f = 0; f < beside_.size(); ++f) {
      const std::byte* const start = beside_[f]->data();
      if (bytes.data() < start || bytes.data() >= start + beside_[f]->size()) continue;
      return BytePlace{.file = static_cast<std::uint32_t>(f + 1),
                       .offset = static_cast<std::uint64_t>(bytes.data() - start),
                       .bytes = bytes.size()};
    }
    const auto [known, is_new] = kept_.try_emplace({bytes.data(), bytes.size()});
    if (is_new) {
      COLLAGE_TRY(known->second, file_.add(bytes.bytes()));
    }
    return known->second;
  }

 private:
  Appender& file_;
  std::vector<const Buffer*> beside_;
  std::map<std::pair<const std::byte*, std::size_t>, BytePlace> kept_;
};

/// Enough to notice that another file has taken a file's place; all of it may be gigabytes.
std::uint64_t mark_of(const Buffer& file) {
  constexpr std::size_t kMost = std::size_t{1} << 16;
  const std::size_t part = std::min(file.size(), kMost);
  return hash_bytes(file.data(), part, hash_bytes(file.data() + (file.size() - part), part));
}

std::unexpected<Error> bad_answer(const std::string& path, std::string saw) {
  return fail(ExitCode::kBug, "sandbox/bad-answer", path, std::move(saw), "what import makes of a model");
}

bool is_inside(const BytePlace& place, std::size_t size) {
  return place.offset <= size && place.bytes <= size - place.offset;
}

/// The files beside the model, opened as the model's are.
Result<std::vector<Buffer>> weight_files(const Rest& rest, const ModelFolders& folders, const std::string& path) {
  std::vector<Buffer> files;
  for (const WeightFile& file : rest.files) {
    COLLAGE_TRY(Buffer mapped, map_beside_model(folders, file.location, path));
    if (mapped.size() != file.bytes || mark_of(mapped) != file.hash)
      return fail(ExitCode::kIo, "import/changed", path, "'" + file.location + "' changed while the model was read",
                  "files that stay as they are");
    files.push_back(std::move(mapped));
  }
  return files;
}

Result<Buffer> bytes_at(const BytePlace& place, const Buffer& whole, const std::vector<Buffer>& beside,
                        const std::string& path) {
  if (place.file > beside.size()) return bad_answer(path, "a tensor in no file");
  const Buffer& file = place.file == kInside ? whole : beside[place.file - 1];
  if (!is_inside(place, file.size())) return bad_answer(path, "a tensor outside of its file");
  const Buffer found = file.slice(place.offset, place.bytes);
  // Import copies what lies at an odd address in a file, so that this is the exception.
  if (place.file == kInside && place.offset % kBufferAlignment != 0) return Buffer::copy_of(found.bytes());
  return found;
}

}  // namespace

Result<void> write_import(int descriptor, const Imported& imported) {
  Appender file(descriptor);
  Keeper keeper(file, imported.weight_files);
  Rest rest{.model_hash = imported.model_hash,
            .opset = imported.opset,
            .metadata = imported.metadata,
            .notes = imported.notes,
            .files = {},
            .bound_model = {},
            .graph = {}};
  COLLAGE_TRY(rest.graph, graph_to_binary(imported.graph, [&](const Buffer& bytes) { return keeper.keep(bytes); }));
  COLLAGE_TRY(rest.bound_model, file.add(std::as_bytes(std::span(imported.bound_model))));
  for (const auto& [location, mapped] : imported.weight_files)
    rest.files.push_back({.location = location, .bytes = mapped.size(), .hash = mark_of(mapped)});
  const std::string text = to_binary(std::move(rest));
  COLLAGE_TRY(const BytePlace place, file.add(std::as_bytes(std::span(text))));
  const Start start{.offset = place.offset, .bytes = place.bytes};
  return file.write_at(0, std::as_bytes(std::span(&start, 1)));
}

Result<Imported> read_import(int descriptor, const ModelFolders& folders, const std::string& path) {
  COLLAGE_TRY(const Buffer whole, map_descriptor(descriptor, path));
  Start start;
  if (whole.size() < sizeof start) return bad_answer(path, "no answer");
  std::memcpy(&start, whole.data(), sizeof start);
  if (!is_inside({.file = kInside, .offset = start.offset, .bytes = start.bytes}, whole.size()))
    return bad_answer(path, "an answer outside of its file");
  std::optional<Rest> rest = from_binary<Rest>(whole.text().substr(start.offset, start.bytes));
  if (!rest || rest->bound_model.file != kInside || !is_inside(rest->bound_model, whole.size()))
    return bad_answer(path, "another form");
  COLLAGE_TRY(const std::vector<Buffer> beside, weight_files(*rest, folders, path));
  Imported imported;
  COLLAGE_TRY(imported.graph, graph_from_binary(rest->graph, [&](const BytePlace& place) {
                return bytes_at(place, whole, beside, path);
              }));
  imported.bound_model = whole.text().substr(rest->bound_model.offset, rest->bound_model.bytes);
  imported.model_hash = std::move(rest->model_hash);
  imported.opset = rest->opset;
  imported.metadata = std::move(rest->metadata);
  imported.notes = std::move(rest->notes);
  for (std::size_t f = 0; f < beside.size(); ++f) imported.weight_files[rest->files[f].location] = beside[f];
  return imported;
}

}  // namespace collage
