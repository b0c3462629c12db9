#include "library.h"

#include <xnnpack.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace collage::xnnpack {

const std::string& initialise() {
  static const std::string problem = [] {
    const xnn_status status = xnn_initialize(nullptr);
    return status == xnn_status_success ? std::string() : "XNNPACK does not start: " + status_text(status);
  }();
  return problem;
}

std::string library_version() { return COLLAGE_XNNPACK_VERSION; }

std::string library_build() {
  std::string build = library_version() + '+';
  const auto* bytes = static_cast<const unsigned char*>(xnn_experimental_get_build_identifier_data());
  for (std::size_t i = 0; i < xnn_experimental_get_build_identifier_size() && i < 8; ++i)
    build += fmt::format("{:02x}", bytes[i]);
  return build;
}

std::string status_text(int status) {
  constexpr std::array kTexts = {"success",       "not initialised",       "invalid parameter",
                                 "invalid state", "unsupported parameter", "unsupported hardware",
                                 "out of memory", "reallocation required", "deprecated"};
  const auto at = static_cast<std::size_t>(status);
  return at < kTexts.size() ? kTexts[at] : "status " + std::to_string(status);
}

void check_status(int status, const std::string& what) {
  if (status != xnn_status_success) throw std::runtime_error(what + ": " + status_text(status));
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

std::vector<std::size_t> sizes_of(const Extents& extents) {
  require(std::ranges::all_of(extents, [](std::int64_t n) { return n >= 0; }), "a negative number");
  return {extents.begin(), extents.end()};
}

}  // namespace collage::xnnpack
