#include "export_kernels.h"

#include <algorithm>

#include "program_binary.h"

namespace collage::native {
namespace {

std::unexpected<Error> not_linkable(std::string saw) {
  return fail(ExitCode::kUnsupported, "export/not-linkable", "native", std::move(saw),
              "kernels with object files of their own, as `collage tune --deploy library` chooses");
}

/// What load() looks up for a program.
void add_symbols(const Program& program, std::vector<std::string>& symbols) {
  if (program.set)
    for (const Member& member : program.set->members) symbols.push_back(entry_symbol(member.symbol));
  else
    symbols.push_back(entry_symbol(program.symbol));
}

/// The programs' code under new names. They have as many codes as `codes`.
Result<ExportedArtifact> exported(const Programs& programs, std::span<const CodeBytes> codes,
                                  const std::string& prefix) {
  std::vector<std::string> symbols;
  for (const auto& [entry, program] : programs) {
    if (!program.library.empty()) return not_linkable("calls of " + program.library);
    add_symbols(program, symbols);
  }
  std::ranges::sort(symbols);
  symbols.erase(std::ranges::unique(symbols).begin(), symbols.end());
  ExportedArtifact out;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    if (codes[i].objects.empty()) return not_linkable("a kernel without its object files");
    out.code.push_back({.name = prefix + "_" + programs.begin()->second.codes[i].instruction_set,
                        .symbols = symbols,
                        .objects = codes[i].objects});
  }
  return out;
}

/// Names in place of shared objects.
std::vector<CodeBytes> named(const std::vector<LinkedCode>& codes) {
  std::vector<CodeBytes> names;
  for (const LinkedCode& code : codes) names.push_back({.shared_object = code.name, .objects = {}});
  return names;
}

}  // namespace

Result<ExportedArtifact> export_kernels(const ArtifactView& artifact, const std::string& prefix) {
  if (artifact.entry.empty()) {
    COLLAGE_TRY(const StoredProgram stored, program_of(artifact.bytes));
    COLLAGE_TRY(ExportedArtifact out, exported({{"", stored.program}}, stored.codes, prefix));
    out.bytes = to_binary_artifact(StoredProgram{.program = stored.program, .codes = named(out.code)});
    return out;
  }
  COLLAGE_TRY(const StoredUnit unit, unit_of(artifact.bytes));
  if (unit.programs.empty()) return not_linkable("a unit without kernels");
  COLLAGE_TRY(ExportedArtifact out, exported(unit.programs, unit.codes, prefix));
  out.bytes = to_binary_artifact(StoredUnit{.programs = unit.programs, .codes = named(out.code)});
  return out;
}

}  // namespace collage::native
