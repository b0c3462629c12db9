#include "timing/counters.h"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace collage {
namespace {

struct CountedEvent {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr std::array kEvents = {
    CountedEvent{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    CountedEvent{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    CountedEvent{"cache_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    CountedEvent{"branch_misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    CountedEvent{"cpu_ns", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
    CountedEvent{"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
};

/// A file descriptor, or -1 with errno.
int open_event(const CountedEvent& event) {
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.inherit = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  // What a user without privileges may count; programs spend next to no time in the kernel while a plan runs.
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  constexpr int kThisThread = 0;
  constexpr int kAnyProcessor = -1;
  constexpr int kNoGroup = -1;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, kThisThread, kAnyProcessor, kNoGroup, PERF_FLAG_FD_CLOEXEC));
}

/// What read() gives with the read_format of open_event().
struct ReadCount {
  std::uint64_t count = 0;
  std::uint64_t enabled_ns = 0;
  std::uint64_t running_ns = 0;
};

/// The count of the whole time from that of the time in which the event had a counter.
std::uint64_t scaled(const ReadCount& read) {
  if (read.running_ns == 0 || read.running_ns >= read.enabled_ns) return read.count;
  return static_cast<std::uint64_t>(static_cast<double>(read.count) * static_cast<double>(read.enabled_ns) /
                                    static_cast<double>(read.running_ns));
}

}  // namespace

Counters Counters::open() {
  Counters counters;
  for (const CountedEvent& event : kEvents) {
    const int file = open_event(event);
    if (file < 0) {
      counters.refused_.push_back(std::string(event.name) + ": " + std::strerror(errno));
      continue;
    }
    counters.names_.emplace_back(event.name);
    counters.files_.push_back(file);
  }
  return counters;
}

Counters::~Counters() {
  for (const int file : files_) ::close(file);
}

void Counters::read(std::span<std::uint64_t> values) const {
  COLLAGE_CHECK(values.size() == files_.size());
  for (std::size_t i = 0; i < files_.size(); ++i) {
    ReadCount count;
    values[i] = ::read(files_[i], &count, sizeof(count)) == sizeof(count) ? scaled(count) : 0;
  }
}

}  // namespace collage
