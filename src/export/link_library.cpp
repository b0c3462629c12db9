#include "export/link_library.h"

#include <filesystem>

#include <fmt/format.h>

#include "backend/registry.h"
#include "base/file.h"
#include "base/run_program.h"
#include "base/work_folder.h"
#include "export/library_text.h"

namespace collage {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// A temporary folder in which programs run.
class Workshop {
 public:
  explicit Workshop(WorkFolder folder) : folder_(std::move(folder)) {}

  [[nodiscard]] Result<void> write(const std::string& name, std::string_view text) const {
    return write_file(folder_.file(name), text);
  }

  [[nodiscard]] Result<void> run(const Words& words) const {
    const auto done = run_program(words, folder_.file("log"), folder_.path());
    if (done) return {};
    if (done.error().is_missing)
      return fail(ExitCode::kUnsupported, "export/no-linker", words[0], done.error().words,
                  "a C++ compiler and binutils in PATH: apt-get install g++ binutils");
    return fail(ExitCode::kUnsupported, "export/link-failed", words[0], done.error().words,
                "the one of a C++ compiler with its static libraries: apt-get install g++ binutils");
  }

  /// Text that a program prints, without the newline at its end.
  [[nodiscard]] Result<std::string> ask(const Words& words) const {
    COLLAGE_TRY_VOID(run(words));
    COLLAGE_TRY(const Buffer printed, Buffer::map_file(folder_.file("log")));
    std::string text(printed.text());
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }

  /// The bytes of a file in this folder, which outlive it.
  [[nodiscard]] Result<Buffer> bytes_of(const std::string& name) const { return Buffer::map_file(folder_.file(name)); }

 private:
  WorkFolder folder_;
};

/// One object file of a code, whose entry points have names of their own and hide all others.
Result<std::string> make_code(const Workshop& shop, const LinkedCode& code, std::size_t number) {
  const std::string name = fmt::format("code{}", number);
  Words link = {"ld", "-r", "-o", name + ".joined.o"};
  for (std::size_t i = 0; i < code.objects.size(); ++i) {
    link.push_back(fmt::format("{}_{}.o", name, i));
    COLLAGE_TRY_VOID(shop.write(link.back(), code.objects[i]));
  }
  COLLAGE_TRY_VOID(shop.run(link));
  std::string renamed;
  std::string kept;
  for (std::size_t s = 0; s < code.symbols.size(); ++s) {
    const std::string symbol = linked_symbol(number, s);
    renamed += code.symbols[s] + " " + symbol + "\n";
    kept += symbol + "\n";
  }
  COLLAGE_TRY_VOID(shop.write(name + ".renamed", renamed));
  COLLAGE_TRY_VOID(shop.write(name + ".kept", kept));
  COLLAGE_TRY_VOID(
      shop.run({"objcopy", "--redefine-syms=" + name + ".renamed", name + ".joined.o", name + ".named.o"}));
  COLLAGE_TRY_VOID(shop.run({"objcopy", "--keep-global-symbols=" + name + ".kept", name + ".named.o", name + ".o"}));
  return name + ".o";
}

/// All objects of the library but the runtime's.
Result<Words> make_objects(const Workshop& shop, const LibraryParts& parts) {
  const LinkedParts& linked = *parts.parts;
  COLLAGE_TRY_VOID(shop.write("header.h", header_text(linked.plan.plan, parts.name)));
  COLLAGE_TRY_VOID(shop.write("model.c", source_text(linked, parts.name)));
  COLLAGE_TRY_VOID(shop.write("weights.s", weights_text()));
  COLLAGE_TRY_VOID(
      shop.write("weights.bin", {reinterpret_cast<const char*>(parts.weights.data()), parts.weights.size()}));
  COLLAGE_TRY_VOID(shop.run({"as", "-o", "weights.o", "weights.s"}));
  COLLAGE_TRY_VOID(shop.run(
      {"c++", "-x", "c", "-std=gnu99", "-O1", "-fPIC", "-I", parts.archive_folder, "-c", "model.c", "-o", "model.o"}));
  Words objects = {"model.o", "weights.o"};
  for (std::size_t i = 0; i < linked.codes.size(); ++i) {
    COLLAGE_TRY(objects.emplace_back(), make_code(shop, linked.codes[i], i));
  }
  return objects;
}

/// What the objects are linked with: plans of one thread have no thread pool.
Words runtime_of(const LibraryParts& parts) {
  const bool is_parallel = parts.parts->plan.plan.threads > 1;
  Words words = {parts.archive_folder + "/libcollage_export.a"};
  if (!is_parallel) words.push_back(parts.archive_folder + "/libcollage_one_thread.a");
  return words;
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

Result<Buffer> link_shared(const Workshop& shop, const LibraryParts& parts, const Words& objects) {
  COLLAGE_TRY_VOID(shop.write("exports", exports_text(parts.name)));
  Words link = {"c++", "-shared", "-o", "library.so"};
  append(link, objects);
  append(link, runtime_of(parts));
  append(link,
         {"-static-libstdc++", "-static-libgcc", "-Wl,--gc-sections", "-Wl,--version-script=exports",
          "-Wl,--exclude-libs,ALL", "-Wl,--no-undefined", "-Wl,--as-needed", "-Wl,--build-id=none", "-Wl,-s", "-Wl,-O1",
          "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Xlinker", "-soname", "-Xlinker", parts.file_name});
  // The threads of OpenMP's pool live on when the library is closed: the pool's code has to stay with them.
  if (parts.parts->plan.plan.threads > 1) append(link, {"-lgomp", "-Wl,-z,nodelete"});
  link.emplace_back("-lm");
  COLLAGE_TRY_VOID(shop.run(link));
  return shop.bytes_of("library.so");
}

Result<Buffer> link_static(const Workshop& shop, const LibraryParts& parts, const Words& objects) {
  Words link = {"ld", "-r", "--gc-sections", "--force-group-allocation", "-o", "joined.o"};
  std::string kept;
  for (const std::string& function : functions_of(parts.name)) {
    append(link, {"-u", function});
    kept += function + "\n";
  }
  append(link, objects);
  append(link, runtime_of(parts));
  // The program that links the archive need not be of C++.
  link.emplace_back("--start-group");
  for (const char* const library : {"libstdc++.a", "libgcc_eh.a", "libgcc.a"}) {
    COLLAGE_TRY(link.emplace_back(), shop.ask({"c++", std::string("-print-file-name=") + library}));
  }
  link.emplace_back("--end-group");
  COLLAGE_TRY_VOID(shop.run(link));
  COLLAGE_TRY_VOID(shop.write("kept", kept));
  // objcopy hides no symbol that is unique in a process, as some of the C++ library's are; weak ones it does.
  COLLAGE_TRY_VOID(shop.run({"objcopy", "--weaken", "joined.o", "weak.o"}));
  COLLAGE_TRY_VOID(shop.run({"objcopy", "--keep-global-symbols=kept", "--strip-unneeded", "weak.o", "library.o"}));
  COLLAGE_TRY_VOID(shop.run({"ar", "rcsD", "library.a", "library.o"}));
  return shop.bytes_of("library.a");
}

}  // namespace

Result<std::string> archive_folder() {
  const std::vector<std::string> folders = default_module_folders();
  for (const std::string& folder : folders)
    if (fs::exists(fs::path(folder) / "export" / "libcollage_export.a")) return (fs::path(folder) / "export").string();
  return fail(ExitCode::kUnsupported, "export/no-runtime", folders.empty() ? "lib/collage" : folders.front(),
              "no export/libcollage_export.a", "an installed tree with it");
}

Result<LinkedLibrary> link_library(const LibraryParts& parts, bool with_archive) {
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  const Workshop shop(std::move(folder));
  COLLAGE_TRY(const Words objects, make_objects(shop, parts));
  LinkedLibrary library;
  COLLAGE_TRY(library.shared, link_shared(shop, parts, objects));
  if (with_archive) {
    COLLAGE_TRY(library.archive, link_static(shop, parts, objects));
  }
  return library;
}

}  // namespace collage
