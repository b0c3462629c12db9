// cuBLASLt's products on the processor: three loops, queued as the made-up GPU's work.
#include <cstdint>
#include <cstring>
#include <map>

// Of cuda_on_host.cpp.
extern "C" int cuda_on_host_queue(void* stream, int (*work)(const void*), const void* data, std::size_t bytes);
extern "C" void* cuda_on_host_backing(const void* address);

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 7;
constexpr int kNotSupported = 15;

struct Description {
  int transposes_a = 0, transposes_b = 0, epilogue = 1;
  const float* bias = nullptr;
};
struct Layout {
  std::uint64_t rows = 0, columns = 0;
  std::int64_t step = 0, batch_step = 0;
  std::int32_t batch = 1;
};
struct Proposal {
  std::uint64_t algorithm[8];
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

/// Everything by value: descriptions may end before the work is done.
struct Work {
  Description description;
  Layout a, b, c, d;
  float alpha, beta;
  const float* in_a;
  const float* in_b;
  const float* in_c;
  float* out;
};

const float* element(const float* matrix, const Layout& layout, std::int64_t batch, std::int64_t row,
                     std::int64_t column) {
  return matrix + batch * layout.batch_step + column * layout.step + row;
}

template <class T>
T* backing(T* address) {
  return static_cast<T*>(cuda_on_host_backing(address));
}

int multiply(const void* data) {
  const auto* const work = static_cast<const Work*>(data);
  const Description& how = work->description;
  const float* const a = backing(work->in_a);
  const float* const b = backing(work->in_b);
  const float* const c = backing(work->in_c);
  float* const d = backing(work->out);
  const float* const bias = (how.epilogue & 4) != 0 ? backing(how.bias) : nullptr;
  if (a == nullptr || b == nullptr || c == nullptr || d == nullptr || ((how.epilogue & 4) != 0 && bias == nullptr))
    return 719;
  const auto m = static_cast<std::int64_t>(work->d.rows);
  const auto n = static_cast<std::int64_t>(work->d.columns);
  const auto k = static_cast<std::int64_t>(how.transposes_a != 0 ? work->a.rows : work->a.columns);
  for (std::int64_t batch = 0; batch < work->d.batch; ++batch)
    for (std::int64_t column = 0; column < n; ++column)
      for (std::int64_t row = 0; row < m; ++row) {
        double sum = 0;
        for (std::int64_t i = 0; i < k; ++i)
          sum += static_cast<double>(how.transposes_a != 0 ? *element(a, work->a, batch, i, row)
                                                           : *element(a, work->a, batch, row, i)) *
                 static_cast<double>(how.transposes_b != 0 ? *element(b, work->b, batch, column, i)
                                                           : *element(b, work->b, batch, i, column));
        sum *= work->alpha;
        if (work->beta != 0) sum += work->beta * *element(c, work->c, batch, row, column);
        if (bias != nullptr) sum += bias[row];
        if ((how.epilogue & 2) != 0 && sum < 0) sum = 0;
        *const_cast<float*>(element(d, work->d, batch, row, column)) = static_cast<float>(sum);
      }
  return kSuccess;
}

}  // namespace

extern "C" {

std::size_t cublasLtGetVersion() { return 130100; }
const char* cublasLtGetStatusName(int status) {
  return status == kNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS_INVALID_VALUE";
}
int cublasLtCreate(void** handle) { return *handle = handle, kSuccess; }
int cublasLtMatmulDescCreate(void** description, int compute, int scale) {
  return *description = new Description, scale == 0 && (compute == 68 || compute == 77) ? kSuccess : kNotSupported;
}
int cublasLtMatmulDescSetAttribute(void* handle, int which, const void* value, std::size_t bytes) {
  auto* const description = static_cast<Description*>(handle);
  std::map<int, void*> members = {{3, &description->transposes_a},
                                  {4, &description->transposes_b},
                                  {7, &description->epilogue},
                                  {8, &description->bias}};
  if (!members.contains(which) || bytes != (which == 8 ? 8 : 4)) return kInvalidValue;
  return std::memcpy(members.at(which), value, bytes), kSuccess;
}
int cublasLtMatmulDescDestroy(void* description) { return delete static_cast<Description*>(description), kSuccess; }
int cublasLtMatrixLayoutCreate(void** layout, int type, std::uint64_t rows, std::uint64_t columns, std::int64_t step) {
  if (type != 0 || step < static_cast<std::int64_t>(rows)) return kInvalidValue;
  return *layout = new Layout{.rows = rows, .columns = columns, .step = step}, kSuccess;
}
int cublasLtMatrixLayoutSetAttribute(void* handle, int which, const void* value, std::size_t bytes) {
  auto* const layout = static_cast<Layout*>(handle);
  if (which == 5 && bytes == 4) return std::memcpy(&layout->batch, value, bytes), kSuccess;
  if (which == 6 && bytes == 8) return std::memcpy(&layout->batch_step, value, bytes), kSuccess;
  return kInvalidValue;
}
int cublasLtMatrixLayoutDestroy(void* layout) { return delete static_cast<Layout*>(layout), kSuccess; }
int cublasLtMatmulPreferenceCreate(void** preference) { return *preference = preference, kSuccess; }
int cublasLtMatmulPreferenceSetAttribute(void*, int which, const void*, std::size_t bytes) {
  return bytes == (which == 1 ? 8U : 4U) ? kSuccess : kInvalidValue;
}
int cublasLtMatmulPreferenceDestroy(void*) { return kSuccess; }
/// Two, the second with a workspace.
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int most, Proposal* proposals,
                                   int* count) {
  *count = most < 2 ? most : 2;
  for (int i = 0; i < *count; ++i) {
    proposals[i] = {};
    proposals[i].algorithm[0] = 1000 + static_cast<std::uint64_t>(i);
    proposals[i].workspace_bytes = i == 0 ? 0 : 512;
  }
  return kSuccess;
}
int cublasLtMatmul(void*, void* description, const void* alpha, const void* a, void* layout_a, const void* b,
                   void* layout_b, const void* beta, const void* c, void* layout_c, void* d, void* layout_d,
                   const std::uint64_t* algorithm, void* workspace, std::size_t workspace_bytes, void* stream) {
  if (algorithm[0] != 1000 && algorithm[0] != 1001) return kInvalidValue;
  if (algorithm[0] == 1001 &&
      (reinterpret_cast<std::uintptr_t>(workspace) % 256 != 0 || workspace == nullptr || workspace_bytes < 512))
    return kInvalidValue;
  const auto layout = [](void* handle) { return *static_cast<Layout*>(handle); };
  const Layout all[] = {layout(layout_a), layout(layout_b), layout(layout_d)};
  const Description& how = *static_cast<Description*>(description);
  const std::uint64_t rows = how.transposes_a != 0 ? all[0].columns : all[0].rows;
  const std::uint64_t columns = how.transposes_b != 0 ? all[1].rows : all[1].columns;
  if (rows != all[2].rows || columns != all[2].columns) return kInvalidValue;
  const Work work{how,
                  all[0],
                  all[1],
                  layout(layout_c),
                  all[2],
                  *static_cast<const float*>(alpha),
                  *static_cast<const float*>(beta),
                  static_cast<const float*>(a),
                  static_cast<const float*>(b),
                  static_cast<const float*>(c),
                  static_cast<float*>(d)};
  return cuda_on_host_queue(stream, multiply, &work, sizeof work) == 0 ? kSuccess : kInvalidValue;
}

}  // extern "C"
