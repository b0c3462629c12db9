#include "tune/confirm/plan_packer.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/pages.h"
#include "plan/add_artifact.h"
#include "plan/memory.h"
#include "runtime/load_request.h"
#include "tune/confirm/plan_artifacts.h"

namespace collage {
namespace {

/// Puts prepared artifacts in the place of those a plan has.
class Repacking {
 public:
  explicit Repacking(RealisedPlan& plan) : plan_(plan) {}

  void replace(PlanStep& step, const PreparedArtifact& prepared) {
    StepArtifact& artifact = *artifact_of(step);
    std::vector<PlanIndex> constants;
    for (const PreparedArtifact::Constant& constant : prepared.constants) {
      const auto* as_it_is = std::get_if<std::size_t>(&constant);
      constants.push_back(as_it_is != nullptr ? artifact.constants[*as_it_is]
                                              : packed(std::get<Buffer>(constant), step, constants.size()));
    }
    artifact.constants = std::move(constants);
    const std::string compatibility = std::ranges::find(artifacts(), artifact.hash, &PlanArtifact::hash)->compatibility;
    artifact.hash = add_artifact(plan_, prepared.bytes, compatibility);
  }

 private:
  std::vector<PlanArtifact>& artifacts() { return plan_.plan.artifacts; }

  /// The plan value of prepared bytes; steps that share a kernel share them.
  PlanIndex packed(const Buffer& bytes, const PlanStep& step, std::size_t position) {
    const auto [found, is_new] = packed_.try_emplace(bytes.data(), static_cast<PlanIndex>(plan_.plan.values.size()));
    if (!is_new) return found->second;
    const Extents extents = {static_cast<std::int64_t>(bytes.size())};
    const std::vector<std::string>& nodes = nodes_of(step).names;
    plan_.plan.values.push_back(
        {.name = fmt::format("{}.packed{}", nodes.empty() ? step.variant : nodes.front(), position),
         .type = ValueType::tensor(ElementType::kUint8, extents),
         .storage = Storage::kConstant,
         .buffer = 0,
         .offset = plan_.plan.weights_bytes,
         .bytes = bytes.size()});
    plan_.plan.weights_bytes += aligned_up(bytes.size());
    plan_.constants.emplace(found->second,
                            Tensor{.type = ElementType::kUint8, .extents = extents, .data = bytes, .strings = {}});
    return found->second;
  }

  RealisedPlan& plan_;
  std::map<const void*, PlanIndex> packed_;
};

/// Kernels that come in one call, and the bytes of their constants.
struct PackingCall {
  std::size_t end = 0;  ///< behind the last kernel
  std::size_t bytes = 0;
};

/// One call, unless the constants of all kernels are too large together. A kernel that shares all its constants with
/// those before it comes in their call.
std::vector<PackingCall> calls_for(std::span<const LoadRequest> kernels, std::size_t most_bytes) {
  std::vector<PackingCall> calls;
  std::set<const std::byte*> seen;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    std::size_t bytes = 0;
    for (const Tensor& constant : kernels[i].constants)
      if (!seen.contains(constant.data.data())) bytes += constant.data.size();
    if (calls.empty() || (calls.back().bytes > 0 && bytes > 0 && calls.back().bytes + bytes > most_bytes)) {
      calls.emplace_back();
      seen.clear();
    }
    for (const Tensor& constant : kernels[i].constants) seen.insert(constant.data.data());
    calls.back().end = i + 1;
    calls.back().bytes += bytes;
  }
  return calls;
}

/// Kernels with constants that are not linked yet.
bool can_be_packed(const PlanStep& step) {
  const StepArtifact* const artifact = artifact_of(step);
  return artifact != nullptr && !artifact->constants.empty() && artifact->entry.empty();
}

}  // namespace

RealisedPlan PlanPacker::pack(RealisedPlan plan) {
  prepare(plan);
  Repacking repacking(plan);
  for (PlanStep& step : plan.plan.steps) {
    if (!can_be_packed(step)) continue;
    if (const Prepared& found = done_.at(key_of(plan, step))) repacking.replace(step, *found);
  }
  drop_unused_artifacts(plan);
  link_kernels(plan, registry_);
  return plan;
}

void PlanPacker::prepare(const RealisedPlan& plan) {
  std::map<std::string, std::map<std::string, LoadRequest>> kernels;  // by backend, by key
  for (const PlanStep& step : plan.plan.steps) {
    if (!can_be_packed(step)) continue;
    std::string key = key_of(plan, step);
    if (!done_.contains(key))
      kernels[step.backend].try_emplace(std::move(key), load_request(plan, step, plan.plan.threads));
  }
  for (const auto& [name, requests] : kernels) prepare(name, requests);
}

void PlanPacker::prepare(const std::string& backend, const std::map<std::string, LoadRequest>& kernels) {
  std::vector<LoadRequest> requests;
  for (const auto& [key, request] : kernels) requests.push_back(request);
  std::vector<MaybePrepared> answers(requests.size(), std::nullopt);
  if (const Result<Backend*> found = registry_.get(backend)) {
    const std::vector<PackingCall> calls = calls_for(requests, most_bytes_);
    std::size_t begin = 0;
    for (const PackingCall& call : calls) {
      const auto some = std::span(requests).subspan(begin, call.end - begin);
      std::vector<MaybePrepared> made = prepare_constants(**found, some);
      if (calls.size() > 1 || call.bytes > most_bytes_) move_to_file(made);
      std::ranges::move(made, answers.begin() + static_cast<std::ptrdiff_t>(begin));
      begin = call.end;
    }
  }
  auto answer = answers.begin();
  for (const auto& [key, request] : kernels) {
    Prepared& done = done_[key];
    if (MaybePrepared made = *std::move(answer++)) done = *std::move(made);
  }
}

void PlanPacker::move_to_file(std::span<MaybePrepared> answers) {
  std::vector<Buffer*> constants;
  for (MaybePrepared& answer : answers)
    if (answer && *answer)
      for (PreparedArtifact::Constant& constant : (*answer)->constants)
        if (auto* const bytes = std::get_if<Buffer>(&constant); bytes != nullptr && bytes->size() > 0)
          constants.push_back(bytes);
  const std::string path = folder_.file(fmt::format("constants-{}", files_++));
  std::map<std::pair<const std::byte*, std::size_t>, std::size_t> offsets;  // equal buffers are stored once
  std::vector<std::string_view> pieces;
  std::size_t size = 0;
  for (const Buffer* bytes : constants) {
    static constexpr std::array<char, kBufferAlignment> kPadding{};
    if (!offsets.try_emplace({bytes->data(), bytes->size()}, size).second) continue;
    const std::size_t padding = aligned_up(bytes->size()) - bytes->size();
    pieces.push_back(bytes->text());
    pieces.emplace_back(kPadding.data(), padding);
    size += bytes->size() + padding;
  }
  if (!write_file(path, pieces)) return;
  const auto file = Buffer::map_file(path);
  ::unlink(path.c_str());  // the mapping keeps the bytes
  if (!file) return;
  for (Buffer* bytes : constants) *bytes = file->slice(offsets.at({bytes->data(), bytes->size()}), bytes->size());
}

std::string PlanPacker::key_of(const RealisedPlan& plan, const PlanStep& step) {
  const StepArtifact& artifact = *artifact_of(step);
  std::string key = fmt::format("{}|{}|{}", step.backend, artifact.hash, plan.plan.threads);
  for (const PlanIndex constant : artifact.constants)
    key += fmt::format("|{}", static_cast<const void*>(plan.constants.at(constant).data.data()));
  return key;
}

}  // namespace collage
