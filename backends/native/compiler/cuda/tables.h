// Tables of numbers that tensor code carries with it, as arrays of CUDA C: where a Resize reads, with which weights.
// In:  reads of them. Out: texts of the reads; the text that defines the arrays.
#pragma once

#include <Halide.h>

#include <map>
#include <string>
#include <vector>

namespace collage::native::cuda {

class Tables {
 public:
  /// The element at these indices, which are texts, innermost first. Throws CannotWrite for tables that are not dense
  /// or of numbers other than int32 and float32.
  [[nodiscard]] std::string element(const Halide::Internal::Call& read, const std::vector<std::string>& at);
  /// Each table once.
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  const std::string& name_of(const Halide::Internal::Call& read);

  std::map<std::string, std::string> names_;  ///< by the names that Halide gave
  std::string text_;
};

}  // namespace collage::native::cuda
