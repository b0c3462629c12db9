#include "onnx/bind.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/suggest.h"

namespace collage {
namespace {

using Symbols = std::map<std::string, std::int64_t>;

bool is_open(const pb::TensorShapeProto::Dimension& dim) { return !dim.has_dim_value() || dim.dim_value() < 0; }

pb::TypeProto::Tensor* tensor_type(pb::ValueInfoProto& value) {
  return value.type().has_tensor_type() ? value.mutable_type()->mutable_tensor_type() : nullptr;
}

std::string join(const auto& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// "x[N,3,?,?]" as the model declares it.
std::string declared_shape(const pb::ValueInfoProto& value) {
  const auto& type = value.type().tensor_type();
  if (!type.has_shape()) return value.name() + "[of unknown rank]";
  std::string text;
  for (const auto& dim : type.shape().dim()) {
    if (!text.empty()) text += ",";
    if (!is_open(dim))
      text += std::to_string(dim.dim_value());
    else
      text += dim.dim_param().empty() ? "?" : dim.dim_param();
  }
  return value.name() + "[" + text + "]";
}

std::string joined_by_x(const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

/// The symbols that name a dimension of an input or an output.
std::set<std::string> symbols_of(const pb::GraphProto& graph) {
  std::set<std::string> symbols;
  const auto collect = [&](const auto& values) {
    for (const auto& value : values)
      for (const auto& dim : value.type().tensor_type().shape().dim())
        if (is_open(dim) && !dim.dim_param().empty()) symbols.insert(dim.dim_param());
  };
  collect(graph.input());
  collect(graph.output());
  return symbols;
}

/// Writes `extents` over the declared shape of one input; the extents of its symbols are written to `implied`.
Result<void> bind_input(pb::ValueInfoProto& input, const std::vector<std::int64_t>& extents,
                        std::map<std::string, std::set<std::int64_t>>& implied) {
  auto* type = tensor_type(input);
  const auto mismatch = [&](std::string allowed) {
    return fail(ExitCode::kBadInput, "import/shape-mismatch", "input '" + input.name() + "'",
                "shape '" + joined_by_x(extents) + "'", std::move(allowed));
  };
  if (!type) return mismatch("no shape: the input is not a tensor");
  const bool has_rank = type->has_shape();
  if (has_rank && type->shape().dim_size() != static_cast<int>(extents.size())) return mismatch(declared_shape(input));
  for (std::size_t i = 0; i < extents.size(); ++i) {
    auto* dim = has_rank ? type->mutable_shape()->mutable_dim(static_cast<int>(i)) : type->mutable_shape()->add_dim();
    if (!is_open(*dim) && dim->dim_value() != extents[i]) return mismatch(declared_shape(input));
    if (!dim->dim_param().empty()) implied[dim->dim_param()].insert(extents[i]);
  }
  type->mutable_shape();  // a scalar of unknown rank gets its empty shape
  for (std::size_t i = 0; i < extents.size(); ++i)
    type->mutable_shape()->mutable_dim(static_cast<int>(i))->set_dim_value(extents[i]);
  return {};
}

/// What inputs imply must be what the user says of the dimension itself.
Result<void> check_agreement(const Symbols& symbols, const std::map<std::string, std::set<std::int64_t>>& implied) {
  for (const auto& [symbol, extents] : implied) {
    const auto said = symbols.find(symbol);
    if (said == symbols.end()) continue;
    for (const std::int64_t extent : extents)
      if (extent != said->second)
        return fail(ExitCode::kBadInput, "import/shape-mismatch", "dimension " + symbol,
                    std::to_string(extent) + " in an input, and --shape " + symbol + "=" + std::to_string(said->second),
                    "one extent for it");
  }
  return {};
}

/// Replaces known symbols in a type, also inside sequences and optionals.
void substitute(pb::TypeProto& type, const Symbols& symbols) {
  if (type.has_sequence_type()) return substitute(*type.mutable_sequence_type()->mutable_elem_type(), symbols);
  if (type.has_optional_type()) return substitute(*type.mutable_optional_type()->mutable_elem_type(), symbols);
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return;
  for (auto& dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim()) {
    if (!is_open(dim)) continue;
    if (const auto known = symbols.find(dim.dim_param()); known != symbols.end())
      dim.set_dim_value(known->second);
    else if (dim.has_dim_value())
      dim.clear_dim_value();  // -1, an exporter's way to say unknown
  }
}

void substitute_everywhere(pb::GraphProto& graph, const Symbols& symbols) {
  for_each_graph(graph, [&](pb::GraphProto& one) {
    for (auto& value : *one.mutable_input())
      if (value.has_type()) substitute(*value.mutable_type(), symbols);
    for (auto& value : *one.mutable_output())
      if (value.has_type()) substitute(*value.mutable_type(), symbols);
  });
}

/// An unknown name, most often a mistyped one.
std::unexpected<Error> unknown_binding(const std::string& name, const pb::GraphProto& graph,
                                       const std::set<std::string>& dimensions) {
  std::vector<std::string> allowed;
  std::vector<std::string> known(dimensions.begin(), dimensions.end());
  for (const auto& input : graph.input()) {
    allowed.push_back(declared_shape(input));
    known.push_back(input.name());
  }
  return fail(ExitCode::kUsage, "import/unknown-binding", "--shape " + name,
              "neither an input nor an open dimension of the model" + did_you_mean(name, known),
              "the inputs and dimensions of " + join(allowed));
}

Result<void> refuse_unbound(const pb::GraphProto& graph) {
  std::vector<std::string> inputs;
  std::vector<std::string> remedies;
  for (const auto& input : graph.input()) {
    if (!input.type().has_tensor_type()) continue;
    const auto& type = input.type().tensor_type();
    if (type.has_shape() && std::ranges::none_of(type.shape().dim(), is_open)) continue;
    inputs.push_back(declared_shape(input));
    std::string example;
    for (const auto& dim : type.shape().dim())
      example += (example.empty() ? "" : "x") + (is_open(dim) ? std::string("1") : std::to_string(dim.dim_value()));
    remedies.push_back("--shape " + input.name() + "=" + (type.has_shape() ? example : "EXTENTS"));
  }
  if (inputs.empty()) return {};
  return fail(ExitCode::kBadInput, "import/unbound-dimension", join(inputs), "dimensions without an extent",
              "an extent for each, for example " + join(remedies));
}

}  // namespace

void repair_initialisers(pb::ModelProto& model, std::vector<std::string>& notes) {
  auto& graph = *model.mutable_graph();
  std::set<std::string> constants;
  for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) constants.insert(tensor.values().name());
  auto& inputs = *graph.mutable_input();
  const auto kept = std::stable_partition(inputs.begin(), inputs.end(),
                                          [&](const auto& input) { return !constants.contains(input.name()); });
  const auto count = inputs.end() - kept;
  inputs.erase(kept, inputs.end());
  if (model.ir_version() < 4) model.set_ir_version(4);
  if (count > 0) notes.push_back(std::to_string(count) + " initialisers that were also inputs became constants");
}

void drop_declared_shapes(pb::GraphProto& graph) {
  for_each_graph(graph, [](pb::GraphProto& one) {
    one.clear_value_info();
    for (auto& output : *one.mutable_output())
      if (auto* type = tensor_type(output)) type->clear_shape();
  });
}

ShapeBindings with_arrays(ShapeBindings bindings, const pb::GraphProto& graph, const ArrayShapes& arrays) {
  for (const auto& input : graph.input()) {
    const auto array = arrays.find(input.name());
    if (array == arrays.end() || !input.type().has_tensor_type()) continue;
    const auto& type = input.type().tensor_type();
    if (!type.has_shape() || std::ranges::any_of(type.shape().dim(), is_open))
      bindings.entries.emplace(input.name(), joined_by_x(array->second));
  }
  return bindings;
}

Result<void> bind_dimensions(pb::ModelProto& model, const ShapeBindings& bindings, bool allow_unbound,
                             std::vector<std::string>& notes) {
  auto& graph = *model.mutable_graph();
  const std::set<std::string> declared = symbols_of(graph);
  Symbols symbols;
  std::map<std::string, std::set<std::int64_t>> implied;
  std::set<std::string> unused;
  for (const auto& [name, text] : bindings.entries) unused.insert(name);

  for (auto& input : *graph.mutable_input()) {
    const auto entry = bindings.entries.find(input.name());
    if (entry == bindings.entries.end()) continue;
    COLLAGE_TRY(const auto extents, parse_extents(entry->first, entry->second));
    COLLAGE_TRY_VOID(bind_input(input, extents, implied));
    unused.erase(input.name());
  }
  for (const std::string& name : std::set<std::string>(unused)) {
    if (!declared.contains(name)) continue;
    const std::string& text = bindings.entries.at(name);
    COLLAGE_TRY(const auto extents, parse_extents(name, text));
    if (extents.size() != 1)
      return fail(ExitCode::kUsage, "shape/malformed", "--shape " + name, "'" + text + "'", "one extent");
    symbols[name] = extents[0];
    unused.erase(name);
  }
  if (!unused.empty()) return unknown_binding(*unused.begin(), graph, declared);
  COLLAGE_TRY_VOID(check_agreement(symbols, implied));
  for (const auto& [symbol, extents] : implied) {
    if (extents.size() == 1)
      symbols.emplace(symbol, *extents.begin());
    else
      notes.push_back("inputs give the dimension '" + symbol + "' different extents; each keeps its own");
  }
  substitute_everywhere(graph, symbols);
  return allow_unbound ? Result<void>{} : refuse_unbound(graph);
}

}  // namespace collage
