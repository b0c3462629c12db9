#include "timing/machine.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "base/hash.h"

namespace collage {
namespace {

/// The text after ':' of the first line of /proc/cpuinfo that starts with `key`.
std::string cpu_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t start = line.find_first_not_of(" \t", line.find(':') + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "unknown";
}

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
                                                       : static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

std::string machine_print() {
  utsname name{};
  ::uname(&name);
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGE_SIZE));
  return fmt::format("{}; flags {}; {} cores; {} GiB; {}", cpu_field("model name"),
                     hash_hex(cpu_field("flags")).substr(0, 12), usable_cores(),
                     static_cast<std::int64_t>(std::round(bytes / 0x1p30)), name.machine);
}

}  // namespace collage
