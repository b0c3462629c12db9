// Optional interface: compiles regions whose dimensions are open, to several kernels in one artifact, each for a part
// of the shapes. Measuring says which part.
// In: a region with named dimensions and the domain of their extents.
// Out: names of kernels worth measuring; one artifact of those that were chosen, which loads as a MultiKernel.
// How: first all candidates become one artifact, whose kernels are timed by number at sampled shapes; then those that
//      won somewhere become another one with the cases that say where (tune/shapes/kernel_choice.h).
#pragma once

#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/open_kernel.h"
#include "ir/shape_domain.h"
#include "region/variant.h"

namespace collage {

struct OpenRequest {
  const Graph* graph = nullptr;  ///< outlives the calls; types of the region's inputs have named dimensions
  Region region;
  Variant formats;     ///< of the ports; its name is not looked at
  ShapeDomain domain;  ///< what the artifact is to serve: a range for every named dimension
};

/// The kernel for shapes whose extents are in these ranges, ends included, one for each dimension of the domain.
struct KernelCase {
  ShapePoint low;
  ShapePoint high;
  std::size_t kernel = 0;  ///< index into the names
  bool operator==(const KernelCase&) const = default;
};

class OpenCompiler : public Extension {
 public:
  static constexpr ExtensionKind kKind = ExtensionKind::kOpenShapes;
  /// Kernels for the region, by name; at least one of them takes every shape of the domain. A refusal when there is
  /// none.
  [[nodiscard]] virtual std::expected<std::vector<std::string>, Refusal> candidates(
      const OpenRequest& request, const CompileOptions& options) const = 0;
  /// One artifact of these kernels. For a shape the first case that holds it, and whose kernel takes it, decides; for
  /// what the cases leave the first of `kernels` that takes every shape, which must be among them.
  [[nodiscard]] virtual std::expected<Artifact, Refusal> compile_set(const OpenRequest& request,
                                                                     std::span<const std::string> kernels,
                                                                     std::span<const KernelCase> cases,
                                                                     const CompileOptions& options) = 0;
};

/// Kernels in one artifact. bind_at() takes the one for the shape.
class MultiKernel : public OpenKernel {
 public:
  [[nodiscard]] const MultiKernel* as_multi() const final { return this; }
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Whether that kernel runs for every shape of the domain.
  [[nodiscard]] virtual bool takes_all(std::size_t kernel) const = 0;
  /// Whether that kernel may run for inputs of these extents.
  [[nodiscard]] virtual bool serves(std::size_t kernel, std::span<const Extents> inputs) const = 0;
  /// The one that bind_at() takes. Errors as of bind_at().
  [[nodiscard]] virtual Result<std::size_t> choice(std::span<const Extents> inputs) const = 0;
  /// Precondition: serves().
  [[nodiscard]] virtual Result<std::unique_ptr<Call>> bind_one(std::size_t kernel, const Buffers& buffers,
                                                               std::span<const Extents> inputs) const = 0;
};

}  // namespace collage
