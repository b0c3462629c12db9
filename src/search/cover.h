// A cover: candidates for every node in execution order, with the conversions between them.
// In: what a search chose. Out: steps that can be realised one by one.
// Cost: memory in proportion to the steps.
// Source: the optimal partitioning of TVM's RFC 62, with conversions as steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "measure/cost.h"
#include "region/region.h"

namespace collage {

enum class StepKind : std::uint8_t {
  kKernel,   ///< a backend runs a region
  kConvert,  ///< a value gets another format
  kView      ///< outputs share the bytes of the input: nothing runs
};

struct CoverStep {
  StepKind kind = StepKind::kKernel;
  std::string backend;  ///< instance name; the host's for views
  Region region;        ///< kernel and view steps (a format-only view has no nodes)
  Variant variant;
  std::string location = "cpu";  ///< where a kernel runs
  ValueId value;                 ///< convert steps, and views that only rename a format: the value
  Format from;
  Format to;
  std::string from_location = "cpu";
  std::string to_location = "cpu";
  Cost cost;
  std::string runner_up;  ///< "backend/variant +12%"; empty when there was no other
};

struct Cover {
  std::vector<CoverStep> steps;  ///< every input of a step is made by an earlier step or is a graph input
  std::int64_t cost_ns = 0;
};

}  // namespace collage
