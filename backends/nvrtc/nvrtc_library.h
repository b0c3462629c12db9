// NVRTC, NVIDIA's compiler of CUDA C++ as a library, opened at run time. It needs no GPU.
// In:  a text, an architecture. Out: a cubin, or the compiler's words.
// Threads: compile() may be called from several threads.
// Source: NVRTC of CUDA 12 and 13, whose functions are declared here.
#pragma once

#include <expected>
#include <string>
#include <vector>

namespace collage::nvrtc {

class NvrtcLibrary {
 public:
  /// Opens the file, or, for "", libnvrtc.so.13 or .12 where the dynamic loader finds one, else that of ./dev setup
  /// nvrtc. Never closed. Empty-handed: why, in words.
  [[nodiscard]] static std::expected<NvrtcLibrary, std::string> open(const std::string& path);

  /// "13.0"
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] std::size_t major() const { return major_; }
  /// The newest architecture that it compiles for which a GPU of this compute capability runs: 90 for 9.0; 0: none.
  [[nodiscard]] int architecture_for(int capability) const;
  /// A cubin for the architecture. Without `fuses` products and sums are rounded apart.
  [[nodiscard]] std::expected<std::string, std::string> compile(const std::string& source, int architecture,
                                                                bool fuses) const;

 private:
  using Program = void*;
  struct Functions {
    int (*version)(int* major, int* minor);
    const char* (*error_string)(int code);
    int (*architecture_count)(int* count);
    int (*architectures)(int* all);
    int (*create)(Program* program, const char* source, const char* name, int headers, const char* const* texts,
                  const char* const* names);
    int (*compile)(Program program, int count, const char* const* options);
    int (*log_size)(Program program, std::size_t* bytes);
    int (*log)(Program program, char* log);
    int (*cubin_size)(Program program, std::size_t* bytes);
    int (*cubin)(Program program, char* bytes);
    int (*destroy)(Program* program);
  };

  Functions functions_{};
  std::string version_;
  std::size_t major_ = 0;
  std::vector<int> architectures_;
};

}  // namespace collage::nvrtc
