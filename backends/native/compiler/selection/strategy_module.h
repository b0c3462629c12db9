// The function through which a shared library adds implementations to the compiler's families:
// collage_native_strategies(), with C linkage, which returns a StrategyModule. The library is built with this folder's
// headers and linked with libHalide and libcollage_native_compiler. It is found as libcollage_native_strategies_NAME.so
// beside the backend's module or in a folder of COLLAGE_BACKEND_PATH, or is named by `native:strategies=FILE`.
// examples/strategies has an example.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler/selection/strategy.h"

namespace collage::native {

/// The compiler's own version: a row is C++ code built for exactly this one.
inline constexpr const char* kCompilerVersion = "Halide 21.0.0";
/// To be raised when a type that a row's functions see changes: Site, Facts, Schedule, Lowering, what these hold.
inline constexpr std::uint32_t kStrategyAbi = 3;

struct AddedImplementation {
  const char* family = nullptr;  ///< "convolution"
  Implementation implementation;
};

struct StrategyModule {
  std::uint32_t struct_size = sizeof(StrategyModule);
  std::uint32_t abi_version = kStrategyAbi;
  std::uint32_t row_size = sizeof(AddedImplementation);
  const char* built_with = kCompilerVersion;
  const AddedImplementation* rows = nullptr;
  std::size_t row_count = 0;
};

inline constexpr const char* kStrategiesSymbol = "collage_native_strategies";
using StrategiesEntry = const StrategyModule* (*)();

}  // namespace collage::native
