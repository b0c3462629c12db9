#include "compiler/codegen/codegen.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/run_program.h"
#include "base/work_folder.h"
#include "compiler/codegen/runtime_object.h"
#include "scratch.h"

namespace collage::native {

Halide::Target target_of(const InstructionSet& set) {
  return Halide::Target(std::string(set.target) + "-no_asserts-no_bounds_query-no_runtime-user_context");
}

namespace {

namespace fs = std::filesystem;

/// The most bytes that allocations open at one place take.
class AllocationCount final : public Halide::Internal::IRVisitor {
 public:
  using Halide::Internal::IRVisitor::visit;
  void visit(const Halide::Internal::Allocate* op) override {
    const std::int64_t raw = std::int64_t{op->constant_allocation_size()} * op->type.bytes();
    if (raw == 0 && !op->extents.empty()) open = op->name;
    // Small ones of a known size lie on the stack.
    const bool is_heap = raw > 0 && !Halide::Internal::can_allocation_fit_on_stack(raw);
    const std::size_t bytes = is_heap ? block_bytes(static_cast<std::size_t>(raw) + kReadBeyond) : 0;
    open_ += bytes;
    most = std::max(most, open_);
    op->body.accept(this);
    open_ -= bytes;
  }
  std::size_t most = 0;
  std::string open = {};  ///< one whose size is known only at run time

 private:
  /// Halide pads what vector loads may touch past an allocation's end.
  static constexpr std::size_t kReadBeyond = 256;
  std::size_t open_ = 0;
};

ScratchBytes scratch_of(const Halide::Module& module, const std::string& name) {
  ScratchBytes bytes;
  for (const auto& function : module.functions()) {
    AllocationCount count;
    function.body.accept(&count);
    if (!count.open.empty())
      throw std::runtime_error("scratch of a size that is not known when compiling: " + count.open);
    // Bodies of parallel loops are functions of their own.
    if (function.name == name)
      bytes.serial = count.most;
    else
      bytes.per_thread += count.most;
  }
  return bytes;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A program of binutils.
Result<void> run(const std::vector<std::string>& words, const std::string& log) {
  const auto done = run_program(words, log);
  if (done) return {};
  return fail(ExitCode::kUnsupported, "native/link-failed", words[0], done.error().words, "the one of binutils");
}

/// What an archive brings stays inside the object; a shared library is found again where it lies.
void add_libraries(const std::vector<std::string>& libraries, std::vector<std::string>& words) {
  if (!libraries.empty()) words.emplace_back("--exclude-libs=ALL");
  for (const std::string& library : libraries) {
    words.push_back(library);
    if (!library.ends_with(".a")) words.push_back("-rpath=" + fs::path(library).parent_path().string());
  }
}

/// Machine code as an object: an entry for Halide's call, which hands it on with the code's address.
Result<std::string> micro_object(const MicroProduct& product, const InstructionSet& set, const WorkFolder& folder) {
  const auto code = micro_kernel(product, set);
  if (!code) throw std::runtime_error(code.error());
  const std::string symbol = symbol_of(product);
  std::ofstream(folder.file(symbol), std::ios::binary) << *code;
  std::ofstream(folder.file(symbol + ".s")) << ".globl " << symbol << '\n'
                                            << symbol << ": lea micro_kernel(%rip), %rcx\n"
                                            << "jmp " << kTileSymbol << "@PLT\n.balign 64\n"
                                            << "micro_kernel: .incbin \"" << folder.file(symbol) << "\"\n"
                                            << ".section .note.GNU-stack,\"\",@progbits\n";
  const std::string object = folder.file(symbol + ".o");
  COLLAGE_TRY_VOID(run({"as", "-o", object, folder.file(symbol + ".s")}, folder.file("log")));
  return object;
}

/// Each once: several codes may call the same.
Result<void> add_micro_kernels(const std::vector<TensorCode>& codes, const InstructionSet& set,
                               const WorkFolder& folder, std::vector<std::string>& words) {
  std::set<MicroProduct> products;
  for (const TensorCode& code : codes) products.insert(code.micro_products.begin(), code.micro_products.end());
  for (const MicroProduct& product : products) {
    COLLAGE_TRY(std::string object, micro_object(product, set, folder));
    words.push_back(std::move(object));
  }
  return {};
}

/// Halide warns on the standard error that it writes out the rounding of 16-bit floats. Errors are thrown.
class WithoutWarnings final : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char*) override {}
  void error(const char* words) override { throw Halide::CompileError(words); }
};

void leave_out_warnings() {
  static WithoutWarnings reporter;
  Halide::set_custom_compile_time_error_reporter(&reporter);
}

/// Rounds vectors of f32 to bfloat16 by the processor's instruction, where Halide writes the rounding out in integers.
class RoundInOneInstruction final : public Halide::Internal::IRMutator {
 public:
  using Halide::Internal::IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Cast* op) override {
    const Halide::Type from = op->value.type();
    if (!op->type.is_bfloat() || !from.is_float() || from.bits() != 32 || op->type.lanes() % kLanes != 0)
      return IRMutator::visit(op);
    return Halide::Internal::Call::make(op->type, kRounding, {mutate(op->value)}, Halide::Internal::Call::PureExtern);
  }

 private:
  static constexpr int kLanes = 16;
  /// A function of Halide's own for this processor, by vectors of 32; a shorter one fills half of it.
  static constexpr const char* kRounding = "vcvtne2ps2bf16";
};

Halide::Module module_of(const TensorCode& code, const InstructionSet& set) {
  Halide::Pipeline pipeline(code.pipeline);
  // The same pipeline is compiled for one set after another.
  pipeline.clear_custom_lowering_passes();
  if (set.has_bf16) pipeline.add_custom_lowering_pass(new RoundInOneInstruction);
  return pipeline.compile_to_module(code.inputs, code.name, target_of(set));
}

/// The bytes of a shared object of these files and the runtime.
Result<std::string> linked(const std::vector<std::string>& objects, const std::vector<std::string>& libraries,
                           const WorkFolder& folder) {
  const std::string output = folder.file("kernels.so");
  std::ofstream(folder.file("runtime.o"), std::ios::binary) << runtime_object();
  // -Bsymbolic: a kernel's calls reach the runtime beside it, whatever else the process has of these names.
  std::vector<std::string> words = {"ld",
                                    "-shared",
                                    "-Bsymbolic",
                                    "--hash-style=gnu",
                                    "--build-id=none",
                                    "-s",
                                    "-z",
                                    "now",
                                    "-z",
                                    "noseparate-code",
                                    "-o",
                                    output,
                                    folder.file("runtime.o")};
  words.insert(words.end(), objects.begin(), objects.end());
  add_libraries(libraries, words);
  COLLAGE_TRY_VOID(run(words, folder.file("log")));
  return read_file(output);
}

}  // namespace

Result<CompiledCode> compile_codes(const std::vector<TensorCode>& codes, const InstructionSet& set,
                                   const std::vector<std::string>& libraries) {
  COLLAGE_TRY(const WorkFolder folder, WorkFolder::create());
  leave_out_warnings();
  CompiledCode compiled;
  std::vector<std::string> objects;
  for (const TensorCode& code : codes) {
    Halide::Module module = module_of(code, set);
    compiled.scratch.push_back(scratch_of(module, code.name));
    objects.push_back(folder.file(code.name + ".o"));
    module.compile({{Halide::OutputFileType::object, objects.back()}});
  }
  COLLAGE_TRY_VOID(add_micro_kernels(codes, set, folder, objects));
  COLLAGE_TRY(compiled.shared_object, linked(objects, libraries, folder));
  if (!libraries.empty()) return compiled;
  for (const std::string& object : objects) compiled.objects.push_back(read_file(object));
  return compiled;
}

Result<std::string> link_objects(std::span<const std::string_view> objects) {
  COLLAGE_TRY(const WorkFolder folder, WorkFolder::create());
  std::vector<std::string> files;
  for (const std::string_view object : objects) {
    files.push_back(folder.file(std::to_string(files.size()) + ".o"));
    std::ofstream(files.back(), std::ios::binary) << object;
  }
  return linked(files, {}, folder);
}

std::vector<const InstructionSet*> sets_of(const CompileOptions& options, const InstructionSet& set) {
  const InstructionSet& least = baseline_instruction_set();
  if (!options.portable || set.name == least.name) return {&set};
  return {&set, &least};
}

}  // namespace collage::native
