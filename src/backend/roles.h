// The default roles of backends: host, reference, filler; which take part in a tune or a bench by default. Outside a
// backend's own folder, its name occurs only here.
#pragma once

#include <array>
#include <string_view>

namespace collage {

/// Built in and always present; moves data and renames formats.
inline constexpr const char* kHostBackend = "host";
/// Runs the model as written; all results are compared with its results.
inline constexpr const char* kReferenceEngine = "onnxruntime:opt=off";
/// Runs the nodes that no selected backend supports, and models that were never tuned.
inline constexpr const char* kFillerEngine = "onnxruntime";
/// Compiles the tensor code of backends that have no code generator of their own.
inline constexpr const char* kCodeGenerator = "native";
/// Take part in a tune by default.
inline constexpr std::array<const char*, 4> kUsualBackends = {"onednn", "native", "onnxruntime", "openvino"};
/// In accuracy class fast an engine is also a rival as it computes when left alone, in fewer bits where it likes.
struct DefaultPrecision {
  std::string_view engine;
  const char* instance;
};
inline constexpr std::array<DefaultPrecision, 1> kDefaultPrecisions = {{{"openvino", "openvino:precision=default"}}};
[[nodiscard]] constexpr bool is_at_default_precision(std::string_view instance) {
  for (const DefaultPrecision& one : kDefaultPrecisions)
    if (instance == one.instance) return true;
  return false;
}
/// Engines, and the instance whose artifacts hold the model itself. Loading these takes what a program waits for that
/// creates its session from the model's file.
struct ModelKeeper {
  std::string_view engine;
  std::string_view instance;
};
inline constexpr std::array<ModelKeeper, 3> kModelKeepers = {
    {{"onnxruntime", "onnxruntime"},
     {"openvino", "openvino:form=model"},
     {"openvino:precision=default", "openvino:form=model,precision=default"}}};
/// Empty where none is known.
[[nodiscard]] constexpr std::string_view model_keeper_of(std::string_view engine) {
  for (const ModelKeeper& one : kModelKeepers)
    if (engine == one.engine) return one.instance;
  return {};
}
/// Rivals of a bench by default.
inline constexpr std::array<const char*, 2> kUsualRivals = {"onnxruntime", "openvino"};

}  // namespace collage
