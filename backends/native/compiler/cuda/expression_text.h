// Halide expressions as statements of CUDA C.
// In:  expressions of one place. Out: statements, each of which names one value, and the name of the result.
// How: every node is written once, so that what an expression shares is computed once. Quotients of numbers that cannot
//       be negative are plain ones.
// Cost: one pass over the expression, and bounds of what is divided.
// Source: Halide's own printers of C and OpenCL; CUDA C++ Programming Guide, Mathematical Functions.
#pragma once

#include <Halide.h>

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/cuda/stages.h"

namespace collage::native::cuda {

/// What is no code for a GPU: an intrinsic, an element type.
class CannotWrite : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "float", "int32": names of the prelude. Throws CannotWrite.
[[nodiscard]] std::string type_text(const Halide::Type& type);

/// The text of a number of this type.
[[nodiscard]] std::string number_text(const Halide::Type& type, double value);

class ExpressionWriter {
 public:
  /// The text that reads an element of a Func or an input: of its result `value_index`, at indices that are texts,
  /// innermost first. Throws CannotWrite.
  using Read = std::function<std::string(const Halide::Internal::Call& call, const std::vector<std::string>& at)>;

  /// `names` are the texts of variables, `ranges` what they run over.
  ExpressionWriter(Read read, std::map<std::string, std::string> names, const Ranges& ranges, std::string indent)
      : read_(std::move(read)), names_(std::move(names)), ranges_(ranges), indent_(std::move(indent)) {}

  /// The text of the value, after the statements that it needs. Throws CannotWrite.
  [[nodiscard]] std::string write(const Halide::Expr& expression);
  /// The statements so far.
  [[nodiscard]] const std::string& statements() const { return statements_; }

 private:
  using Expr = Halide::Expr;
  [[nodiscard]] std::string text_of(const Expr& expression);
  [[nodiscard]] std::string infix(const Expr& a, const char* sign, const Expr& b);
  [[nodiscard]] std::string function(const std::string& name, const std::vector<Expr>& operands);
  [[nodiscard]] std::string quotient(const Expr& whole, const Expr& a, const Expr& b, const char* sign,
                                     const char* otherwise);
  [[nodiscard]] std::string cast(const Halide::Type& to, const Expr& value);
  [[nodiscard]] std::string call(const Halide::Internal::Call& call);
  [[nodiscard]] std::string intrinsic(const Halide::Internal::Call& call);
  [[nodiscard]] std::string reinterpreted(const Halide::Type& to, const Expr& value);
  [[nodiscard]] std::string named(const Halide::Type& type, const std::string& text);

  Read read_;
  std::map<std::string, std::string> names_;
  const Ranges& ranges_;
  std::string indent_;
  std::string statements_;
  std::map<const Halide::Internal::IRNode*, std::pair<Expr, std::string>> written_;  ///< the Expr keeps its node alive
  int next_ = 0;
};

}  // namespace collage::native::cuda
