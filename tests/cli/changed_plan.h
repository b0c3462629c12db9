// A plan whose numbers are wrong although nothing in its file is damaged: only running it can tell.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "plan/file/plan_file.h"

namespace collage::testing {

/// Writes the plan with the other sign in its float weights, and checksums that fit, to `changed`, and returns that.
inline std::string with_other_weights(const std::string& plan, const std::string& changed) {
  auto loaded = load_plan(plan);
  EXPECT_TRUE(loaded) << plan;
  if (!loaded) return changed;
  for (auto& [index, tensor] : loaded->constants) {
    std::string bytes(tensor.data.text());
    for (std::size_t at = 3; at < bytes.size(); at += 4) bytes[at] = static_cast<char>(bytes[at] ^ 0x80);
    tensor.data = Buffer::copy_of(std::as_bytes(std::span(bytes)));
  }
  EXPECT_TRUE(save_plan(*loaded, changed));
  return changed;
}

}  // namespace collage::testing
