#include "backend/open_compiler.h"

namespace collage {

// Here, so that all modules mean the same class.
OpenCompiler::~OpenCompiler() = default;

OpenCompiler* open_compiler_of(Backend* backend) { return dynamic_cast<OpenCompiler*>(backend); }

}  // namespace collage
