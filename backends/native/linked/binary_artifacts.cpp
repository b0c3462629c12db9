// Artifacts in the form of an exported library, in place of program_json.cpp.
#include "program_binary.h"

namespace collage::native {

std::string to_bytes(const Program& program, std::span<const CodeBytes> codes) {
  return to_binary_artifact(StoredProgram{.program = program, .codes = {codes.begin(), codes.end()}});
}
std::string unit_to_bytes(const Programs& programs, std::span<const CodeBytes> codes) {
  return to_binary_artifact(StoredUnit{.programs = programs, .codes = {codes.begin(), codes.end()}});
}
Result<StoredProgram> program_of(std::string_view bytes) { return program_from_binary(bytes); }
Result<StoredUnit> unit_of(std::string_view bytes) { return unit_from_binary(bytes); }

}  // namespace collage::native
