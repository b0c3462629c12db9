#include "compiler/products/micro_kernel.h"

#include <libxsmm_cpuid.h>
#include <libxsmm_generator.h>
#include <libxsmm_version.h>

namespace collage::native {
namespace {

/// More than the generator writes for any shape: it loops over what it does not unroll.
constexpr std::size_t kMostBytes = std::size_t{128} << 10;
constexpr unsigned kBinary = 2;
constexpr std::int64_t kVector512 = 64;

}  // namespace

std::int64_t micro_kernel_version() { return LIBXSMM_CONFIG_VERSION_MAJOR * 100 + LIBXSMM_CONFIG_VERSION_MINOR; }

std::expected<std::string, std::string> micro_kernel(const MicroProduct& product, const InstructionSet& set) {
  const auto number = [](std::int64_t n) { return static_cast<libxsmm_blasint>(n); };
  // The library counts columns first: there the product is the transposed one.
  libxsmm_descriptor_blob blob;
  const libxsmm_gemm_descriptor* descriptor =
      libxsmm_sgemm_descriptor_init(&blob, number(product.columns), number(product.rows), number(product.depth),
                                    number(product.right_step), number(product.left_step), number(product.result_step),
                                    1.F, 0.F, LIBXSMM_GEMM_FLAG_NONE, LIBXSMM_GEMM_PREFETCH_NONE);
  if (descriptor == nullptr) return std::unexpected("libxsmm has no product " + symbol_of(product));
  std::string bytes(kMostBytes, '\0');
  libxsmm_generated_code code{};
  code.generated_code = bytes.data();
  code.buffer_size = static_cast<unsigned>(bytes.size());
  code.code_type = kBinary;
  code.arch = set.vector_bytes == kVector512 ? LIBXSMM_X86_AVX512_CORE : LIBXSMM_X86_AVX2;
  libxsmm_generator_gemm_kernel(&code, descriptor);
  if (code.last_error != 0) return std::unexpected(std::string("libxsmm: ") + libxsmm_strerror(code.last_error));
  bytes.resize(code.code_size);
  return bytes;
}

}  // namespace collage::native
