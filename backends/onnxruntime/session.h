// An ONNX Runtime session made from an artifact's ONNX bytes and the plan's mapped weights.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "backends/onnxruntime/provider.h"

namespace collage {

struct SessionSettings {
  GraphOptimizationLevel level = ORT_ENABLE_ALL;
  std::string disabled;  ///< optimizers to leave out, by the library's names, ';' between them
  int threads = 1;
  std::vector<std::string> operator_libraries = {};  ///< paths of libraries of custom operators
  ProviderUse provider = {};
};

/// A session with everything that must live as long as it does.
struct OnnxruntimeSession {
  std::shared_ptr<Ort::Env> environment;
  std::vector<Tensor> constants;  ///< the session reads their bytes in place
  std::unique_ptr<Ort::Session> session;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  SessionSettings settings;
  std::string model;  ///< what it was made from, of one with optionals among its inputs; empty else
};

/// Makes a session; `constants` are the external files "c0", "c1"... of the model. The failure is the library's
/// message. Threads: safe to call at the same time.
[[nodiscard]] std::expected<std::shared_ptr<OnnxruntimeSession>, std::string> make_session(
    const std::shared_ptr<Ort::Env>& environment, const SessionSettings& settings, std::string_view model,
    std::vector<Tensor> constants);

}  // namespace collage
