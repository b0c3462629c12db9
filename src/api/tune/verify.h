// Runs a plan and the reference on the same inputs and compares every output.
// In:  a plan, seeds. Out: the largest difference of each output, at each shape.
// Cost: one run of plan and reference for each seed and shape.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/tune/source_model.h"
#include "backend/registry.h"
#include "ir/shape_bindings.h"
#include "plan/signature/key.h"
#include "sandbox/model_reader.h"

namespace collage {

struct VerifyOptions {
  std::string plan;
  Signers signers = {};  ///< one of them must have signed the plan; empty = no signature is asked for
  std::optional<std::string> model;
  ModelReader reader = {};  ///< of the model
  ShapeBindings shapes;     ///< of a plan of many shapes: which; none = every case, and two shapes that are none
  int seeds = 1;            ///< how many input sets
  std::uint64_t seed = 1;   ///< the first of them
  std::map<std::string, std::pair<double, double>> input_ranges;
};

/// The largest difference of one output over all seeds.
struct OutputCheck {
  std::string name;
  std::string shape;  ///< "batch=4, seq=64"; empty for a plan of fixed shapes
  double max_abs = 0;
  double max_rel = 0;
  bool ok = true;
  std::string detail;  ///< first difference out of bounds: element, seen, expected, allowed
};

struct VerifyReport {
  bool ok = true;
  int seeds = 0;
  std::vector<OutputCheck> outputs;
  std::vector<std::string> notes;
};

[[nodiscard]] Result<VerifyReport> verify_plan(const VerifyOptions& options, Registry& registry);

[[nodiscard]] std::string to_text(const VerifyReport& report);
[[nodiscard]] std::string to_json(const VerifyReport& report);

}  // namespace collage
