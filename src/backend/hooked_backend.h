// Adapter that makes a Backend of a table of hooks.
// In: a checked table, the instance's name and options, a code generator. Out: a Backend.
// How: compile() offers all regions to `lower` first; its tensor code goes to `codegen`, else to the code generator
//      given; what is not lowered goes to `compile`. An artifact's compatibility string begins with its maker, "own" or
//      "generated", so that load() asks the same one again. Answers of hooks are checked: a wrong number of results, a
//      constant or a port that does not exist, tensor code that leaves its buffers are refusals.
#pragma once

#include <memory>

#include "backend/hooks.h"

namespace collage {

struct HookedInstance {
  std::string name;
  BackendOptions options;
  std::string build;  ///< when the backend gives none
};

/// `code_generator`: a backend with a CodeGenerator, which compiles the tensor code of a table without `codegen`. Where
/// it is null or an error, such regions are refused with that error's text. It must outlive the backend. As thread-safe
/// as the hooks are.
[[nodiscard]] std::unique_ptr<Backend> make_hooked_backend(const BackendHooks& hooks, HookedInstance instance,
                                                           Result<Backend*> code_generator = nullptr);

}  // namespace collage
