// What code compiled for OpenMP calls, for exported libraries of plans of one thread: they need no thread pool.
// Out: parallel regions that the caller's thread runs alone.
// Source: the functions of GCC's libgomp that the runtime and its backends use.
using Outlined = void (*)(void* data);

extern "C" {
void GOMP_parallel(Outlined work, void* data, unsigned threads, unsigned flags);
bool GOMP_loop_nonmonotonic_dynamic_start(long first, long end, long step, long chunk, long* from, long* to);
bool GOMP_loop_nonmonotonic_dynamic_next(long* from, long* to);
void GOMP_loop_end_nowait();
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();

void GOMP_parallel(Outlined work, void* data, unsigned /*threads*/, unsigned /*flags*/) { work(data); }

bool GOMP_loop_nonmonotonic_dynamic_start(long first, long end, long step, long /*chunk*/, long* from, long* to) {
  *from = first;
  *to = end;
  return step > 0 ? first < end : first > end;
}
bool GOMP_loop_nonmonotonic_dynamic_next(long* /*from*/, long* /*to*/) { return false; }
void GOMP_loop_end_nowait() {}

int omp_get_thread_num() { return 0; }
int omp_get_num_threads() { return 1; }
int omp_get_max_threads() { return 1; }
}
