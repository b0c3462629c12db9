#include "library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <oneapi/dnnl/dnnl.hpp>

#include <cstring>
#include <span>

namespace collage::onednn {
namespace {

/// What dl_iterate_phdr looks for: the object that holds `address`, and the build id noted in it.
struct Search {
  ElfW(Addr) address = 0;
  std::string build_id = {};
};

std::string build_id_in(const std::byte* note, std::size_t bytes) {
  const std::byte* end = note + bytes;
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const std::byte* name = note + sizeof header;
    const std::byte* content = name + (header.n_namesz + 3) / 4 * 4;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      std::string text;
      for (const std::byte byte : std::span(content, header.n_descsz))
        text += fmt::format("{:02x}", static_cast<unsigned>(byte));
      return text;
    }
    note = content + (header.n_descsz + 3) / 4 * 4;
  }
  return {};
}

int visit(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const std::span headers(object->dlpi_phdr, object->dlpi_phnum);
  bool holds = false;
  for (const auto& header : headers) {
    const ElfW(Addr) begin = object->dlpi_addr + header.p_vaddr;
    holds = holds || (header.p_type == PT_LOAD && search.address >= begin && search.address < begin + header.p_memsz);
  }
  if (!holds) return 0;
  for (const auto& header : headers)
    if (header.p_type == PT_NOTE && search.build_id.empty())
      search.build_id =
          build_id_in(reinterpret_cast<const std::byte*>(object->dlpi_addr + header.p_vaddr), header.p_memsz);
  return 1;
}

std::string runtime_name(unsigned runtime) {
  switch (runtime) {
    case DNNL_RUNTIME_SEQ:
      return "sequential";
    case DNNL_RUNTIME_OMP:
      return "openmp";
    case DNNL_RUNTIME_TBB:
      return "tbb";
    default:
      return "runtime" + std::to_string(runtime);
  }
}

}  // namespace

std::string library_version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
}

std::string library_build() {
  const dnnl_version_t* version = dnnl_version();
  Search search{.address = reinterpret_cast<ElfW(Addr)>(version->hash)};
  dl_iterate_phdr(visit, &search);
  return fmt::format("{}+{}+{}+{}+isa{:x}", library_version(), version->hash, search.build_id,
                     runtime_name(version->cpu_runtime), static_cast<unsigned>(dnnl_get_effective_cpu_isa()));
}

}  // namespace collage::onednn
