// Compiles ONNX bytes with OpenVINO, exports the compiled model as a blob, and imports it again.
#pragma once

#include <expected>
#include <memory>
#include <openvino/openvino.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.h"

namespace collage {

/// The element type in which the library computes what the model has in float32.
enum class Precision : std::uint8_t {
  kFull,    ///< float32
  kNarrow,  ///< bfloat16
  kDefault  ///< what the library chooses when left alone, its other hints too
};

/// A compiled model with what must live as long as it does, and where the region's ports are among the model's.
struct OpenvinoModel {
  std::shared_ptr<ov::Core> core;  ///< holds the plug-in
  ov::CompiledModel compiled;
  std::vector<std::size_t> inputs;   ///< by port: index of the model's input
  std::vector<std::size_t> outputs;  ///< by port: index of the model's output
};

/// Names and types that a region's ports must have in the model.
struct WantedPort {
  std::string name;
  ElementType element = ElementType::kUndefined;
};

[[nodiscard]] ov::element::Type to_openvino(ElementType type);
[[nodiscard]] ElementType from_openvino(ov::element::Type type);

/// Compiles ONNX bytes. The failure is the library's message, or names the port that is missing or has another type.
[[nodiscard]] std::expected<OpenvinoModel, std::string> compile_onnx(const std::shared_ptr<ov::Core>& core,
                                                                     std::string_view onnx, int threads,
                                                                     Precision precision,
                                                                     const std::vector<WantedPort>& inputs,
                                                                     const std::vector<WantedPort>& outputs);

/// What an artifact holds: the compiled model, which loads fast, or the model itself.
enum class Form : std::uint8_t { kBlob, kModel };

/// The bytes of an artifact: a blob when one is wanted and the library can read back what it exports, else `onnx`.
[[nodiscard]] std::string store(const OpenvinoModel& model, std::string_view onnx, int threads, Precision precision,
                                Form form);

/// Reads what store() wrote. Errors: backend/bad-artifact, backend/library-failed.
[[nodiscard]] Result<std::shared_ptr<OpenvinoModel>> restore(const std::shared_ptr<ov::Core>& core,
                                                             std::string_view artifact, int threads,
                                                             const std::string& where);

}  // namespace collage
