#include "backends/common/build_id/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace collage {
namespace {

struct Search {
  ElfW(Addr) address = 0;
  std::string build_id;
};

std::string build_id_in(const std::byte* note, std::size_t bytes) {
  const std::byte* const end = note + bytes;
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const std::byte* const name = note + sizeof header;
    const std::byte* const content = name + (header.n_namesz + 3) / 4 * 4;
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
  const auto holds = [&](const ElfW(Phdr) & header) {
    const ElfW(Addr) begin = object->dlpi_addr + header.p_vaddr;
    return header.p_type == PT_LOAD && search.address >= begin && search.address < begin + header.p_memsz;
  };
  if (std::ranges::none_of(headers, holds)) return 0;
  for (const auto& header : headers)
    if (header.p_type == PT_NOTE && search.build_id.empty())
      search.build_id =
          build_id_in(reinterpret_cast<const std::byte*>(object->dlpi_addr + header.p_vaddr), header.p_memsz);
  return 1;
}

}  // namespace

std::string build_id_of(const void* address) {
  Search search{.address = reinterpret_cast<ElfW(Addr)>(address), .build_id = {}};
  dl_iterate_phdr(visit, &search);
  return search.build_id;
}

}  // namespace collage
