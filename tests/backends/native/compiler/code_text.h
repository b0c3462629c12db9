// Tensor code as text, for tests that look at the loops that strategies write.
#pragma once

#include <array>
#include <sstream>
#include <string>

#include "compiler/codegen/codegen.h"

namespace collage::native {

/// "48*s0*s1".
inline std::string text_of(const Term& term) {
  std::string text = term.factor == 1 && term.is_open() ? "" : std::to_string(term.factor);
  for (const std::uint32_t size : term.sizes) text += (text.empty() ? "s" : "*s") + std::to_string(size);
  return text;
}

/// An extent or stride: in terms where it is open.
inline std::string text_of(std::int64_t number, const Terms& terms, std::size_t i) {
  return i < terms.size() && terms[i].is_open() ? text_of(terms[i]) : std::to_string(number);
}

/// Ports and lowered loops as text, before machine code: the same for the same code.
inline std::string to_text(const TensorCode& code, const InstructionSet& set) {
  constexpr std::array<const char*, 3> kKinds = {"input", "constant", "output"};
  std::ostringstream text;
  text << "kernel " << code.name << '\n';
  for (std::size_t i = 0; i < code.arguments.size(); ++i) {
    const Argument& argument = code.arguments[i];
    text << "  " << kKinds.at(static_cast<std::size_t>(argument.kind)) << ' ' << argument.index << ": "
         << name_of(argument.type) << '[';
    const OpenView view = i < code.views.size() ? code.views[i] : OpenView{};
    for (std::size_t axis = 0; axis < argument.extents.size(); ++axis)
      text << (axis == 0 ? "" : ",") << text_of(argument.extents[axis], view.extents, axis) << '@'
           << text_of(argument.strides[axis], view.strides, axis);
    text << "]\n";
  }
  for (const Guard& guard : code.guards) text << "  needs " << text_of(guard.term) << " >= " << guard.least << '\n';
  const Halide::Module module =
      Halide::Pipeline(code.pipeline).compile_to_module(code.inputs, code.name, target_of(set));
  for (const auto& function : module.functions()) text << function.name << ":\n" << function.body;
  return text.str();
}

}  // namespace collage::native
