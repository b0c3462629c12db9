// From tensor code to a shared object: Halide writes the loops as C++, we add the function that a kernel calls, and the
// compiler does the rest. The shared object is the artifact, so running a plan needs neither Halide nor a compiler.
#include <Halide.h>
#include <dlfcn.h>
#include <unistd.h>

#include <backend/function_kernel.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "example_c.h"

namespace example {
namespace {

using Entry = int (*)(const void* const* inputs, const void* const* constants, void* const* outputs);
constexpr const char* kCompatibility = "example_c 1";

/// A folder that goes with its owner.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "example_c-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder " + pattern);
    path = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Describes a buffer to the loops: a row of f32, as lower() writes all of them.
constexpr const char* kRow = R"(
struct Row {
  halide_dimension_t dimension;
  halide_buffer_t buffer = {};
  Row(const void* host, int count, int stride) : dimension{0, count, stride, 0} {
    buffer.host = (uint8_t*)host;
    buffer.type = halide_type_t(halide_type_float, 32, 1);
    buffer.dimensions = 1;
    buffer.dim = &dimension;
  }
  operator halide_buffer_t*() { return &buffer; }
};
)";

/// The function behind Entry.
std::string entry_of(const TensorCode& code) {
  constexpr const char* kLists[] = {"inputs", "constants", "outputs"};
  std::ostringstream text;
  text << "extern \"C\" int entry(const void* const* inputs, const void* const* constants, void* const* outputs) {\n"
       << "  return loops(";
  for (const char* separator = ""; const TensorArgument& argument : code.arguments) {
    text << separator << "Row(" << kLists[static_cast<int>(argument.kind)] << "[" << argument.index << "], "
         << argument.extents.at(0) << ", " << argument.strides.at(0) << ")";
    separator = ", ";
  }
  text << ");\n}\n";
  return text.str();
}

void write_source(const TensorCode& code, const std::filesystem::path& path) {
  const std::vector<std::uint8_t> bytes(code.pipeline.begin(), code.pipeline.end());
  Halide::Pipeline pipeline = Halide::deserialize_pipeline(bytes, std::map<std::string, Halide::Parameter>());
  std::vector<Halide::Argument> arguments;
  for (const std::string& name : code.parameters)
    arguments.emplace_back(name, Halide::Argument::InputBuffer, Halide::Float(32), 1, Halide::ArgumentEstimates());
  const Halide::Target target("x86-64-linux-no_asserts-no_bounds_query-no_runtime");
  pipeline.compile_to_c(path.string(), arguments, "loops", target);
  std::ofstream(path, std::ios::app) << kRow << entry_of(code);
}

std::expected<Artifact, Refusal> generate(const TensorCode& code) {
  const TemporaryFolder folder;
  write_source(code, folder.path / "loops.cpp");
  const std::string command = "cd '" + folder.path.string() +
                              "' && " EXAMPLE_COMPILER " -std=c++17 -O2 -w -fPIC -shared -o loops.so loops.cpp 2> log";
  if (std::system(command.c_str()) != 0)
    return std::unexpected(Refusal{RefusalReason::kCompile, read_file(folder.path / "log")});
  return Artifact{
      .bytes = read_file(folder.path / "loops.so"), .compatibility = kCompatibility, .constants = code.constants};
}

/// Goes with its last kernel.
std::shared_ptr<void> open_library(std::string_view bytes) {
  const TemporaryFolder folder;  // the loader needs the file only until it has mapped it
  const std::string path = folder.path / "loops.so";
  std::ofstream(path, std::ios::binary) << bytes;
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(::dlerror());
  return {handle, ::dlclose};
}

}  // namespace

std::vector<std::expected<Artifact, Refusal>> codegen(const BackendOptions&, std::span<const TensorCode> codes,
                                                      const CompileOptions&) {
  std::vector<std::expected<Artifact, Refusal>> artifacts(codes.size());
  std::ranges::transform(codes, artifacts.begin(), generate);
  return artifacts;
}

Result<std::unique_ptr<Kernel>> load(const BackendOptions&, const LoadRequest& request) {
  if (request.artifact.compatibility != kCompatibility)
    return fail(ExitCode::kBadInput, "backend/incompatible-artifact", "example_c",
                std::string(request.artifact.compatibility), kCompatibility);
  const std::shared_ptr<void> library = open_library(request.artifact.bytes);
  const auto entry = reinterpret_cast<Entry>(::dlsym(library.get(), "entry"));
  if (entry == nullptr) return fail(ExitCode::kBadInput, "backend/bad-artifact", "example_c", "no symbol entry");
  std::vector<const void*> constants;
  for (const Tensor& constant : request.constants) constants.push_back(constant.data.data());
  return make_kernel([library, entry, constants](const Buffers& buffers) -> Result<void> {
    if (entry(buffers.inputs.data(), constants.data(), buffers.outputs.data()) == 0) return {};
    return fail(ExitCode::kBug, "backend/library-failed", "example_c", "loops that fail");
  });
}

}  // namespace example
