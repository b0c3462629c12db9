#include "backends/cudnn/library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace collage::cudnn {
namespace {

template <class Function>
void find(void* library, Function& function, const char* name, std::string& missing) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr && missing.empty()) missing = name;
}

}  // namespace

std::expected<Library, std::string> open_library(const std::string& path) {
  void* const file = ::dlopen(path.empty() ? "libcudnn.so.9" : path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr)
    return std::unexpected("no cuDNN: " + std::string(::dlerror()) + "; the package nvidia-cudnn-cu13 has it");
  Library library;
  std::string missing;
  find(file, library.version, "cudnnGetVersion", missing);
  find(file, library.status_text, "cudnnGetErrorString", missing);
  find(file, library.create, "cudnnCreate", missing);
  find(file, library.destroy, "cudnnDestroy", missing);
  find(file, library.set_stream, "cudnnSetStream", missing);
  find(file, library.make, "cudnnBackendCreateDescriptor", missing);
  find(file, library.end, "cudnnBackendDestroyDescriptor", missing);
  find(file, library.set, "cudnnBackendSetAttribute", missing);
  find(file, library.get, "cudnnBackendGetAttribute", missing);
  find(file, library.finalise, "cudnnBackendFinalize", missing);
  find(file, library.execute, "cudnnBackendExecute", missing);
  if (!missing.empty()) return std::unexpected("cuDNN without " + missing);
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
