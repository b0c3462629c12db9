// How the model files of users are read: by whom, and how much they may ask for.
#pragma once

#include <string>
#include <vector>

#include "onnx/limits.h"

namespace collage {

struct ModelReader {
  std::vector<std::string> worker;  ///< argv of a program that serves import_handler(); empty: this process reads the
                                    ///< file, and trusts it
  ImportLimits limits;
};

}  // namespace collage
