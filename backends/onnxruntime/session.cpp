#include "backends/onnxruntime/session.h"

#include "backends/common/engine/region_model.h"

namespace collage {
namespace {

// Keys are literal where the library knows more than the headers do.
constexpr const char* kReadInPlace = "session.use_external_initializer_file_buffers_directly";
constexpr const char* kNoPrepacking = "session.disable_prepacking";
constexpr const char* kForceSpinningStop = "session.force_spinning_stop";
constexpr const char* kWeightsOfFewBits = "session.qdq_matmulnbits_accuracy_level";
constexpr const char* kDisabledOptimizers = "optimization.disable_specified_optimizers";

Ort::SessionOptions make_options(const SessionSettings& settings) {
  Ort::SessionOptions options;
  options.SetGraphOptimizationLevel(settings.level);
  options.SetExecutionMode(ORT_SEQUENTIAL);
  options.SetIntraOpNumThreads(settings.threads);
  options.SetInterOpNumThreads(1);
  options.SetLogSeverityLevel(ORT_LOGGING_LEVEL_FATAL);
  options.AddConfigEntry(kReadInPlace, "1");
  // Threads may spin between two operators of one run, never between runs, when another backend computes.
  options.AddConfigEntry(kForceSpinningStop, "1");
  // Packed weights are copies. A session without optimisation is made for a run or two: they would cost more than they
  // give.
  if (settings.level == ORT_DISABLE_ALL) options.AddConfigEntry(kNoPrepacking, "1");
  // Products of f32 by weights of a few bits stay products of f32: by default their source is rounded to 8 bits, too.
  options.AddConfigEntry(kWeightsOfFewBits, "1");
  if (!settings.disabled.empty()) options.AddConfigEntry(kDisabledOptimizers, settings.disabled.c_str());
  for (const std::string& library : settings.operator_libraries) options.RegisterCustomOpsLibrary(library.c_str());
  append_provider(options, settings.provider);
  return options;
}

void add_constants(Ort::SessionOptions& options, const std::vector<Tensor>& constants) {
  if (constants.empty()) return;
  std::vector<std::string> files;
  std::vector<char*> bytes;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < constants.size(); ++i) {
    files.push_back(constant_file(i));
    // The interface takes char*, yet the library only reads initialisers.
    bytes.push_back(const_cast<char*>(reinterpret_cast<const char*>(constants[i].data.data())));
    lengths.push_back(constants[i].data.size());
  }
  options.AddExternalInitializersFromFilesInMemory(files, bytes, lengths);
}

}  // namespace

std::expected<std::shared_ptr<OnnxruntimeSession>, std::string> make_session(
    const std::shared_ptr<Ort::Env>& environment, const SessionSettings& settings, std::string_view model,
    std::vector<Tensor> constants) {
  return guard([&] {
    auto made = std::make_shared<OnnxruntimeSession>();
    made->environment = environment;
    made->constants = std::move(constants);
    Ort::SessionOptions options = make_options(settings);
    add_constants(options, made->constants);
    made->session = std::make_unique<Ort::Session>(*environment, model.data(), model.size(), options);
    made->settings = settings;
    for (std::size_t i = 0; i < made->session->GetInputCount() && made->model.empty(); ++i)
      if (made->session->GetInputTypeInfo(i).GetONNXType() == ONNX_TYPE_OPTIONAL) made->model = model;
    Ort::AllocatorWithDefaultOptions allocator;
    for (std::size_t i = 0; i < made->session->GetInputCount(); ++i)
      made->input_names.emplace_back(made->session->GetInputNameAllocated(i, allocator).get());
    for (std::size_t i = 0; i < made->session->GetOutputCount(); ++i)
      made->output_names.emplace_back(made->session->GetOutputNameAllocated(i, allocator).get());
    return made;
  });
}

}  // namespace collage
