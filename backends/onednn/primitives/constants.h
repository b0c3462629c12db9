// Prepares constants for the operations of a program: gathered, scaled and packed once for all calls.
// In:  a program; the model's constants, or those prepared earlier by a Packer. Out: bytes for every argument.
#pragma once

#include <vector>

#include "backend/extensions/constants_extension.h"
#include "primitives/primitives.h"

namespace collage::onednn {

/// That the constants are those the program was lowered with. Error backend/bad-artifact. The constants of a prepared
/// program are checked by Packer.
[[nodiscard]] Result<void> check_constants(const Program& program, const std::vector<Tensor>& constants);

/// One thread. Throws dnnl::error, and std::runtime_error for a prepared program with other constants.
class Packer {
 public:
  Packer(const Program& program, const std::vector<Tensor>& constants, const dnnl::engine& engine)
      : program_(program), constants_(constants), engine_(engine) {}

  /// The bytes of an argument; null for ports and temporaries. Valid as long as kept().
  [[nodiscard]] const void* bytes_of(const Argument& argument);

  /// What keeps all bytes alive.
  [[nodiscard]] std::vector<Buffer> kept() const { return kept_; }
  /// The constants in the order they were asked for: what the same calls find in a prepared program.
  [[nodiscard]] std::vector<PreparedArtifact::Constant> made() const { return made_; }

 private:
  struct Done {
    int tensor;
    dnnl::memory::desc desc;
    const void* bytes;
  };

  [[nodiscard]] Buffer literal(const TensorInfo& info, const dnnl::memory::desc& wanted) const;
  [[nodiscard]] Buffer packed(const TensorInfo& info, const dnnl::memory::desc& wanted);
  [[nodiscard]] Buffer prepared(const dnnl::memory::desc& wanted);

  const Program& program_;
  const std::vector<Tensor>& constants_;
  const dnnl::engine& engine_;
  std::vector<Done> done_;
  std::vector<Buffer> kept_;
  std::vector<PreparedArtifact::Constant> made_;
};

}  // namespace collage::onednn
