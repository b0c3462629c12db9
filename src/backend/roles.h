// The default roles of backends: host, reference, filler; which take part in a tune or a bench by default. Outside a
// backend's own folder, its name occurs only here.
#pragma once

#include <array>
#include <string_view>

namespace collage {

/// Built in; moves data and renames formats, so it is always there.
inline constexpr const char* kHostBackend = "host";
/// Runs the model as written: what every number is checked against.
inline constexpr const char* kReferenceEngine = "onnxruntime:opt=off";
/// Takes the nodes that no chosen backend supports, and runs a model that was never tuned.
inline constexpr const char* kFillerEngine = "onnxruntime";
/// Compiles the tensor code of backends that have no code generator of their own.
inline constexpr const char* kCodeGenerator = "native";
/// Take part in a tune without being asked for.
inline constexpr std::array<const char*, 4> kUsualBackends = {"onednn", "native", "onnxruntime", "openvino"};
/// A plan is compared with these unless others are asked for.
inline constexpr std::array<const char*, 2> kUsualRivals = {"onnxruntime", "openvino"};

}  // namespace collage
