// Keeps the number of threads that OpenMP gives to loops which the calling thread starts: a program that uses OpenMP
// itself finds its own number after a run.
// In: the number that the thread has now. Out: the same number again. Cost: a few nanoseconds.
#pragma once

#include <omp.h>

namespace collage {

class KeepOpenMpThreads {
 public:
  KeepOpenMpThreads() : before_(omp_get_max_threads()) {}
  ~KeepOpenMpThreads() {
    if (omp_get_max_threads() != before_) omp_set_num_threads(before_);
  }
  KeepOpenMpThreads(const KeepOpenMpThreads&) = delete;
  KeepOpenMpThreads& operator=(const KeepOpenMpThreads&) = delete;

 private:
  int before_;
};

}  // namespace collage
