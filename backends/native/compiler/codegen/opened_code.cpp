#include "compiler/codegen/opened_code.h"

#include <algorithm>
#include <map>
#include <span>
#include <sstream>

#include <fmt/format.h>

#include "compiler/analysis/site.h"
#include "compiler/expressions/expression.h"

namespace collage::native {
namespace {

using Parameters = std::map<std::string, Halide::Parameter>;

/// Why a buffer of the pipeline is not what the description says of it; empty when it is.
std::string misfit(const std::string& name, Halide::Type type, int dimensions, const Argument& argument) {
  if (type == stored_type(argument.type) && dimensions == static_cast<int>(argument.extents.size())) return {};
  std::ostringstream saw;
  saw << type;
  return fmt::format("{} is {} of rank {} in the pipeline, {} of rank {} in its description", name, saw.str(),
                     dimensions, name_of(argument.type), argument.extents.size());
}

/// Parameters of our own in place of the pipeline's inputs, with the shapes that the description gives.
std::expected<Parameters, Refusal> described_parameters(const collage::TensorCode& given) {
  Parameters parameters;
  for (std::size_t i = 0; i < given.parameters.size(); ++i) {
    const Argument& argument = given.arguments[i];
    Halide::Parameter parameter(stored_type(argument.type), true, static_cast<int>(argument.extents.size()),
                                given.parameters[i]);
    fix_shape(parameter, argument);
    if (!parameters.emplace(given.parameters[i], parameter).second)
      return refuse(RefusalReason::kCompile, "two arguments for parameter " + given.parameters[i]);
  }
  return parameters;
}

/// The pipeline reads what is described, and nothing else.
std::expected<void, Refusal> check_inputs(const Halide::Pipeline& pipeline, const collage::TensorCode& given) {
  for (const Halide::Argument& argument : Halide::Pipeline(pipeline).infer_arguments()) {
    if (argument.name == "__user_context") continue;
    const auto found = std::ranges::find(given.parameters, argument.name);
    if (found == given.parameters.end())
      return refuse(RefusalReason::kCompile, "the pipeline reads " + argument.name + ", which no argument describes");
    const Argument& described = given.arguments[static_cast<std::size_t>(found - given.parameters.begin())];
    if (auto words = misfit(argument.name, argument.type, argument.dimensions, described); !words.empty())
      return refuse(RefusalReason::kCompile, std::move(words));
  }
  return {};
}

std::expected<void, Refusal> fix_outputs(const Halide::Pipeline& pipeline, std::span<const Argument> arguments) {
  std::size_t next = 0;
  for (const Halide::Func& func : pipeline.outputs()) {
    bool is_first = true;
    for (const auto& buffer : func.output_buffers()) {
      if (next == arguments.size()) return refuse(RefusalReason::kCompile, "more outputs than arguments describe");
      if (auto words = misfit(buffer.name(), buffer.type(), buffer.dimensions(), arguments[next]); !words.empty())
        return refuse(RefusalReason::kCompile, std::move(words));
      fix_shape(buffer.parameter(), arguments[next++], std::exchange(is_first, false));
    }
  }
  if (next < arguments.size()) return refuse(RefusalReason::kCompile, "fewer outputs than arguments describe");
  return {};
}

}  // namespace

std::expected<TensorCode, Refusal> opened_code(const collage::TensorCode& given, const std::string& name) {
  const auto parameters = described_parameters(given);
  if (!parameters) return std::unexpected(parameters.error());
  const std::vector<std::uint8_t> bytes(given.pipeline.begin(), given.pipeline.end());
  TensorCode code{.name = name, .pipeline = Halide::deserialize_pipeline(bytes, *parameters)};
  if (auto checked = check_inputs(code.pipeline, given); !checked) return std::unexpected(checked.error());
  const std::span<const Argument> outputs = std::span(given.arguments).subspan(given.parameters.size());
  if (auto fixed = fix_outputs(code.pipeline, outputs); !fixed) return std::unexpected(fixed.error());
  for (std::size_t i = 0; i < given.parameters.size(); ++i)
    code.inputs.emplace_back(given.parameters[i], Halide::Argument::InputBuffer, stored_type(given.arguments[i].type),
                             static_cast<int>(given.arguments[i].extents.size()), Halide::ArgumentEstimates{});
  code.arguments = given.arguments;
  code.constants = given.constants;
  for (std::uint32_t i = 0; i < given.constants.size(); ++i) code.parts.push_back({.source = i});
  return code;
}

}  // namespace collage::native
