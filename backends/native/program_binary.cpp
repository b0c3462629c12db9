#include "program_binary.h"

#include <tuple>

#include "base/binary.h"

namespace collage {

inline auto members(TensorArgument& of) { return std::tie(of.kind, of.index, of.type, of.extents, of.strides); }

}  // namespace collage

namespace collage::native {

// What the structures of an artifact consist of (base/binary.h).
inline auto members(Packing& of) { return std::tie(of.kind, of.numbers); }
inline auto members(ConstantPart& of) { return std::tie(of.source, of.packing, of.is_packed); }
inline auto members(Code& of) { return std::tie(of.instruction_set, of.serial_bytes, of.per_thread_bytes); }
inline auto members(Symbol& of) { return std::tie(of.name, of.input, of.axis, of.low, of.high); }
inline auto members(Size& of) { return std::tie(of.symbol, of.add, of.divide, of.plus); }
inline auto members(Term& of) { return std::tie(of.factor, of.sizes); }
inline auto members(OpenView& of) { return std::tie(of.extents, of.strides); }
inline auto members(Guard& of) { return std::tie(of.term, of.least); }
inline auto members(Member& of) { return std::tie(of.symbol, of.variant, of.arguments, of.views, of.guards); }
inline auto members(SetCase& of) { return std::tie(of.low, of.high, of.member); }
inline auto members(KernelSet& of) {
  return std::tie(of.symbols, of.sizes, of.inputs, of.outputs, of.members, of.cases);
}
inline auto members(Program& of) {
  return std::tie(of.symbol, of.threads, of.arguments, of.constants, of.library, of.codes, of.set);
}
inline auto members(CodeBytes& of) { return std::tie(of.shared_object, of.objects); }
inline auto members(StoredProgram& of) { return std::tie(of.program, of.codes); }
inline auto members(StoredUnit& of) { return std::tie(of.programs, of.codes); }

namespace {

template <class T>
Result<T> from_artifact(std::string_view bytes) {
  COLLAGE_TRY(const std::string_view text, text_of(bytes));
  std::optional<T> value = from_binary<T>(text);
  if (!value) return broken_artifact("an artifact that this build has not written");
  return *std::move(value);
}

}  // namespace

std::string to_binary_artifact(const StoredProgram& stored) { return with_length(to_binary(stored)); }
std::string to_binary_artifact(const StoredUnit& unit) { return with_length(to_binary(unit)); }
Result<StoredProgram> program_from_binary(std::string_view bytes) { return from_artifact<StoredProgram>(bytes); }
Result<StoredUnit> unit_from_binary(std::string_view bytes) { return from_artifact<StoredUnit>(bytes); }

}  // namespace collage::native
