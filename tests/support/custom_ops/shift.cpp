// A library of custom operators as users write them, for ONNX Runtime. Domain "acme":
//   Shift  y = x + by, floats of any shape
//   Crash  the same, and ends the process when it computes
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <cstdlib>

namespace {

class ShiftKernel {
 public:
  ShiftKernel(const OrtKernelInfo* info, bool crashes)
      : by_(Ort::ConstKernelInfo(info).GetAttribute<float>("by")), crashes_(crashes) {}

  void Compute(OrtKernelContext* raw) {
    if (crashes_) std::abort();
    const Ort::KernelContext context(raw);
    const Ort::ConstValue x = context.GetInput(0);
    const auto shape = x.GetTensorTypeAndShapeInfo().GetShape();
    const std::size_t count = x.GetTensorTypeAndShapeInfo().GetElementCount();
    float* const y = context.GetOutput(0, shape).GetTensorMutableData<float>();
    for (std::size_t i = 0; i < count; ++i) y[i] = x.GetTensorData<float>()[i] + by_;
  }

 private:
  float by_;
  bool crashes_;
};

struct Shift : Ort::CustomOpBase<Shift, ShiftKernel> {
  explicit Shift(bool crashes_in) : crashes(crashes_in) {}

  void* CreateKernel(const OrtApi& /*api*/, const OrtKernelInfo* info) const { return new ShiftKernel(info, crashes); }
  [[nodiscard]] const char* GetName() const { return crashes ? "Crash" : "Shift"; }
  [[nodiscard]] std::size_t GetInputTypeCount() const { return 1; }
  [[nodiscard]] std::size_t GetOutputTypeCount() const { return 1; }
  [[nodiscard]] ONNXTensorElementDataType GetInputType(std::size_t /*i*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
  [[nodiscard]] ONNXTensorElementDataType GetOutputType(std::size_t /*i*/) const {
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }

  bool crashes;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* RegisterCustomOps(OrtSessionOptions* options,
                                                                               const OrtApiBase* base);

OrtStatus* RegisterCustomOps(OrtSessionOptions* options, const OrtApiBase* base) {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  static const Shift kShift(false);
  static const Shift kCrash(true);
  static Ort::CustomOpDomain domain("acme");
  static const bool kAdded = [] {
    domain.Add(&kShift);
    domain.Add(&kCrash);
    return true;
  }();
  (void)kAdded;
  Ort::UnownedSessionOptions(options).Add(domain);
  return nullptr;
}
