// How far the effects of the cost model usually are from none: standard deviations of logarithms of times.
// How: those under which measured times of six models are most likely (variance components by maximum likelihood, from
//       some 3,000 times of AVX-512 with one thread), rounded, and larger where few times speak of them.
// Not here: what the effects are of (cost_bounds.cpp).
#pragma once

namespace collage {

/// By level of effects (cost_bounds.cpp).
struct Deviations {
  double backend, kind_of_backend, operation_of_backend;
  double algorithm, kind_of_algorithm, operation_of_algorithm, size_of_algorithm;
  double way, kind_of_way, operation_of_way;
  double rest, rest_of_way, formats, several, narrow;
  double noise;  ///< of a time around all effects
};
/// Convolutions and matrix products of libraries of kernels.
inline constexpr Deviations kHeavyDeviations = {.backend = 0.3,
                                                .kind_of_backend = 0.1,
                                                .operation_of_backend = 0.07,
                                                .algorithm = 0.3,
                                                .kind_of_algorithm = 0.25,
                                                .operation_of_algorithm = 0.06,
                                                .size_of_algorithm = 0.1,
                                                .way = 0.15,
                                                .kind_of_way = 0.07,
                                                .operation_of_way = 0.05,
                                                .rest = 0.08,
                                                .rest_of_way = 0.04,
                                                .formats = 0.05,
                                                .several = 0.25,
                                                .narrow = 0.3,
                                                .noise = 0.06};
/// Other operators of these libraries: overheads are most of their time.
inline constexpr Deviations kLightDeviations = {.backend = 0.2,
                                                .kind_of_backend = 0.1,
                                                .operation_of_backend = 0.07,
                                                .algorithm = 0.1,
                                                .kind_of_algorithm = 0.1,
                                                .operation_of_algorithm = 0.05,
                                                .size_of_algorithm = 0.3,
                                                .way = 0.1,
                                                .kind_of_way = 0.3,
                                                .operation_of_way = 0.05,
                                                .rest = 0.1,
                                                .rest_of_way = 0.06,
                                                .formats = 0.13,
                                                .several = 0.15,
                                                .narrow = 0.3,
                                                .noise = 0.2};
/// Engines have overheads of their own, and do not say what they fuse.
inline constexpr Deviations kEngineDeviations = {.backend = 1,
                                                 .kind_of_backend = 0.3,
                                                 .operation_of_backend = 0.25,
                                                 .algorithm = 0.15,
                                                 .kind_of_algorithm = 0.05,
                                                 .operation_of_algorithm = 0.05,
                                                 .size_of_algorithm = 0.25,
                                                 .way = 0.1,
                                                 .kind_of_way = 0.05,
                                                 .operation_of_way = 0.05,
                                                 .rest = 0.4,
                                                 .rest_of_way = 0.05,
                                                 .formats = 0.07,
                                                 .several = 0.3,
                                                 .narrow = 0.3,
                                                 .noise = 0.1};

}  // namespace collage
