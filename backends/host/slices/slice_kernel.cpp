#include "slices/slice_kernel.h"

#include <algorithm>

namespace collage::host {
namespace {

class SliceCall final : public Call {
 public:
  SliceCall(const Slices& slices, SliceLoops::Loop loop, SliceResult result, int threads, ThreadPool* pool,
            const void* in, void* out)
      : slices_(slices),
        loop_(loop),
        threads_(threads),
        pool_(pool),
        in_slice_(slices.length * slices.inner),
        out_slice_(result == SliceResult::kWhole ? in_slice_ : slices.inner),
        in_(static_cast<const float*>(in)),
        out_(static_cast<float*>(out)) {
    if (result == SliceResult::kWhole && has_elements())
      work_.resize(static_cast<std::size_t>(slices.inner * 2 * std::max(threads, 1)));
  }

  Result<void> run() override {
    if (!has_elements()) return {};
    in_outer_ranges(pool_, threads_, slices_, [this](const Slices& part, std::int64_t first, int thread) {
      float* work = work_.empty() ? nullptr : work_.data() + thread * slices_.inner * 2;
      loop_(part, in_ + first * in_slice_, out_ + first * out_slice_, work);
    });
    return {};
  }

 private:
  [[nodiscard]] bool has_elements() const { return slices_.outer > 0 && slices_.length > 0 && slices_.inner > 0; }

  Slices slices_;
  SliceLoops::Loop loop_;
  int threads_;
  ThreadPool* pool_;
  std::int64_t in_slice_;
  std::int64_t out_slice_;
  const float* in_;
  float* out_;
  std::vector<float> work_;
};

class SliceKernel final : public Kernel {
 public:
  SliceKernel(const Slices& slices, SliceLoops::Loop loop, SliceResult result, std::uint32_t input, int threads)
      : slices_(slices), loop_(loop), result_(result), input_(input), threads_(threads) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<SliceCall>(slices_, loop_, result_, threads_, buffers.pool, buffers.inputs[input_],
                                       buffers.outputs[0]);
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  Slices slices_;
  SliceLoops::Loop loop_;
  SliceResult result_;
  std::uint32_t input_;
  int threads_;
};

}  // namespace

std::unique_ptr<Kernel> make_slice_kernel(const Slices& slices, SliceLoops::Loop loop, SliceResult result,
                                          std::uint32_t input, int threads) {
  return std::make_unique<SliceKernel>(slices, loop, result, input, threads);
}

}  // namespace collage::host
