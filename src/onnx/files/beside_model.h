// Opens the files that a model keeps its weights in. They lie beside the model, or beneath the folder of the file that
// a symbolic link to the model leads to (caches keep files and weights there together), and nowhere else. In:  the
// folders, and the location that the model states. Out: the mapped file. How: relative to the open folder, with
// openat2(2) and RESOLVE_BENEATH: the kernel itself refuses what leads out, so
//       that no link that is changed meanwhile helps. What is asked of the file is asked of the open one. Kernels
//       before 5.6 have no such call: there the name is checked, then opened.
#pragma once

#include <string>

#include "base/buffer.h"

namespace collage {

/// Where a model's files may lie.
struct ModelFolders {
  std::string named;      ///< of the path that the user gave; empty: there are no files
  std::string real = {};  ///< where symbolic links of that path lead
};

/// The whole file, mapped. `where` names the tensor in errors. Errors: import/external-data (bad input) for a location
/// that is absolute, leads out of the folders, is no regular file, or a file with several names, one of which may lie
/// elsewhere; import/not-found (io); io/cannot-read.
[[nodiscard]] Result<Buffer> map_beside_model(const ModelFolders& folders, const std::string& location,
                                              const std::string& where);

/// Error import/external-data.
[[nodiscard]] std::unexpected<Error> bad_external_data(const std::string& where, std::string saw, std::string allowed);

}  // namespace collage
