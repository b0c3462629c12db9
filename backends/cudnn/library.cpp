#include "backends/cudnn/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "backends/common/cuda/symbols.h"

namespace collage::cudnn {
std::expected<Library, std::string> open_library(const std::string& path) {
  void* const file = ::dlopen(path.empty() ? "libcudnn.so.9" : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr)
    return std::unexpected("no cuDNN: " + std::string(::dlerror()) + "; the package nvidia-cudnn-cu13 has it");
  Library library;
  cuda::Symbols symbols(file);
  symbols.find(library.version, "cudnnGetVersion");
  symbols.find(library.status_text, "cudnnGetErrorString");
  symbols.find(library.create, "cudnnCreate");
  symbols.find(library.destroy, "cudnnDestroy");
  symbols.find(library.set_stream, "cudnnSetStream");
  symbols.find(library.make, "cudnnBackendCreateDescriptor");
  symbols.find(library.end, "cudnnBackendDestroyDescriptor");
  symbols.find(library.set, "cudnnBackendSetAttribute");
  symbols.find(library.get, "cudnnBackendGetAttribute");
  symbols.find(library.finalise, "cudnnBackendFinalize");
  symbols.find(library.execute, "cudnnBackendExecute");
  if (!symbols.missing().empty()) return std::unexpected("cuDNN without " + symbols.missing());
  return library;
}

void Library::check(int status, const char* what) const {
  if (status != 0) throw std::runtime_error(fmt::format("{}: {}", what, status_text(status)));
}

std::string Library::version_text() const {
  const std::size_t number = version();  // 91900 for 9.19.0
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

Descriptor::Descriptor(const Library& library, Kind kind) : library_(&library) {
  library.check(library.make(kind, &handle_), "make a descriptor");
}

void Descriptor::set_all(Attribute which, Type type, std::int64_t count, const void* values) {
  library_->check(library_->set(handle_, which, type, count, values),
                  fmt::format("set attribute {}", static_cast<int>(which)).c_str());
}

std::int64_t Descriptor::count(Attribute which, Type type) const {
  std::int64_t count = 0;
  library_->check(library_->get(handle_, which, type, 0, &count, nullptr), "count an attribute");
  return count;
}

}  // namespace collage::cudnn
