#include "plan/file/plan_file.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "plan/file/plan_json.h"
#include "plan/file/plan_members.h"
#include "plan/file/temporary_file.h"
#include "plan/signature/plan_signature.h"

namespace collage {
namespace {

constexpr const char* kPlan = "plan.json";
constexpr const char* kGraph = "plan.onnx";

}  // namespace

Result<void> save_plan(const RealisedPlan& plan, const std::string& path, Durability durability) {
  const std::string json = to_json(with_checksums(plan));
  const RealisedPlan* const plans[] = {&plan};
  std::vector<ZipSource> members = {small_member(kPlan, std::as_bytes(std::span(json))), weights_member(plans)};
  for (ZipSource& artifact : artifact_members(plans)) members.push_back(std::move(artifact));
  if (plan.onnx.size() > 0) members.push_back(small_member(kGraph, plan.onnx.bytes()));
  return write_members(path, members, durability);
}

Result<void> check_can_save(const std::string& path) {
  COLLAGE_TRY_VOID(TemporaryFile::make(path));
  return {};
}

bool is_plan_file(const std::string& path) {
  if (path.ends_with(".collage")) return true;
  // Opening a pipe would wait for its writer.
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::array<char, 4> start{};
  std::ifstream file(path, std::ios::binary);
  return file.read(start.data(), start.size()) && std::string_view(start.data(), start.size()) == "PK\3\4";
}

Result<RealisedPlan> load_plan(const std::string& path, Checked checked, const Signers& signers) {
  COLLAGE_TRY(const PlanMembers members, open_signed_members(path, signers));
  COLLAGE_TRY(const std::string_view json, members.checked_text(kPlan));
  COLLAGE_TRY(Plan parsed, parse_plan(json, path));
  COLLAGE_TRY(RealisedPlan plan, attach_members(std::move(parsed), members, kGraph));
  COLLAGE_TRY_VOID(check_contents({{&plan}}, checked, members));
  return plan;
}

}  // namespace collage
