// The compiled embedded/kernel_runtime.cpp as bytes inside this library: an ELF object file.
#pragma once

#include <string_view>

namespace collage::native {

[[nodiscard]] std::string_view runtime_object();

}  // namespace collage::native
