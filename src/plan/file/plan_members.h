// Members of the ZIP archive of a plan file, shared by all plans in it; internal to src/plan/file.
// In: plans. Out: members to write; and plans from the members of a mapped file. Nothing is copied: constants and
// artifacts are slices of the mapping.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/file/checksums.h"
#include "plan/file/durability.h"
#include "plan/file/zip.h"
#include "plan/realised_plan.h"
#include "plan/signature/key.h"

namespace collage {

/// weights.bin: the constants of all plans at their offsets, zeros between. Plans that share bytes agree on them.
[[nodiscard]] ZipSource weights_member(std::span<const RealisedPlan* const> plans);
/// artifacts/<hash> of all plans, each once.
[[nodiscard]] std::vector<ZipSource> artifact_members(std::span<const RealisedPlan* const> plans);
/// A small member: JSON, a graph.
[[nodiscard]] ZipSource small_member(std::string name, std::span<const std::byte> bytes);

/// Replaces `path` by an archive of these members, whole or not at all. Error io/cannot-write, io/not-synced.
[[nodiscard]] Result<void> write_members(const std::string& path, std::span<const ZipSource> members,
                                         Durability durability = Durability::kSynced);

/// A plan file, mapped.
struct PlanMembers {
  std::string path;
  std::map<std::string, ZipMember> by_name;
  std::optional<PlanSigner> signer = {};  ///< plan/signature/plan_signature.h

  [[nodiscard]] const ZipMember* find(const std::string& name) const;
  /// The text of a member that must be there, with the right checksum. Error plan/damaged.
  [[nodiscard]] Result<std::string_view> checked_text(const std::string& name) const;
};

/// The members of a plan file, to be written once more: plan.json first, as tools expect.
[[nodiscard]] std::vector<ZipSource> sources_of(const PlanMembers& members);

/// Errors io/cannot-read, zip/damaged, plan/is-a-model.
[[nodiscard]] Result<PlanMembers> open_members(const std::string& path);
/// The members of a file that lies in memory; `label` stands for its path. Errors zip/damaged, plan/is-a-model.
[[nodiscard]] Result<PlanMembers> open_members(const Buffer& file, const std::string& label);

/// The plan with its constants and artifacts, not looked at, and the graph in member `onnx` where there is one,
/// checked. Error plan/damaged.
[[nodiscard]] Result<RealisedPlan> attach_members(Plan plan, const PlanMembers& members, const std::string& onnx);

/// Whether constants and artifacts are what was written. Error plan/damaged.
[[nodiscard]] Result<void> check_contents(std::span<const RealisedPlan* const> plans, Checked checked,
                                          const PlanMembers& members);

}  // namespace collage
