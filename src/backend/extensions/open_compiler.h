// Optional interface: compiles regions with open dimensions to several kernels in one artifact, each for some of the
// shapes. Measuring decides which kernel serves which shapes.
// In:  a region with named dimensions, and the domain of their extents.
// Out: names of kernels that are worth measuring; one artifact with the selected kernels, which loads as a MultiKernel.
// How: first all kernels are compiled into one artifact and timed, by number, at sampled shapes. Those that were
//       fastest somewhere are then compiled into a second artifact, with the conditions under which each runs
//       (tune/shapes/kernel_choice.h).
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
  Variant formats;     ///< of the ports; its name is ignored
  ShapeDomain domain;  ///< the shapes that the artifact must support: a range for every named dimension
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
  /// Names of kernels for the region; at least one of them supports every shape of the domain. A refusal when there is
  /// none.
  [[nodiscard]] virtual std::expected<std::vector<std::string>, Refusal> candidates(
      const OpenRequest& request, const CompileOptions& options) const = 0;
  /// One artifact with these kernels. A shape is served by the first case that contains it and whose kernel supports
  /// it. Other shapes are served by the first of `kernels` that supports every shape, which must be among them.
  [[nodiscard]] virtual std::expected<Artifact, Refusal> compile_set(const OpenRequest& request,
                                                                     std::span<const std::string> kernels,
                                                                     std::span<const KernelCase> cases,
                                                                     const CompileOptions& options) = 0;
};

/// Several kernels in one artifact. bind_at() selects the one for the shape.
class MultiKernel : public OpenKernel {
 public:
  [[nodiscard]] const MultiKernel* as_multi() const final { return this; }
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Whether that kernel supports every shape of the domain.
  [[nodiscard]] virtual bool takes_all(std::size_t kernel) const = 0;
  /// Whether that kernel supports inputs of these extents.
  [[nodiscard]] virtual bool serves(std::size_t kernel, std::span<const Extents> inputs) const = 0;
  /// The kernel that bind_at() selects. Errors as of bind_at().
  [[nodiscard]] virtual Result<std::size_t> choice(std::span<const Extents> inputs) const = 0;
  /// Precondition: serves().
  [[nodiscard]] virtual Result<std::unique_ptr<Call>> bind_one(std::size_t kernel, const Buffers& buffers,
                                                               std::span<const Extents> inputs) const = 0;
};

}  // namespace collage
