// Who runs what in a plan file and why: plan/explain for one of its shapes, or for the file as a whole.
// In:  a plan file, `--shape` bindings, perhaps a node or a question. Out: text and JSON.
#pragma once

#include <string>

#include <optional>
#include <vector>

#include "api/tune/measure_what_if.h"
#include "backend/registry.h"
#include "ir/shape_bindings.h"
#include "plan/signature/key.h"

namespace collage {

struct ExplainOptions {
  std::string plan;
  Signers signers;                   ///< one of them must have signed the plan; empty = no signature is asked for
  ShapeBindings shapes;              ///< of a plan of many shapes: which; none, and no question = about all
  std::string node;                  ///< a glob: only the steps that compute these nodes; empty = all steps
  std::string why_not;               ///< "NODE=BACKEND": why the backend does not run the node, in place of the steps
  std::vector<std::string> what_if;  ///< "NODE=BACKEND[/VARIANT]": the best cover under these, in place of the steps
  std::optional<MeasureWhatIfOptions> measure;  ///< of what_if: the plan is made and timed
  // In addition; of a plan of many shapes, that of `shapes`.
  bool wants_page = false;
  bool wants_dot = false;
  bool wants_onnx = false;

  [[nodiscard]] bool wants_files() const { return wants_page || wants_dot || wants_onnx; }
};

struct ExplainReport {
  std::string text;
  std::string json;  ///< schema collage.explain*/N (docs/CLI.md)
  // Empty unless asked for.
  std::string page = {};  ///< HTML (api/tune/page/plan_page.h)
  std::string dot = {};   ///< for Graphviz (plan/explain/plan_dot.h)
  std::string onnx = {};  ///< the graph of the plan; who runs a node is in its metadata (tune/confirm/assemble.h)
};

/// Errors: those of loading the plan; shape/*, plan/no-such-node, plan/no-explanation; those of what_if().
[[nodiscard]] Result<ExplainReport> explain_plan(const ExplainOptions& options, Registry& registry);

}  // namespace collage
