// Times a model of static shapes with float inputs in OpenVINO, straight through its C++ API.
#include <openvino/openvino.hpp>

#include "bench/rivals/timing_loop.h"

int main(int count, char** values) {
  const rival_loop::Arguments arguments = rival_loop::parse(count, values);
  ov::Core core;
  ov::CompiledModel model = core.compile_model(
      arguments.model, "CPU", ov::inference_num_threads(arguments.threads), ov::num_streams(1),
      ov::hint::performance_mode(ov::hint::PerformanceMode::LATENCY), ov::hint::inference_precision(ov::element::f32));
  ov::InferRequest request = model.create_infer_request();
  for (std::size_t i = 0; i < model.inputs().size(); ++i) {
    ov::Tensor tensor = request.get_input_tensor(i);
    rival_loop::fill(tensor.data<float>(), tensor.get_size());
  }
  std::printf("openvino %.1f us\n", rival_loop::median_us(arguments.seconds, [&] { request.infer(); }));
}
