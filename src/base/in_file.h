// Errors that name the file they are about.
#pragma once

#include <string>

#include "base/error.h"

namespace collage {

/// The error with the file in front of its place, unless that has it already.
[[nodiscard]] inline Error in_file(const std::string& file, Error error) {
  if (error.where.find(file) == std::string::npos) error.where = error.where.empty() ? file : file + ": " + error.where;
  return error;
}

}  // namespace collage
