// ONNX's protobuf messages. Only files of this folder include this header, directly; no header that other folders see
// may include it. Also what these files share: access to attributes, unused names, a walk over nested graphs, and a
// guard that turns exceptions of ONNX's library into errors.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"

namespace collage {

namespace pb = ::onnx;

/// The domain of nodes that the version converter must not change; removed after the conversion.
inline constexpr std::string_view kFinalDomain = "collage.final";

/// The first line of a library's message, shortened for a terminal.
[[nodiscard]] std::string first_line(std::string_view message);

/// Runs `call`; an exception becomes an Error with the given code. ONNX's library reports everything by throwing.
template <class Call>
[[nodiscard]] Result<void> guarded(ExitCode exit, std::string_view code, std::string_view where, Call&& call) {
  try {
    call();
    return {};
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kLimit, "import/out-of-memory", std::string(where), "no memory left");
  } catch (const std::exception& error) {
    return fail(exit, std::string(code), std::string(where), first_line(error.what()));
  } catch (...) {
    return fail(exit, std::string(code), std::string(where), "an exception without a message");
  }
}

[[nodiscard]] const pb::AttributeProto* attribute_of(const pb::NodeProto& node, std::string_view name);
[[nodiscard]] std::int64_t int_attribute(const pb::NodeProto& node, std::string_view name, std::int64_t fallback);
[[nodiscard]] float float_attribute(const pb::NodeProto& node, std::string_view name, float fallback);
[[nodiscard]] std::string string_attribute(const pb::NodeProto& node, std::string_view name, std::string fallback);
[[nodiscard]] std::vector<std::int64_t> ints_attribute(const pb::NodeProto& node, std::string_view name);
void set_int(pb::NodeProto& node, std::string_view name, std::int64_t value);
void set_string(pb::NodeProto& node, std::string_view name, std::string_view value);
void remove_attribute(pb::NodeProto& node, std::string_view name);

/// "node 'NAME' (Conv)" for messages; falls back to the first output when the node has no name.
[[nodiscard]] std::string describe(const pb::NodeProto& node);
[[nodiscard]] inline bool is_standard(const pb::NodeProto& node) { return node.domain().empty(); }
[[nodiscard]] inline bool is_standard_op(const pb::NodeProto& node, std::string_view op) {
  return node.domain().empty() && node.op_type() == op;
}

/// Calls `visit` for the graph and for every body inside it, outer before inner.
void for_each_graph(pb::GraphProto& graph, const std::function<void(pb::GraphProto&)>& visit);
void for_each_graph(const pb::GraphProto& graph, const std::function<void(const pb::GraphProto&)>& visit);
/// Calls `visit` for every tensor of the graph, its bodies and their nodes' attributes.
void for_each_tensor(pb::GraphProto& graph, const std::function<void(pb::TensorProto&)>& visit);

/// Old name -> new name of values.
using Renames = std::map<std::string, std::string>;
/// Renames values wherever the graph and its bodies define or read them.
void rename_values(pb::GraphProto& graph, const Renames& renames);

/// The version the model imports of a domain; -1 when it does not import it.
[[nodiscard]] std::int64_t opset_of(const pb::ModelProto& model, std::string_view domain);
void set_opset(pb::ModelProto& model, std::string_view domain, std::int64_t version);

/// Names that are each used once.
class UniqueNames {
 public:
  void take(const std::string& name) { taken_.insert(name); }
  /// `stem` if it is free, else the first free of stem_1, stem_2, ... Takes it. Goes on counting where it was for this
  /// stem: a file may name everything alike.
  [[nodiscard]] std::string fresh(std::string_view stem);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> counted_;  ///< stem -> last number
};

/// Every value name of a model, for making new ones.
class Names {
 public:
  explicit Names(const pb::GraphProto& graph);
  /// An unused name that begins with `stem`.
  [[nodiscard]] std::string fresh(std::string_view stem) { return names_.fresh(stem); }

 private:
  UniqueNames names_;
};

/// A constant tensor message of int64 or float values.
[[nodiscard]] pb::TensorProto int64_tensor(std::string name, const std::vector<std::int64_t>& dims,
                                           const std::vector<std::int64_t>& values);
[[nodiscard]] pb::TensorProto float_tensor(std::string name, const std::vector<std::int64_t>& dims,
                                           const std::vector<float>& values);

}  // namespace collage
