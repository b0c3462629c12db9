#include <algorithm>
#include <optional>

#include "onnx/rules/rule_checks.h"

namespace collage::rules {
namespace {

/// Sums of a few of them fit into 32 bits, in which engines count positions.
constexpr std::int64_t kMostWindow = (std::int64_t{1} << 30) - 1;

std::string window_numbers(const RuleQuestion& question, std::int64_t low) {
  for (const std::int64_t one : question.value.ints)
    if (one < low || one > kMostWindow) return std::to_string(low) + " to " + std::to_string(kMostWindow);
  return {};
}

/// The operand with the weights of a convolution; nothing for pools.
std::optional<std::size_t> weights_of(const NodeFacts& facts) {
  const std::string& op = facts.node.op_type();
  if (op == "QLinearConv") return 3;
  if (op.find("Conv") != std::string::npos) return 1;
  return std::nullopt;
}

/// Dimensions that the window moves along, from whatever tells; nothing when nothing does.
std::optional<std::size_t> spatial_count(const NodeFacts& facts) {
  if (const auto rank = facts.rank(0); rank && *rank >= 2) return static_cast<std::size_t>(*rank - 2);
  for (const char* name : {"kernel_shape", "strides", "dilations"})
    if (const auto entries = facts.attribute(name)) return entries->ints.size();
  return std::nullopt;
}

std::string length_of(const RuleQuestion& question, std::size_t per_dimension) {
  const auto count = spatial_count(question.facts);
  if (!count || question.value.ints.size() == *count * per_dimension) return {};
  return std::to_string(*count * per_dimension) + " numbers for " + std::to_string(*count) + " spatial dimensions";
}

/// a and b known and a no multiple of b.
bool is_no_multiple(std::int64_t a, std::int64_t b) { return a != kUnknownExtent && b > 0 && a % b != 0; }

std::int64_t number_at(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t fallback) {
  return i < list.size() ? list[i] : fallback;
}

}  // namespace

std::string group(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  if (question.value.ints.size() != 1) return "one number";
  const std::int64_t groups = question.value.ints.front();
  const NodeFacts& facts = question.facts;
  const auto weights = weights_of(facts);
  const std::int64_t channels = facts.extent(0, 1);
  if (is_no_multiple(channels, groups)) return "a divisor of its " + std::to_string(channels) + " channels";
  if (!weights) return {};
  const bool is_transposed = facts.node.op_type() == "ConvTranspose";
  const std::int64_t made = is_transposed ? kUnknownExtent : facts.extent(*weights, 0);
  if (is_no_multiple(made, groups)) return "a divisor of its " + std::to_string(made) + " output channels";
  const std::int64_t read = facts.extent(*weights, is_transposed ? 0 : 1);
  const std::int64_t wanted = is_transposed ? channels : channels / groups;
  if (channels != kUnknownExtent && read != kUnknownExtent && read != wanted)
    return "groups of " + std::to_string(read) + " channels, as its weights have";
  return {};
}

std::string channel_groups(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  const std::int64_t channels = question.facts.extent(0, 1);
  if (question.value.ints.size() == 1 && is_no_multiple(channels, question.value.ints.front()))
    return "a divisor of its " + std::to_string(channels) + " channels";
  return {};
}

std::string kernel(const RuleQuestion& question) {
  if (std::string problem = window_numbers(question, 1); !problem.empty()) return problem;
  if (std::string problem = length_of(question, 1); !problem.empty()) return problem;
  const auto weights = weights_of(question.facts);
  if (!weights) return {};
  const auto extents = question.facts.extents(*weights);
  if (!extents || extents->size() != question.value.ints.size() + 2) return {};
  for (std::size_t i = 0; i < question.value.ints.size(); ++i) {
    const std::int64_t extent = (*extents)[i + 2];
    if (extent != kUnknownExtent && extent != question.value.ints[i])
      return "the extents of its weights, " + std::to_string(extent) + " in dimension " + std::to_string(i + 2);
  }
  return {};
}

std::string strides(const RuleQuestion& question) {
  if (std::string problem = window_numbers(question, 1); !problem.empty()) return problem;
  return length_of(question, 1);
}

std::string window_pads(const RuleQuestion& question) {
  if (std::string problem = window_numbers(question, 0); !problem.empty()) return problem;
  if (std::string problem = length_of(question, 2); !problem.empty()) return problem;
  return auto_pad(question);
}

std::string pool_pads(const RuleQuestion& question) {
  if (std::string problem = window_numbers(question, 0); !problem.empty()) return problem;
  if (std::string problem = length_of(question, 2); !problem.empty()) return problem;
  const auto kernel_shape = question.facts.ints("kernel_shape");
  const auto dilations = question.facts.ints("dilations");
  for (std::size_t i = 0; i < question.value.ints.size() && !kernel_shape.empty(); ++i) {
    const std::size_t axis = i % kernel_shape.size();
    const std::int64_t dilation = std::clamp<std::int64_t>(number_at(dilations, axis, 1), 1, kMostWindow);
    const std::int64_t reach = (std::min(kernel_shape[axis], kMostWindow) - 1) * dilation + 1;
    if (question.value.ints[i] >= reach) return "less than the window, which reaches over " + std::to_string(reach);
  }
  return {};
}

std::string auto_pad(const RuleQuestion& question) {
  const auto how = question.facts.attribute("auto_pad");
  if (!how || how->words.size() != 1 || how->words.front() == "NOTSET") return {};
  const bool has_pads = std::ranges::any_of(question.facts.ints("pads"), [](std::int64_t one) { return one != 0; });
  return has_pads ? "either pads or auto_pad " + first_line(how->words.front()) : std::string();
}

std::string output_padding(const RuleQuestion& question) {
  if (std::string problem = window_numbers(question, 0); !problem.empty()) return problem;
  if (std::string problem = length_of(question, 1); !problem.empty()) return problem;
  const auto steps = question.facts.ints("strides");
  const auto dilations = question.facts.ints("dilations");
  for (std::size_t i = 0; i < question.value.ints.size(); ++i) {
    const std::int64_t bound = std::max(number_at(steps, i, 1), number_at(dilations, i, 1));
    if (question.value.ints[i] >= bound) return "less than the stride or the dilation, " + std::to_string(bound);
  }
  return {};
}

std::string depth_block(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  const std::int64_t channels = question.facts.extent(0, 1);
  const std::int64_t size = question.value.ints.empty() ? 1 : question.value.ints.front();
  if (is_no_multiple(channels, size * size))
    return "a number whose square divides its " + std::to_string(channels) + " channels";
  return {};
}

std::string space_block(const RuleQuestion& question) {
  if (std::string problem = positive(question); !problem.empty()) return problem;
  const std::int64_t size = question.value.ints.empty() ? 1 : question.value.ints.front();
  for (const std::int64_t axis : {2, 3})
    if (const std::int64_t extent = question.facts.extent(0, axis); is_no_multiple(extent, size))
      return "a divisor of extent " + std::to_string(extent);
  return {};
}

}  // namespace collage::rules
