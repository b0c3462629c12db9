// What the inference functions of our schemas share: shapes and attributes of a node, types passed on.
// In:  ONNX's context of one node. Out: types of its outputs in that context; unknown types stay so.
// Threads: none of its own; a context belongs to one call.
#pragma once

#include <onnx/defs/shape_inference.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "onnx/proto.h"

namespace collage {

using InferenceContext = pb::InferenceContext;
using Dimension = pb::TensorShapeProto::Dimension;

[[nodiscard]] bool has_input_shape(InferenceContext& context, std::size_t input);
/// Of an input that has one.
[[nodiscard]] const pb::TensorShapeProto& input_shape(InferenceContext& context, std::size_t input);
[[nodiscard]] bool has_output(InferenceContext& context, std::size_t output);
[[nodiscard]] std::int64_t int_of(InferenceContext& context, const char* name, std::int64_t fallback);

/// The output has the input's element type; nothing happens where either is not there.
void pass_element(InferenceContext& context, std::size_t input, std::size_t output);
/// The output has the input's type and shape.
void pass_through(InferenceContext& context, std::size_t input, std::size_t output);
void same_as_first(InferenceContext& context);

/// The inference of an operator of ONNX itself.
[[nodiscard]] pb::InferenceFunction same_as(const char* op, int version);
/// Output 0 broadcasts inputs `a` and `b` and has the element type of `a`.
[[nodiscard]] pb::InferenceFunction broadcast_of(std::size_t a, std::size_t b);

/// Which of the last two dimensions of a product's operands change places.
struct Transposed {
  bool a = false;
  bool b = false;
};
/// Output 0 is the product of inputs `a` [.., m, k] and `b` [.., k, n]: [.., m, n]. Vectors are left unknown.
void infer_product(InferenceContext& context, std::size_t a, std::size_t b, Transposed transposed = {});

}  // namespace collage
