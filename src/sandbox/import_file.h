// What import made of a model, in a memory file that two processes share: contents of tensors and the model's bytes
// where they were written, then the rest in binary form. Weights that import left in files beside the model are named,
// not copied. In:  an Imported of the process that read the model. Out: an equal one in the process that asked for it.
// The writer is
//       not trusted: what is read was compared with what is there, and files are opened as those of a model are.
#pragma once

#include <cstdint>
#include <string>

#include "onnx/files/beside_model.h"
#include "onnx/import.h"

namespace collage {

/// Writes to an empty file. Errors sandbox/cannot-write, import/too-large for more than 4 GiB of names and small
/// values.
[[nodiscard]] Result<void> write_import(int descriptor, const Imported& imported);

/// Reads the file once nobody can write it any more; `path` names the model in errors. Tensors share the mapped file.
/// Errors: sandbox/bad-answer, import/changed when a file beside the model is not the one that was read.
[[nodiscard]] Result<Imported> read_import(int descriptor, const ModelFolders& folders, const std::string& path);

}  // namespace collage
