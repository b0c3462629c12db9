#include "runtime/port_overlap.h"

#include <algorithm>
#include <functional>

namespace collage {
namespace {

bool reaches(const PortMemory* before, const PortMemory& port) {
  return before != nullptr && before->begin + before->bytes > port.begin;
}

}  // namespace

std::optional<std::pair<PortMemory, PortMemory>> find_overlap(std::span<PortMemory> ports) {
  std::ranges::sort(ports, std::less<>(), &PortMemory::begin);
  const PortMemory* last = nullptr;         // of those before, the one that ends last
  const PortMemory* last_output = nullptr;  // likewise, of the outputs
  for (const PortMemory& port : ports) {
    if (port.bytes == 0) continue;
    const PortMemory* const before = port.is_output ? last : last_output;
    if (reaches(before, port)) return port.is_output ? std::pair(port, *before) : std::pair(*before, port);
    if (!reaches(last, port) || port.begin + port.bytes > last->begin + last->bytes) last = &port;
    if (port.is_output) last_output = &port;
  }
  return std::nullopt;
}

}  // namespace collage
