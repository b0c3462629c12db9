// Constants as the library reads them: gathered from the model's tensors, with the bytes behind them that it may read.
// In:  a program, the model's constants or prepared ones. Out: a Buffer of a tensor's elements, XNN_EXTRA_BYTES longer;
//       bytes as signed or unsigned as the program wants them.
// Cost: one pass over the elements; prepared constants are taken as they are.
#pragma once

#include <vector>

#include "backend/extensions/constants_extension.h"
#include "base/buffer.h"
#include "base/error.h"
#include "ir/tensor.h"
#include "program.h"

namespace collage::xnnpack {

/// Error backend/bad-artifact when the program's constants would be far more bytes than those they are made from: few
/// are read twice, or repeat a number for each channel.
[[nodiscard]] Result<void> check_repeats(const Program& program, const std::vector<Tensor>& constants);
/// Of a constant of the program. Error backend/bad-artifact when it reaches outside of the constants.
[[nodiscard]] Result<Buffer> constant_bytes(const Program& program, const TensorInfo& tensor,
                                            const std::vector<Tensor>& constants);
/// The program with constants that need no gathering. Errors as above.
[[nodiscard]] Result<PreparedArtifact> prepare(Program program, const std::vector<Tensor>& constants);
/// Zeros in its place, for what does not look at the numbers.
[[nodiscard]] Buffer blank_bytes(const TensorInfo& tensor);

/// What tells bytes of i8 from those of u8 that stand for the same number.
inline constexpr unsigned kSignBit = 0x80;

}  // namespace collage::xnnpack
