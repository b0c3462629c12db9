#include "check_program.h"

#include <algorithm>

#include "operand_types.h"
#include "result_extents.h"

namespace collage::xnnpack {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

bool are_sizes(const Extents& extents) {
  return !extents.empty() && extents.size() <= kMostTensorAxes && element_count(extents) >= 1 &&
         element_count(extents) <= kMostElements;
}

/// The only integers of 32 bits are biases, which are literals.
bool has_role_of_type(const TensorInfo& tensor) {
  return tensor.type != ElementType::kInt32 || tensor.role == Role::kLiteral;
}

struct Arity {
  std::size_t least, most;
};

Arity arity_of(OpKind kind) {
  switch (kind) {
    case OpKind::kConvolution:
    case OpKind::kDepthwiseConvolution:
    case OpKind::kDeconvolution:
    case OpKind::kFullyConnected:
      return {.least = 2, .most = 3};
    case OpKind::kBatchMatMul:
    case OpKind::kBinary:
      return {.least = 2, .most = 2};
    case OpKind::kConcat:
      return {.least = 2, .most = 5};
    default:
      return {.least = 1, .most = 1};
  }
}

class Check {
 public:
  explicit Check(const Program& program) : program_(program), written_(program.tensors.size(), false) {
    for (std::size_t i = 0; i < written_.size(); ++i)
      written_[i] = program.tensors[i].role != Role::kOutput && program.tensors[i].role != Role::kTemporary;
  }

  Result<void> run() {
    for (const TensorInfo& tensor : program_.tensors) {
      if (!are_sizes(tensor.extents)) return bad_artifact("a tensor of no elements, or beyond all memory");
      if (!has_role_of_type(tensor)) return bad_artifact("integers of 32 bits that are no literal");
    }
    for (const Op& op : program_.ops) {
      const Arity arity = arity_of(op.kind);
      if (op.inputs.size() < arity.least || op.inputs.size() > arity.most)
        return bad_artifact("an operation of other inputs");
      if (!exists(op.output) || !std::ranges::all_of(op.inputs, [&](int input) { return exists(input); }))
        return bad_artifact("an operation on a tensor that does not exist");
      if (!std::ranges::all_of(op.inputs, [&](int input) { return written_[at(input)]; }))
        return bad_artifact("a tensor that is read before it is written");
      if (written_[at(op.output)]) return bad_artifact("a tensor that is written twice");
      if (!has_fitting_types(program_, op)) return bad_artifact("an operation on tensors of types that do not fit it");
      if (result_extents(program_, op) != program_.tensors[at(op.output)].extents)
        return bad_artifact("an operation on tensors that do not fit it");
      written_[at(op.output)] = true;
    }
    for (std::size_t i = 0; i < written_.size(); ++i)
      if (program_.tensors[i].role == Role::kOutput && !written_[i]) return bad_artifact("an output without numbers");
    return {};
  }

 private:
  static std::size_t at(int tensor) { return static_cast<std::size_t>(tensor); }
  [[nodiscard]] bool exists(int tensor) const { return tensor >= 0 && tensor < std::ssize(program_.tensors); }

  const Program& program_;
  std::vector<bool> written_;
};

}  // namespace

Result<void> check_program(const Program& program) { return Check(program).run(); }

}  // namespace collage::xnnpack
