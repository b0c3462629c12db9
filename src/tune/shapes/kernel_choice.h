// Decides which of several kernels runs for which shape, by measuring them at sampled shapes.
// In:  a domain, which kernels support every shape, the times of all kernels at a point.
// Out: the few kernels that are worth keeping, and conditions that say for which shapes each runs.
// How: the first points are a grid with geometric steps in each dimension. Where neighbours have different fastest
//       kernels, the interval with the largest loss is halved, until neighbours agree or there are enough points. A
//       kernel that is close to the fastest at no point of the first grid is not measured again. Kernels are kept, one
//       after the other, as long as the next one improves the weighted geometric mean. A cell of the grid extends
//       halfway, in ratio, to its neighbours; it lists its kernels from the fastest to the first that supports every
//       shape.
// Cost: one measurement of all kernels for each point; the rest takes microseconds.
// Not here: measuring (open_model.h).
// Source: the greedy choice of representative kernels in library generation (ATLAS, Sgap).
#pragma once

#include <functional>
#include <vector>

#include "backend/extensions/open_compiler.h"
#include "tune/shapes/shape_samples.h"

namespace collage {

/// Nanoseconds of each kernel; infinity for one that does not run there.
using KernelTimes = std::vector<double>;

struct KernelChoiceOptions {
  std::size_t most_points = 40;  ///< of the grid
  std::size_t most_kernels = 8;
  double least_gain = 0.004;            ///< of the geometric mean, for one more kernel
  std::vector<ShapeSample> asked = {};  ///< points of the domain that count as their weights say
};

struct TimedPoint {
  ShapePoint point;
  double weight = 1;
  KernelTimes ns;
};

struct KernelChoice {
  std::vector<std::size_t> kernels;  ///< indices of those that are kept; the first takes every shape
  std::vector<KernelCase> cases;     ///< `kernel` is an index into `kernels`
  std::vector<TimedPoint> points;    ///< what was measured, sorted by point
};

/// Measures the kernels that are asked for at a point; infinity for the others.
using TimeKernels = std::function<Result<KernelTimes>(const ShapePoint& point, const std::vector<bool>& asked)>;

/// Precondition: some kernel takes every shape. Errors of `time`.
[[nodiscard]] Result<KernelChoice> choose_kernels(const ShapeDomain& domain, const std::vector<bool>& takes_all,
                                                  const TimeKernels& time, const KernelChoiceOptions& options = {});

}  // namespace collage
