// What the backend would open beside itself, for an exported library, which opens nothing: no compiler, no added
// strategies, no BLAS.
#include "blas_call.h"
#include "compiler_library.h"

namespace collage::native {

Result<const CompilerTable*> compiler() {
  return fail(ExitCode::kUnsupported, "backend/missing", "native", "no compiler in an exported library");
}

std::vector<std::string> libraries_of_strategies() { return {}; }

std::string whole_path(const std::string& file) { return file; }

const std::expected<blas::Library, std::string>& blas_library(const std::string& name) {
  static const std::expected<blas::Library, std::string> none =
      std::unexpected(std::string("no BLAS in an exported library"));
  (void)name;
  return none;
}

}  // namespace collage::native

namespace collage::blas {

void use_threads(const Library& /*library*/, int /*threads*/) {}

}  // namespace collage::blas
