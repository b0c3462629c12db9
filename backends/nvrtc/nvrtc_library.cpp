#include "backends/nvrtc/nvrtc_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>

#include "backends/common/cuda/symbols.h"

namespace collage::nvrtc {
namespace {

/// Where the loader finds it, then the file of ./dev setup nvrtc.
std::vector<std::string> usual_files() {
  std::vector<std::string> files = {"libnvrtc.so.13", "libnvrtc.so.12"};
  if (const std::string part = COLLAGE_NVRTC_FILE; !part.empty()) files.push_back(part);
  return files;
}

/// What the library opens itself when it compiles: it looks only where the loader does, so it is opened before.
void open_builtins(const std::string& library) {
  const std::filesystem::path folder = std::filesystem::path(library).parent_path();
  std::error_code error;
  if (folder.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("libnvrtc-builtins.so"))
      (void)::dlopen(entry.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

std::expected<void*, std::string> opened(const std::string& path) {
  std::string why;
  for (const std::string& file : path.empty() ? usual_files() : std::vector{path}) {
    open_builtins(file);
    if (void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    why = ::dlerror();
  }
  return std::unexpected("no NVRTC: " + why + "; ./dev setup nvrtc, or CUDA's own package");
}

}  // namespace

std::expected<NvrtcLibrary, std::string> NvrtcLibrary::open(const std::string& path) {
  const auto library = opened(path);
  if (!library) return std::unexpected(library.error());
  NvrtcLibrary made;
  Functions& functions = made.functions_;
  cuda::Symbols symbols(*library);
  symbols.find(functions.version, "nvrtcVersion");
  symbols.find(functions.error_string, "nvrtcGetErrorString");
  symbols.find(functions.architecture_count, "nvrtcGetNumSupportedArchs");
  symbols.find(functions.architectures, "nvrtcGetSupportedArchs");
  symbols.find(functions.create, "nvrtcCreateProgram");
  symbols.find(functions.compile, "nvrtcCompileProgram");
  symbols.find(functions.log_size, "nvrtcGetProgramLogSize");
  symbols.find(functions.log, "nvrtcGetProgramLog");
  symbols.find(functions.cubin_size, "nvrtcGetCUBINSize");
  symbols.find(functions.cubin, "nvrtcGetCUBIN");
  symbols.find(functions.destroy, "nvrtcDestroyProgram");
  if (!symbols.missing().empty()) return std::unexpected("NVRTC without " + symbols.missing());
  int major = 0;
  int minor = 0;
  int count = 0;
  if (functions.version(&major, &minor) != 0 || functions.architecture_count(&count) != 0 || count < 0)
    return std::unexpected("NVRTC does not tell its version");
  made.version_ = fmt::format("{}.{}", major, minor);
  made.major_ = static_cast<std::size_t>(major);
  made.architectures_.resize(static_cast<std::size_t>(count));
  if (functions.architectures(made.architectures_.data()) != 0)
    return std::unexpected("NVRTC does not tell its architectures");
  return made;
}

int NvrtcLibrary::architecture_for(int capability) const {
  int best = 0;
  // A cubin runs on later GPUs of the same major number only.
  for (const int one : architectures_)
    if (one <= capability && one / 10 == capability / 10) best = std::max(best, one);
  return best;
}

std::expected<std::string, std::string> NvrtcLibrary::compile(const std::string& source, int architecture,
                                                              bool fuses) const {
  Program program = nullptr;
  if (const int code = functions_.create(&program, source.c_str(), "kernels.cu", 0, nullptr, nullptr); code != 0)
    return std::unexpected(std::string("no program: ") + functions_.error_string(code));
  const auto destroy = [this](Program* of) { (void)functions_.destroy(of); };
  const std::unique_ptr<Program, decltype(destroy)> owner(&program, destroy);
  const std::string target = fmt::format("--gpu-architecture=sm_{}", architecture);
  const std::array options = {target.c_str(), "--std=c++17", "--restrict", fuses ? "--fmad=true" : "--fmad=false"};
  std::size_t bytes = 0;
  if (const int code = functions_.compile(program, static_cast<int>(options.size()), options.data()); code != 0) {
    std::string words = functions_.error_string(code);
    if (functions_.log_size(program, &bytes) == 0 && bytes > 1) {
      std::string log(bytes, '\0');
      if (functions_.log(program, log.data()) == 0) words += ": " + std::string(log.c_str());
    }
    return std::unexpected(words);
  }
  if (functions_.cubin_size(program, &bytes) != 0 || bytes == 0) return std::unexpected("a program without a cubin");
  std::string cubin(bytes, '\0');
  if (functions_.cubin(program, cubin.data()) != 0) return std::unexpected("a cubin that cannot be read");
  return cubin;
}

}  // namespace collage::nvrtc
