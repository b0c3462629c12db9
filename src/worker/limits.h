// Limits the resources of a worker process and filters the system calls that it may make.
// In:  the process itself, or its id. Out: limits set; the memory that the process uses.
// The supervisor watches resident memory, because a limit on address space would stop libraries that map much memory
// and use little. Limits on processor time and file size matter only when the supervisor has died; otherwise deadlines
// and the disk's capacity are reached first.
// Cost: a few system calls when a worker starts; about 10 us to read its memory use.
// Source: setrlimit(2), seccomp(2), Documentation/filesystems/proc.rst in Linux.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace collage {

struct WorkerLimits {
  std::int64_t memory_bytes =
      0;  ///< resident, without mapped files; 0 = most of the free memory when the worker starts
  std::int64_t file_bytes = std::int64_t{64} << 30;  ///< of each file it writes
  std::int64_t descriptors = 4096;
  std::int64_t cpu_seconds = std::int64_t{24} * 3600;
};

/// Sets the limits that the operating system enforces. Existing lower limits stay.
void limit_process(pid_t process, const WorkerLimits& limits);

/// From now on this process and its children can open local sockets only. False when the system does not support it.
bool leave_network();

/// Memory that is available now, on the machine and in the control group, in bytes.
[[nodiscard]] std::int64_t available_memory();

/// Resident memory of a process without mapped files, in bytes; 0 when the process has ended.
[[nodiscard]] std::int64_t private_bytes(pid_t process);

/// Ends every process whose environment says NAME=VALUE, as all descendants of a process started with it do, whatever
/// group, session or parent they have now.
void end_marked(const char* name, const char* value);

}  // namespace collage
