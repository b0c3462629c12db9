// Adapts a table of hooks to the interface Backend.
// In:  a checked table, the instance's name and options, a code generator. Out: a Backend.
// How: compile() offers all regions to the hook `lower` first. The tensor code that it returns goes to the hook
//       `codegen`, or to the given code generator when there is none; regions that are not lowered go to the hook
//       `compile`. The compatibility string of an artifact begins with "own" or "generated", so that load() knows which
//       of the two made it. Results of hooks are validated: a wrong number of results, a constant or port that does not
//       exist, or tensor code that accesses memory outside of its buffers is a refusal.
#pragma once

#include <memory>

#include "backend/hooks.h"

namespace collage {

struct HookedInstance {
  std::string name;
  BackendOptions options;
  std::string build;  ///< when the backend gives none
};

/// `code_generator` is a backend with a CodeGenerator, which compiles the tensor code of a table without `codegen`. If
/// it is null or an error, such regions are refused with the error's text. It must outlive the returned backend, which
/// is as thread-safe as the hooks.
[[nodiscard]] std::unique_ptr<Backend> make_hooked_backend(const BackendHooks& hooks, HookedInstance instance,
                                                           Result<Backend*> code_generator = nullptr);

}  // namespace collage
