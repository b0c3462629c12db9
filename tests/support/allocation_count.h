// How often this process allocated. A test program that links allocation_count.cpp has every operator new replaced by
// one that counts, so it holds no other tests.
#pragma once

#include <cstddef>

namespace collage::test {

/// Calls of operator new so far, on any thread.
[[nodiscard]] std::size_t allocation_count();

}  // namespace collage::test
