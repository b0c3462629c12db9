// The backend of tests/support/shape_cases.h as a module, so that plans of many shapes load from files without an
// engine. Kernels for some numbers of rows throw: 13 when they are loaded, 11 likewise for want of memory, 7 when they
// run.
#include <new>
#include <stdexcept>
#include <string>

#include "backend/function_kernel.h"
#include "backend/registry.h"
#include "tests/support/shape_cases.h"

namespace collage::test {
namespace {

class RowsModule final : public LoadOnlyBackend {
 public:
  RowsModule() : LoadOnlyBackend({.name = "rows", .kind = "rows", .version = "1", .build = "1"}) {}

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    if (request.artifact.bytes == "rows 13") throw std::runtime_error("13 rows");
    if (request.artifact.bytes == "rows 11") throw std::bad_alloc();
    if (request.artifact.bytes == "rows 7") return make_kernel([](const Buffers&) -> Result<void> { throw 7; });
    return rows_.load(request);
  }

 private:
  RowsBackend rows_;
};

constexpr BackendModule kModule = {
    .kind = "rows",
    .create = [](const std::string&, const BackendOptions&) -> Backend* { return new RowsModule; },
};

}  // namespace
}  // namespace collage::test

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() { return &collage::test::kModule; }
