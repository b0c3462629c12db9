// The cost estimator that C passes in.
// In: the callback in collage_tune_options. Out: an Estimator that calls it.
#pragma once

#include "api/c_tune/collage_tune.h"
#include "tune/tune.h"

namespace collage::c_api {

/// `options` are those of the tune so far: candidates are described with their threads and accuracy.
[[nodiscard]] EstimateOptions estimates_from(const collage_tune_options& given, const TuneOptions& options);

}  // namespace collage::c_api
