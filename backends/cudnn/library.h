// NVIDIA's cuDNN in this process, opened at run time: its interface of descriptors with attributes.
// In:  the library's file. Out: its functions; descriptors that end themselves; failures as exceptions.
// Source: cuDNN 9's backend interface (cudnn_graph.h), whose types and numbers are declared here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace collage::cudnn {

using Handle = void*;

/// cudnnBackendDescriptorType_t
enum class Kind : int {
  kPointwise = 0,
  kConvolution = 1,
  kEngineHeuristics = 4,
  kEngineConfig = 3,
  kEngine = 2,
  kExecutionPlan = 5,
  kConvolutionForward = 10,
  kPointwiseOperation = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17
};

/// cudnnBackendAttributeName_t
enum class Attribute : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kReluSlope = 5,
  kConvolutionPrecision = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionPaddingAfter = 104,
  kConvolutionPaddingBefore = 105,
  kConvolutionAxes = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanText = 405,
  kForwardAlpha = 700,
  kForwardBeta = 701,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kPointwiseDescriptor = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorExtents = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303
};

/// cudnnBackendAttributeType_t
enum class Type : int {
  kHandle = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kFloat = 4,
  kDouble = 5,
  kPointer = 6,
  kConvolutionMode = 7,
  kHeuristicsMode = 8,
  kNumericalNote = 11,
  kPointwiseMode = 14,
  kDescriptor = 15,
  kChar = 24
};

inline constexpr int kFloat32 = 0;           // CUDNN_DATA_FLOAT
inline constexpr int kCrossCorrelation = 1;  // CUDNN_CROSS_CORRELATION
inline constexpr int kModeA = 3;             // CUDNN_HEUR_MODE_A

/// cudnnBackendNumericalNote_t
enum class Note : int { kTensorCore = 0, kDownConverts = 1, kReducedSums = 2, kNotDeterministic = 4 };

/// Functions of the library. Each returns a status, 0 for success.
struct Library {
  std::size_t (*version)() = nullptr;
  const char* (*status_text)(int status) = nullptr;
  int (*create)(Handle* handle) = nullptr;
  int (*destroy)(Handle handle) = nullptr;
  int (*set_stream)(Handle handle, void* stream) = nullptr;
  int (*make)(Kind kind, Handle* descriptor) = nullptr;
  int (*end)(Handle descriptor) = nullptr;
  int (*set)(Handle descriptor, Attribute which, Type type, std::int64_t count, const void* values) = nullptr;
  int (*get)(Handle descriptor, Attribute which, Type type, std::int64_t asked, std::int64_t* count,
             void* values) = nullptr;
  int (*finalise)(Handle descriptor) = nullptr;
  int (*execute)(Handle handle, Handle plan, Handle pack) = nullptr;

  /// Throws std::runtime_error that says what failed, unless the status is success.
  void check(int status, const char* what) const;
  /// "9.19.0"
  [[nodiscard]] std::string version_text() const;
};

/// Opens the file, or, for "", libcudnn.so.9 where the dynamic loader finds one. Never closed. Empty-handed: why, in
/// words.
[[nodiscard]] std::expected<Library, std::string> open_library(const std::string& path);

/// One descriptor. Methods throw what Library::check throws.
class Descriptor {
 public:
  Descriptor(const Library& library, Kind kind);
  Descriptor(Descriptor&& other) noexcept : library_(other.library_), handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (handle_ != nullptr) (void)library_->end(handle_);
  }

  [[nodiscard]] Handle handle() const { return handle_; }
  template <class T>
  void set(Attribute which, Type type, const T& value) {
    set_all(which, type, 1, &value);
  }
  template <class T>
  void set(Attribute which, Type type, const std::vector<T>& values) {
    set_all(which, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  void set(Attribute which, const Descriptor& other) { set(which, Type::kDescriptor, other.handle_); }
  void finalise() { library_->check(library_->finalise(handle_), "finalise a descriptor"); }
  /// How many values there are.
  [[nodiscard]] std::int64_t count(Attribute which, Type type) const;
  /// At most `most` values; what they hold before matters to the library for descriptors only.
  template <class T>
  [[nodiscard]] std::vector<T> get(Attribute which, Type type, std::vector<T> values) const {
    std::int64_t count = 0;
    library_->check(
        library_->get(handle_, which, type, static_cast<std::int64_t>(values.size()), &count, values.data()),
        "read an attribute");
    values.resize(static_cast<std::size_t>(count));
    return values;
  }

 private:
  void set_all(Attribute which, Type type, std::int64_t count, const void* values);

  const Library* library_;
  Handle handle_ = nullptr;
};

}  // namespace collage::cudnn
