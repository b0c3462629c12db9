// Optional abilities of a backend. Each is an interface that derives from Extension and has a kind;
// Backend::extension() returns the requested one or null. Use extension_of<Interface>(backend) (backend.h), or the free
// function beside the interface where there is a default for backends without the ability.
#pragma once

#include <cstdint>

namespace collage {

enum class ExtensionKind : std::uint8_t {
  kFormats,           ///< FormatExtension: memory formats of its own, conversions
  kDevice,            ///< DeviceExtension: memory and queues elsewhere
  kOpenShapes,        ///< OpenCompiler: several kernels for a region with open dimensions
  kTuning,            ///< TuningExtension: the settings of a variant as a search space
  kConstants,         ///< ConstantsExtension: weights transformed once, when a plan is made
  kLinking,           ///< LinkExtension: the kernels of a plan in one artifact
  kStrategies,        ///< StrategyExtension: a list of its implementations
  kOperands,          ///< OperandExtension: kernels that refuse bad operands themselves
  kPortability,       ///< PortabilityExtension: artifacts that also run on processors with fewer instructions
  kTensorCode,        ///< CodeGenerator: compiles the tensor code of other backends
  kExport,            ///< ExportExtension: kernels that can be linked into a library of one model
  kOperatorLibraries  ///< OperatorLibraryExtension: operators of libraries that the user names
};

/// Base of all optional interfaces: what extension() returns before it is cast by kind.
class Extension {
 public:
  virtual ~Extension() = default;
};

/// For implementations of Backend::extension(): `backend` as the one of these interfaces that has the kind, else null.
template <class... Interfaces, class Implementation>
[[nodiscard]] Extension* select_extension(Implementation& backend, ExtensionKind kind) {
  Extension* found = nullptr;
  ((Interfaces::kKind == kind ? void(found = static_cast<Interfaces*>(&backend)) : void()), ...);
  return found;
}

}  // namespace collage
