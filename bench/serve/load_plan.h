// A plan as the load program uses it: one set of made-up inputs, the outputs they give, the request that asks for them,
// and how fast the plan is when it is called in this process.
#pragma once

#include <string>
#include <vector>

#include "api/run/loaded_plan.h"

namespace collage::load {

/// Times in seconds.
struct Speed {
  double per_second = 0;
  double p50 = 0;
  double p99 = 0;
};

/// Sorts the times of requests that took `seconds` in all.
[[nodiscard]] Speed speed_of(std::vector<double>& times, double seconds);

struct LoadSubject {
  LoadedPlan plan;
  std::vector<Extents> extents;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<ElementType> output_types;
  std::string json;  ///< of the request, with binary tensors behind it
  std::string body;  ///< the whole request
};

/// At the lowest extents of the plan's domain that it serves, where it has one; other open extents are 1.
[[nodiscard]] Result<LoadSubject> load_subject(const std::string& path);

/// So many threads, each with a session, for so long; a call copies inputs in and outputs out, as a server must.
[[nodiscard]] Result<Speed> in_process_speed(const LoadSubject& subject, int sessions, double seconds);

}  // namespace collage::load
