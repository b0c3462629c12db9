// Imports an ONNX model as a verified graph at the canonical versions (opset 26, IR 10), with functions inlined, open
// dimensions bound, shapes inferred and shape arithmetic folded. Also reads back what export.h writes.
// In:  the bytes of a model (opset 7 to 28) and the user's shapes. Out: Imported.
// Source: ONNX's C++ library (checker, inliner, version converter, shape inference). The rewrites of legacy_rules.h run
//       first, for operators whose meaning the version converter changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/graph.h"
#include "ir/shape_bindings.h"
#include "onnx/limits.h"

namespace collage {

struct ImportOptions {
  ShapeBindings shapes;
  bool allow_unbound = false;  ///< leave unbound dimensions symbolic instead of refusing the model
  /// True for an operator of a vendor's domain that some backend runs; without it no vendor operator is known.
  std::function<bool(std::string_view domain, std::string_view op)> knows_vendor_operator;
  ImportLimits limits;
  bool wants_file = true;  ///< Imported::bound_model is made
  /// The types of a model's outputs, by name: asked for what operators of vendors give whose inference nobody here has.
  std::function<Result<std::map<std::string, ValueType>>(const std::string& model)> vendor_types;
};

struct Imported {
  Graph graph;
  /// The user's model at its own opset, dimensions bound, external data inside, initialisers no longer inputs: what
  /// rivals and the import check run. Empty where the weights exceed what a message holds, and where it is not wanted.
  std::string bound_model;
  std::string model_hash;  ///< of the file's bytes and its external data, 32 hexadecimal digits
  std::int64_t opset = 0;  ///< of the default domain in the file; 0 when the file does not import it
  std::map<std::string, std::string> metadata;  ///< the file's metadata_props
  std::vector<std::string> notes;  ///< changes by import that the user should know about, one sentence each
  std::map<std::string, Buffer>
      weight_files;  ///< external data that constants share, mapped, by the model's name for it
};

/// Imports a model file.
/// Errors: import/* (see docs), exit 3 for bad models and unbound dimensions, 4 for unsupported features, 5 for
/// sizes, 6 for files. Threads: safe to call at the same time. Never throws.
[[nodiscard]] Result<Imported> import_model(const std::string& path, const ImportOptions& options = {});
/// The same for bytes in memory; external data is looked for in `folder` (empty: there must be none).
[[nodiscard]] Result<Imported> import_model(const std::string& bytes, const std::string& folder,
                                            const ImportOptions& options);

/// Parses a file written by export_graph, without conversion. External data is mapped, never copied, from `folder`.
/// read_graph(export_graph(g)) == g for every verified graph. Errors: import/*.
[[nodiscard]] Result<Graph> read_graph(const std::string& bytes, const std::string& folder);

}  // namespace collage
