#include "plan/file/plan_members.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "ir/onnx_outline.h"
#include "plan/damaged.h"
#include "plan/file/temporary_file.h"
#include "plan/memory.h"

namespace collage {
namespace {

constexpr std::size_t kPage = 4096;
constexpr const char* kFirst = "plan.json";
constexpr const char* kWeights = "weights.bin";
constexpr std::string_view kArtifactFolder = "artifacts/";
constexpr std::array<std::byte, kBufferAlignment> kPadding = {};

/// A model in the place of a plan is the commonest mistake.
Result<void> refuse_model(const Buffer& file, const std::string& label, const std::string& model,
                          const std::string& plan) {
  if (file.size() == 0 || outline_of(file.text()) != Outline::kModel) return {};
  return fail(ExitCode::kBadInput, "plan/is-a-model", label, "an ONNX model, not a plan",
              fmt::format("a plan; make one: collage tune {} -o {}", model, plan));
}

Result<PlanMembers> list_members(const Buffer& file, const std::string& label) {
  auto list = read_zip(file, label);
  if (!list) {
    list.error().allowed = "a whole plan, as collage tune writes it";
    return std::unexpected(std::move(list).error());
  }
  PlanMembers members{.path = label, .by_name = {}, .signer = {}};
  for (ZipMember& member : *list) members.by_name.emplace(member.name, member);
  return members;
}

}  // namespace

ZipSource weights_member(std::span<const RealisedPlan* const> plans) {
  ZipSource source{.name = kWeights, .parts = {}, .alignment = kPage};
  std::map<std::size_t, std::span<const std::byte>> by_offset;
  for (const RealisedPlan* plan : plans)
    for (const auto& [index, tensor] : plan->constants)
      if (!tensor.data.bytes().empty()) by_offset.emplace(plan->plan.values[index].offset, tensor.data.bytes());
  std::size_t end = 0;
  const auto pad_to = [&](std::size_t offset) {
    COLLAGE_CHECK(offset >= end, "overlapping constants");
    while (end < offset) {
      const std::size_t bytes = std::min(offset - end, kPadding.size());
      source.parts.emplace_back(kPadding.data(), bytes);
      end += bytes;
    }
  };
  for (const auto& [offset, bytes] : by_offset) {
    pad_to(offset);
    source.parts.push_back(bytes);
    end += bytes.size();
  }
  pad_to(plans.front()->plan.weights_bytes);
  return source;
}

std::vector<ZipSource> artifact_members(std::span<const RealisedPlan* const> plans) {
  std::map<std::string, std::span<const std::byte>> artifacts;
  for (const RealisedPlan* plan : plans)
    for (const auto& [hash, bytes] : plan->artifacts) artifacts.emplace(hash, bytes.bytes());
  std::vector<ZipSource> members;
  for (const auto& [hash, bytes] : artifacts)
    members.push_back({.name = std::string(kArtifactFolder) + hash, .parts = {bytes}, .alignment = kPage});
  return members;
}

ZipSource small_member(std::string name, std::span<const std::byte> bytes) {
  return {.name = std::move(name), .parts = {bytes}, .alignment = kBufferAlignment};
}

std::vector<ZipSource> sources_of(const PlanMembers& members) {
  std::vector<ZipSource> sources;
  for (const auto& [name, member] : members.by_name) {
    const bool is_mapped = name == kWeights || name.starts_with(kArtifactFolder);
    const ZipSource source{
        .name = name, .parts = {member.data.bytes()}, .alignment = is_mapped ? kPage : kBufferAlignment};
    sources.insert(name == kFirst ? sources.begin() : sources.end(), source);
  }
  return sources;
}

Result<void> write_members(const std::string& path, std::span<const ZipSource> members, Durability durability) {
  COLLAGE_TRY(TemporaryFile temporary, TemporaryFile::make(path));
  COLLAGE_TRY_VOID(write_zip(temporary.descriptor(), members, path));
  return temporary.rename_to(path, durability);
}

const ZipMember* PlanMembers::find(const std::string& name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : &found->second;
}

Result<std::string_view> PlanMembers::checked_text(const std::string& name) const {
  const ZipMember* const member = find(name);
  if (member == nullptr) return damaged(path, "no " + name, "a plan file");
  if (!has_right_crc(*member)) return damaged(path, name + " with a wrong checksum", "an unchanged file");
  return member->data.text();
}

Result<PlanMembers> open_members(const std::string& path) {
  COLLAGE_TRY(const Buffer file, Buffer::map_file(path));
  COLLAGE_TRY_VOID(
      refuse_model(file, path, path, std::filesystem::path(path).filename().replace_extension(".collage").string()));
  return list_members(file, path);
}

Result<PlanMembers> open_members(const Buffer& file, const std::string& label) {
  COLLAGE_TRY_VOID(refuse_model(file, label, "MODEL", "PLAN"));
  return list_members(file, label);
}

Result<RealisedPlan> attach_members(Plan plan, const PlanMembers& members, const std::string& onnx) {
  RealisedPlan out;
  out.plan = std::move(plan);
  const ZipMember* const weights = members.find(kWeights);
  if (weights == nullptr)
    return damaged(members.path, "no weights.bin", fmt::format("{} bytes", out.plan.weights_bytes));
  COLLAGE_TRY(out.constants, constants_in(out.plan, weights->data, members.path));
  for (const PlanArtifact& artifact : out.plan.artifacts) {
    const ZipMember* const member = members.find(std::string(kArtifactFolder) + artifact.hash);
    if (member == nullptr)
      return damaged(members.path, "no artifact " + artifact.hash, "every artifact the plan lists");
    out.artifacts.emplace(artifact.hash, member->data);
  }
  if (const ZipMember* const graph = members.find(onnx)) {
    COLLAGE_TRY_VOID(members.checked_text(onnx));
    out.onnx = graph->data;
  }
  return out;
}

Result<void> check_contents(std::span<const RealisedPlan* const> plans, Checked checked, const PlanMembers& members) {
  COLLAGE_TRY_VOID(check_artifacts(plans, members.path));
  COLLAGE_TRY_VOID(check_constants(plans, checked, members.path));
  // Plans of earlier builds have no other checksum of their weights.
  const ZipMember* const weights = members.find(kWeights);
  if (!std::ranges::all_of(plans, [](const RealisedPlan* plan) { return has_checksums(plan->plan); }) &&
      weights != nullptr && !has_right_crc(*weights))
    return damaged(members.path, std::string(kWeights) + " with a wrong checksum", "an unchanged file");
  return {};
}

}  // namespace collage
