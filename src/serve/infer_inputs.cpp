#include "serve/infer_inputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/run/shape_reader.h"
#include "serve/datatype.h"
#include "serve/text_tensor.h"

namespace collage {
namespace {

std::unexpected<Error> bad_input(std::string code, std::string where, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, std::move(code), std::move(where), std::move(saw), std::move(allowed));
}

/// Bytes of a tensor of this type; an error where the product does not fit, also of a tensor without elements.
Result<std::size_t> checked_bytes(ElementType type, const Extents& extents, const std::string& where) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents)
    if (__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product) || product > kMostElements)
      return bad_input("serve/too-large", where, fmt::format("an extent of {} and others", extent),
                       "at most 2^40 elements");
  return byte_count(type, extents);
}

/// Where the binary tensors lie: one after the other, in the order of the request.
Result<std::vector<std::span<const std::byte>>> binary_parts(const InferRequest& request,
                                                             std::span<const std::byte> binary) {
  std::vector<std::span<const std::byte>> parts;
  for (const RequestedInput& input : request.inputs) {
    const std::uint64_t size = input.binary_bytes.value_or(0);
    if (size > binary.size())
      return bad_input("serve/wrong-size", "input " + input.name, fmt::format("binary_data_size {}", size),
                       fmt::format("at most {}, which is what follows the JSON text", binary.size()));
    parts.push_back(binary.first(size));
    binary = binary.subspan(size);
  }
  if (!binary.empty())
    return bad_input("serve/wrong-size", "body", fmt::format("{} bytes behind the last tensor", binary.size()), "none");
  return parts;
}

Result<void> check_truth_values(std::span<const std::byte> bytes, const std::string& where) {
  const auto found = std::ranges::find_if(bytes, [](std::byte byte) { return byte > std::byte{1}; });
  if (found == bytes.end()) return {};
  return bad_input("serve/out-of-range", where, fmt::format("the byte {}", static_cast<int>(*found)),
                   "0 or 1 for BOOL");
}

/// The bytes of one input; those of JSON are kept in the request, and no longer as its elements.
Result<PendingInput> input_bytes(RequestedInput& input, std::span<const std::byte> part, const TensorPort& port,
                                 PendingRequest& pending) {
  const std::string where = "input " + port.name;
  if (input.datatype != datatype_of(port.type.element))
    return bad_input("serve/wrong-datatype", where, input.datatype.empty() ? "no datatype" : input.datatype,
                     std::string(datatype_of(port.type.element)));
  if (!input.shape) return bad_input("input/wrong-shape", where, "no shape", to_string(port.type));
  COLLAGE_TRY(const std::size_t bytes, checked_bytes(port.type.element, *input.shape, where));
  if (input.binary_bytes && input.data)
    return bad_input("serve/no-data", where, "data and binary_data_size", "one of the two");
  if (!input.binary_bytes && !input.data)
    return bad_input("serve/no-data", where, "neither data nor binary_data_size", "one of the two");
  if (input.data) {
    COLLAGE_TRY(std::string own, input.data->bytes(port.type.element, *input.shape, where));
    pending.own.push_back(std::move(own));
    input.data.reset();
    part = std::as_bytes(std::span(pending.own.back()));
  }
  if (port.type.element == ElementType::kString) {
    // Here and not in the worker, so that one bad request fails alone.
    if (const auto texts = texts_in(part, *input.shape, where); !texts) return std::unexpected(texts.error());
    return PendingInput{.extents = *input.shape, .bytes = part};
  }
  if (part.size() != bytes)
    return bad_input("serve/wrong-size", where, fmt::format("binary_data_size {}", part.size()),
                     fmt::format("{} for its shape", bytes));
  if (port.type.element == ElementType::kBool) COLLAGE_TRY_VOID(check_truth_values(part, where));
  return PendingInput{.extents = *input.shape, .bytes = part};
}

Result<void> fill_inputs(InferRequest& request, std::span<const std::byte> binary, const LoadedPlan& plan,
                         PendingRequest& pending) {
  COLLAGE_TRY(const auto parts, binary_parts(request, binary));
  std::vector<RequestedInput*> given(plan.inputs().size());
  for (RequestedInput& input : request.inputs) {
    COLLAGE_TRY(const std::size_t which, plan.input_index(input.name));
    if (given[which] != nullptr)
      return bad_input("serve/duplicate-input", "input " + input.name, "the input twice", "each input once");
    given[which] = &input;
  }
  pending.own.reserve(given.size());  // spans point into its texts
  for (std::size_t i = 0; i < given.size(); ++i) {
    const TensorPort& port = plan.inputs()[i];
    if (given[i] == nullptr)
      return bad_input("input/missing", "input " + port.name, "no such input in the request", to_string(port.type));
    const auto at = static_cast<std::size_t>(given[i] - request.inputs.data());
    COLLAGE_TRY(PendingInput input, input_bytes(*given[i], parts[at], port, pending));
    pending.inputs.push_back(std::move(input));
  }
  return {};
}

Result<void> fill_wanted(const InferRequest& request, const LoadedPlan& plan, PendingRequest& pending) {
  pending.wanted.assign(plan.outputs().size(), !request.outputs);
  if (!request.outputs) return {};
  for (const RequestedOutput& output : *request.outputs) {
    COLLAGE_TRY(const std::size_t which, plan.output_index(output.name));
    if (pending.wanted[which])
      return bad_input("serve/duplicate-output", "output " + output.name, "the output twice", "each output once");
    pending.wanted[which] = true;
  }
  return {};
}

/// Whether the plan serves these extents, and the rows by which the request can be joined.
Result<void> check_shapes(const Model& model, PendingRequest& pending) {
  std::vector<Extents> extents;
  for (const PendingInput& input : pending.inputs) extents.push_back(input.extents);
  const PlanCases& cases = model.plan().cases();
  COLLAGE_TRY(const ShapePoint point, point_of_inputs(cases, extents));
  if (cases.domain.dimensions.empty()) return {};
  COLLAGE_TRY_VOID(plan_for(cases, point));
  if (model.batch_rule()) pending.rows = point[model.batch_rule()->dimension];
  return {};
}

}  // namespace

Result<void> fill_pending(InferRequest& request, std::span<const std::byte> binary, const Model& model,
                          PendingRequest& pending) {
  COLLAGE_TRY_VOID(fill_inputs(request, binary, model.plan(), pending));
  COLLAGE_TRY_VOID(fill_wanted(request, model.plan(), pending));
  return check_shapes(model, pending);
}

}  // namespace collage
