// Machine code that is part of this library already, in place of shared_object.cpp: in an exported library the bytes of
// a shared object are a name in the table of linked code (backend/linked_code.h).
#include "backend/linked_code.h"

#include <cstring>
#include <span>

#include "shared_object.h"

// The runtime that kernels call (embedded/kernel_runtime.cpp) is linked once for all of them.
extern "C" void collage_native_attach(const collage::native::RuntimeTable* table);

namespace collage::native {
namespace {

std::span<const collage_linked_symbol> all_symbols() { return {collage_linked_symbols, collage_linked_symbol_count}; }

/// Kernels of all instances share one table: it has the same functions for each, and calls no BLAS.
void attach_once(const RuntimeTable& runtime) {
  static const RuntimeTable table = runtime;
  [[maybe_unused]] static const bool is_attached = (collage_native_attach(&table), true);
}

}  // namespace

Result<std::shared_ptr<const SharedObject>> SharedObject::load(std::string_view bytes, const RuntimeTable& runtime) {
  for (const collage_linked_symbol& row : all_symbols()) {
    if (row.code != bytes) continue;
    attach_once(runtime);
    return std::make_shared<const SharedObject>(const_cast<collage_linked_symbol*>(&row));
  }
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", "code " + std::string(bytes),
              "code that is linked into this library");
}

SharedObject::~SharedObject() = default;

void* SharedObject::symbol(const std::string& name) const {
  const auto* const first = static_cast<const collage_linked_symbol*>(handle_);
  for (const collage_linked_symbol* row = first; row != collage_linked_symbols + collage_linked_symbol_count; ++row) {
    if (std::strcmp(row->code, first->code) != 0) break;
    if (row->symbol == name) return row->address;
  }
  return nullptr;
}

}  // namespace collage::native
