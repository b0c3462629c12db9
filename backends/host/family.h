// The interface of an operator family of the host backend: whether it supports a region, its artifact, its kernel. A
// family is a row of the table in families.cpp; the backend asks the first family that knows the region's operators.
#pragma once

#include <expected>
#include <string_view>
#include <vector>

#include "backend/backend.h"
#include "base/json_numbers.h"

namespace collage::host {

/// A region under a family's eyes. `node` is its first node; only the element-wise family takes more than one.
struct Site {
  const Graph& graph;
  const Region& region;
  const Node& node;

  [[nodiscard]] const ValueType& type(ValueId id) const { return graph.value(id).type; }
  /// Type of the node's i-th input or output, which must be there.
  [[nodiscard]] const ValueType& input_type(std::size_t i) const { return type(node.inputs[i]); }
  [[nodiscard]] const ValueType& output_type(std::size_t i) const { return type(node.outputs[i]); }
  /// The constant integers behind an input; nothing when it is omitted or computed.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::size_t i) const;
  /// Position of a value among the region's inputs or outputs.
  [[nodiscard]] std::optional<std::uint32_t> input_port(ValueId id) const;
  [[nodiscard]] std::optional<std::uint32_t> output_port(ValueId id) const;
};

/// What compile() of a family makes: becomes an Artifact.
struct Draft {
  nlohmann::json program;
  std::vector<ValueId> constants;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;
  std::size_t workspace_bytes = 0;
};

using Variants = std::expected<std::vector<Variant>, Refusal>;
using Drafted = std::expected<Draft, Refusal>;

struct Family {
  std::string_view name;
  bool (*knows)(const Node& node);
  /// The border is static and the element types are of whole bytes when this is asked.
  Variants (*support)(const Site& site);
  Drafted (*compile)(const Site& site, const Variant& variant);
  /// May throw nlohmann::json::exception for a broken program.
  Result<std::unique_ptr<Kernel>> (*load)(const nlohmann::json& program, const LoadRequest& request);
  bool takes_chains = false;  ///< also regions of several nodes
  bool takes_narrow = false;  ///< compiles variants whose float32 ports are all narrow, too
};

[[nodiscard]] inline std::unexpected<Refusal> refuse(RefusalReason reason, std::string detail) {
  return std::unexpected(Refusal{reason, std::move(detail)});
}

/// The rows of the table, one for each file family_*.cpp.
extern const Family kMovement;
extern const Family kElementwise;
extern const Family kGather;
extern const Family kSoftmax;
extern const Family kReduce;
extern const Family kNormalise;
extern const Family kResize;

[[nodiscard]] std::vector<const Family*> all_families();

/// A port format per input and output: `same` where the rank allows channels_last and the rank is `rank`, plain
/// elsewhere.
[[nodiscard]] Variant uniform_variant(const Site& site, const Format& format, std::size_t rank);

/// The variants "plain" and, where every output and at least one input can be, "channels_last".
[[nodiscard]] std::vector<Variant> uniform_variants(const Site& site);

/// `axis` counted from the front.
[[nodiscard]] inline std::int64_t from_front(std::int64_t axis, std::size_t rank) {
  return axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
}

}  // namespace collage::host
