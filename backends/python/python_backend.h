// A backend whose kernels are functions in Python, from one module of the user's.
// In:  the option `module`. Out: a Backend that is asked about the matches of the functions' patterns.
// How: the module is imported when the instance is made. Its source, Python and NumPy are the build that costs are of;
//       an artifact is only loaded with the source that it was made with. An artifact is a JSON text with module,
//       function and region: load() has the function prepare itself for that region, a run calls it with arrays in
//       place.
// Not here: arrays, exceptions and descriptions on the Python side (python/collage/extend/_bridge.py).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"
#include "bridge.h"

namespace collage::python {

/// A function as its module describes it.
struct RegionFunction {
  std::string name;
  Pattern pattern;    ///< the label is the name
  PatternForm form;   ///< of the pattern
  bool asks = false;  ///< it may refuse a region that the pattern matches
};

class PythonBackend final : public Backend {
 public:
  PythonBackend(std::string instance_name, const BackendOptions& options);

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override;
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override;
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override;

 private:
  /// Why it cannot be used.
  [[nodiscard]] std::expected<void, std::string> start(const BackendOptions& options);
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request) const;
  /// The function's own reason against the region.
  [[nodiscard]] std::optional<Refusal> refusal_of(const RegionFunction& function, const std::string& region) const;
  [[nodiscard]] std::string compatibility() const { return "source " + source_; }

  BackendInfo info_;
  std::string module_;
  std::string source_;  ///< a hash of it
  std::optional<Bridge> bridge_;
  std::vector<RegionFunction> functions_;
};

}  // namespace collage::python
