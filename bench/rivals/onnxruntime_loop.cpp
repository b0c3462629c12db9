// Times a model of static shapes with float inputs in ONNX Runtime, straight through its C++ API.
#include <onnxruntime_cxx_api.h>

#include <string>

#include "bench/rivals/timing_loop.h"

int main(int count, char** values) {
  const rival_loop::Arguments arguments = rival_loop::parse(count, values);
  Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "loop");
  Ort::SessionOptions options;
  options.SetIntraOpNumThreads(arguments.threads);
  options.SetGraphOptimizationLevel(ORT_ENABLE_ALL);
  Ort::Session session(env, arguments.model, options);
  Ort::AllocatorWithDefaultOptions allocator;
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);

  Ort::IoBinding binding(session);
  std::vector<Ort::Value> tensors;
  for (std::size_t i = 0; i < session.GetInputCount(); ++i) {
    const auto info = session.GetInputTypeInfo(i);
    const auto shape = info.GetTensorTypeAndShapeInfo().GetShape();
    Ort::Value& tensor = tensors.emplace_back(Ort::Value::CreateTensor<float>(allocator, shape.data(), shape.size()));
    rival_loop::fill(tensor.GetTensorMutableData<float>(), tensor.GetTensorTypeAndShapeInfo().GetElementCount());
    binding.BindInput(session.GetInputNameAllocated(i, allocator).get(), tensor);
  }
  // Outputs of the first run are kept as the memory of all further ones.
  std::vector<std::string> names;
  for (std::size_t i = 0; i < session.GetOutputCount(); ++i) {
    names.emplace_back(session.GetOutputNameAllocated(i, allocator).get());
    binding.BindOutput(names.back().c_str(), memory);
  }
  session.Run(Ort::RunOptions{}, binding);
  const std::vector<Ort::Value> outputs = binding.GetOutputValues();
  for (std::size_t i = 0; i < names.size(); ++i) binding.BindOutput(names[i].c_str(), outputs[i]);

  const Ort::RunOptions run_options;
  std::printf("onnxruntime %.1f us\n",
              rival_loop::median_us(arguments.seconds, [&] { session.Run(run_options, binding); }));
}
