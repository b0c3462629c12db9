// A port of a kernel as a session names it.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <optional>
#include <string>

#include "backend/backend.h"

namespace collage {

struct BoundPort {
  std::string name;  ///< the session's
  ElementType element = ElementType::kUndefined;
  Extents extents;  ///< as they lie in memory
  bool is_static = true;
  std::size_t bytes = 0;
  std::optional<ValueType> held;  ///< of a held value; the others but the name are empty then
};

[[nodiscard]] BoundPort bound_port(const Port& port);

/// An open port with the extents it has this time.
[[nodiscard]] BoundPort at_extents(const BoundPort& port, const Extents& extents);

/// A tensor of the library over these bytes; throws what the library throws.
[[nodiscard]] Ort::Value tensor_over(const Ort::MemoryInfo& memory, const BoundPort& port, void* data);

}  // namespace collage
