// What is known about a node's operands before it runs: constants, element types and extents, as far as they are known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "onnx/limits.h"
#include "onnx/proto.h"

namespace collage {

/// The numbers or words of an attribute or a constant operand. One of the three has entries, unless it is an empty
/// list.
struct RuleValue {
  std::vector<std::int64_t> ints;
  std::vector<double> floats;
  std::vector<std::string> words;
  bool is_list = true;
  std::int64_t rank = 1;  ///< of an operand

  [[nodiscard]] std::size_t size() const { return ints.size() + floats.size() + words.size(); }
};

/// For a message: at most a few of its entries.
[[nodiscard]] std::string shown(const RuleValue& value);

inline constexpr std::int64_t kUnknownExtent = -1;
using KnownExtents = std::vector<std::int64_t>;  ///< kUnknownExtent where one is open

/// The constants and the declared or inferred types that nodes of a graph see.
class FactScope {
 public:
  explicit FactScope(const pb::GraphProto& graph, const FactScope* outer = nullptr);
  [[nodiscard]] const pb::TensorProto* constant(const std::string& name) const;
  [[nodiscard]] std::optional<KnownExtents> extents(const std::string& name) const;

 private:
  const FactScope* outer_;
  std::unordered_map<std::string, const pb::TensorProto*> constants_;
  std::unordered_map<std::string, const pb::TypeProto*> types_;
};

struct NodeFacts {
  const pb::NodeProto& node;
  std::int64_t opset = 0;
  const ImportLimits& limits;
  const FactScope* scope = nullptr;  ///< nothing inside functions
  bool knows_shapes = false;         ///< false in bodies: one that never runs need not fit the shapes that come in

  [[nodiscard]] std::optional<RuleValue> attribute(std::string_view name) const;
  /// The integers of an attribute, one or a list; empty without it.
  [[nodiscard]] std::vector<std::int64_t> ints(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t fallback) const;
  [[nodiscard]] bool has_operand(std::size_t i) const;
  /// A constant of at most a few thousand elements.
  [[nodiscard]] std::optional<RuleValue> operand(std::size_t i) const;
  [[nodiscard]] std::optional<KnownExtents> extents(std::size_t i) const;
  [[nodiscard]] std::optional<std::int64_t> rank(std::size_t i) const;
  /// kUnknownExtent when it is open or there is none.
  [[nodiscard]] std::int64_t extent(std::size_t i, std::int64_t axis) const;
};

}  // namespace collage
