// The plan file NAME.collage: a ZIP64 archive with uncompressed members: plan.json, weights.bin (page aligned, tensors
// 64-byte aligned), artifacts/<hash>, plan.onnx. Loading maps the file; constants and artifacts are slices of the
// mapping. Saving is atomic: a temporary file in the same folder is written, synced and renamed, then the folder is
// synced. A plan that is only timed need not be synced.
#pragma once

#include <string>

#include "plan/file/checksums.h"
#include "plan/file/durability.h"
#include "plan/realised_plan.h"
#include "plan/signature/key.h"

namespace collage {

/// Replaces `path` by a plan file. Errors: io/cannot-write. Also removes temporaries that killed runs left for the
/// same path; a temporary of a living process is locked and stays.
[[nodiscard]] Result<void> save_plan(const RealisedPlan& plan, const std::string& path,
                                     Durability durability = Durability::kSynced);

/// Says early whether save_plan could write `path`, by making and removing a temporary; removes stale ones.
[[nodiscard]] Result<void> check_can_save(const std::string& path);

/// Whether a file that may be a plan or a model is meant as a plan: by its first bytes, or its name ends in .collage.
[[nodiscard]] bool is_plan_file(const std::string& path);

/// Maps and reads a plan file. Checks the structure and the contents: the checksums of plan.json, plan.onnx and the
/// constants, the hashes of the artifacts. Errors: io/cannot-read, zip/damaged, plan/is-a-model, plan/wrong-version,
/// plan/damaged. With signers it is read into memory, and first of all one of them must have signed it: errors
/// signature/* (plan/signature/plan_signature.h).
[[nodiscard]] Result<RealisedPlan> load_plan(const std::string& path, Checked checked = Checked::kEverything,
                                             const Signers& signers = {});

}  // namespace collage
