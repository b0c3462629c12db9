// Options for loading a plan, and the verdict whether the plan fits the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/signature/key.h"

namespace collage {

struct LoadOptions {
  int threads = 0;         ///< budget of each kernel; 0 = the plan's
  std::string machine;     ///< print of this machine, compared with the plan's; empty = not compared
  bool copy_file = false;  ///< LoadedPlan::load(path): read the file into memory instead of mapping it
  Signers signers = {};    ///< one of them must have signed the plan's file; checked over the bytes that are used
};

/// Whether a plan fits the backends and the machine at hand.
struct MachineVerdict {
  enum class Kind : std::uint8_t {
    kSame,    ///< as tuned
    kUsable,  ///< right results, but times may differ; reasons say where
    kRefused  ///< cannot run; reasons say why
  };
  Kind kind = Kind::kSame;
  std::vector<std::string> reasons;
};

}  // namespace collage
