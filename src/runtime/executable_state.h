// State shared by an executable and its contexts; internal to src/runtime.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executable.h"
#include "runtime/loaded_body.h"

namespace collage {

struct Executable::State {
  RealisedPlan plan;
  MachineVerdict verdict;
  std::vector<TensorPort> inputs;
  std::vector<TensorPort> outputs;
  std::vector<std::unique_ptr<Kernel>> kernels;  ///< each distinct kernel once
  int threads = 1;                               ///< budget of each kernel
  std::string own_threads;                       ///< a backend of some step that takes no pool
  std::map<std::string, Device*> devices;        ///< by location, those with an arena
  LoadedBody model;                              ///< the plan's steps with their kernels
};

}  // namespace collage
