#include "backend/code_generator.h"

namespace collage {

// Here, so that all modules mean the same class.
CodeGenerator::~CodeGenerator() = default;

CodeGenerator* code_generator_of(Backend* backend) { return dynamic_cast<CodeGenerator*>(backend); }

}  // namespace collage
