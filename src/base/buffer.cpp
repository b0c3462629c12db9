#include "base/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/mapped_descriptor.h"
#include "base/pages.h"

namespace collage {
namespace {

/// What is there in the place of a regular file.
std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return "something that is not a regular file";
}

}  // namespace

std::pair<Buffer, std::span<std::byte>> Buffer::allocate(std::size_t bytes) {
  // Packed weights live here: from half a huge page on, rounding up costs less than the look-ups saved.
  Pages pages = allocate_pages(bytes, bytes >= kHugePage / 2 ? PageSize::kHuge : PageSize::kSmall);
  if (pages == nullptr) throw std::bad_alloc();
  std::byte* const memory = pages.get();
  return {Buffer(std::shared_ptr<std::byte>(std::move(pages)), {memory, bytes}), {memory, bytes}};
}

Buffer Buffer::copy_of(std::span<const std::byte> bytes) {
  return make(bytes.size(), [&](std::span<std::byte> out) { std::copy(bytes.begin(), bytes.end(), out.begin()); });
}

Result<Buffer> map_descriptor(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    return fail(ExitCode::kIo, "io/cannot-read", path, kind_of(status.st_mode), "a regular file, which can be mapped");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return Buffer{};
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return fail(ExitCode::kIo, "io/cannot-read", path, std::strerror(errno));
  std::shared_ptr<const void> owner(memory,
                                    [size](const void* pointer) { ::munmap(const_cast<void*>(pointer), size); });
  return Buffer(std::move(owner), {static_cast<const std::byte*>(memory), size});
}

Result<Buffer> Buffer::map_file(const std::string& path) {
  // Opening a pipe would wait for its writer.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return fail(ExitCode::kIo, "io/cannot-read", path, std::strerror(errno), "a readable file");
  auto mapped = map_descriptor(descriptor, path);
  ::close(descriptor);
  return mapped;
}

Buffer Buffer::slice(std::size_t offset, std::size_t bytes) const {
  COLLAGE_CHECK(offset + bytes <= bytes_.size(), "slice past the end");
  return Buffer(owner_, bytes_.subspan(offset, bytes));
}

bool Buffer::operator==(const Buffer& other) const {
  return size() == other.size() &&
         (data() == other.data() || std::equal(bytes_.begin(), bytes_.end(), other.bytes_.begin()));
}

}  // namespace collage
