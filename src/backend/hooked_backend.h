// Makes a table of hooks a Backend.
// In: a checked table, the instance's name and options, a code generator. Out: a Backend.
// How: compile() offers all regions to `lower` first; its tensor code goes to `codegen`, else to the code generator
//      given; what is not lowered goes to `compile`. An artifact's compatibility says who made it, "own ..." or
//      "generated ...", so that load() finds the same one again. What a hook gives is looked at before it is believed:
//      a wrong number of results, a constant or a port that is not there, tensor code that leaves its buffers are
//      refusals.
// Cost: a few checks beside the hooks' own.
#pragma once

#include <memory>

#include "backend/hooks.h"

namespace collage {

struct HookedInstance {
  std::string name;
  BackendOptions options;
  std::string build;  ///< when the backend gives none
};

/// `code_generator`, a backend that is one, takes the tensor code of a table without `codegen`; null or an error: none
/// is there, and what needs it is refused with these words. It must outlive the backend. As thread-safe as the hooks
/// are.
[[nodiscard]] std::unique_ptr<Backend> make_hooked_backend(const BackendHooks& hooks, HookedInstance instance,
                                                           Result<Backend*> code_generator = nullptr);

}  // namespace collage
