#include "link_kernels.h"

#include <algorithm>
#include <map>
#include <set>

namespace collage::native {
namespace {

/// What becomes one unit: kernels with the same compatibility string.
class UnitMaker {
 public:
  /// The kernel's entry point in this unit; nothing when it cannot be in it.
  std::optional<std::string> add(const StoredProgram& stored) {
    if (!can_take(stored)) return std::nullopt;
    codes_.resize(stored.codes.size());
    for (std::size_t i = 0; i < stored.codes.size(); ++i) add_objects(codes_[i], stored.codes[i].objects);
    code_of_symbol_.emplace(stored.program.symbol, stored.codes.front().objects.front());
    return entry_for(stored.program);
  }

  Result<LinkedArtifact> make(LinkObjects link) const {
    std::vector<std::string> linked;
    for (const std::vector<std::string_view>& objects : codes_) {
      COLLAGE_TRY(linked.emplace_back(), link(objects));
    }
    std::vector<CodeBytes> codes;
    for (std::size_t i = 0; i < linked.size(); ++i) codes.push_back({.shared_object = linked[i], .objects = codes_[i]});
    return LinkedArtifact{.bytes = unit_to_bytes(programs_, codes),
                          .compatibility = compatibility_of(programs_.begin()->second)};
  }

 private:
  /// It has object files, and its symbol is unused or names the same code.
  [[nodiscard]] bool can_take(const StoredProgram& stored) const {
    if (stored.program.set || std::ranges::any_of(stored.codes, [](const auto& code) { return code.objects.empty(); }))
      return false;
    const auto known = code_of_symbol_.find(stored.program.symbol);
    return known == code_of_symbol_.end() || known->second == stored.codes.front().objects.front();
  }

  static void add_objects(std::vector<std::string_view>& all, const std::vector<std::string_view>& objects) {
    for (const std::string_view object : objects)
      if (std::ranges::find(all, object) == all.end()) all.push_back(object);
  }

  /// The symbol; with a number behind it for the same code called in another way.
  std::string entry_for(const Program& program) {
    std::string entry = program.symbol;
    for (int number = 2;; ++number) {
      const auto [found, is_new] = programs_.try_emplace(entry, program);
      if (is_new || found->second == program) return entry;
      entry = program.symbol + "." + std::to_string(number);
    }
  }

  Programs programs_;
  std::vector<std::vector<std::string_view>> codes_;  ///< object files, by instruction set
  std::map<std::string, std::string_view> code_of_symbol_;
};

}  // namespace

Result<LinkedKernels> link_kernels(std::span<const LoadRequest> kernels, LinkObjects link) {
  std::map<std::string_view, UnitMaker> makers;  // by compatibility string
  std::vector<std::optional<std::string>> entries(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const ArtifactView& artifact = kernels[i].artifact;
    const auto stored = program_of(artifact.bytes);
    if (stored && compatibility_of(stored->program) == artifact.compatibility)
      entries[i] = makers[artifact.compatibility].add(*stored);
  }
  LinkedKernels linked{.artifacts = {}, .entries = std::vector<std::optional<EntryPoint>>(kernels.size())};
  for (const auto& [compatibility, maker] : makers) {
    bool is_used = false;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (!entries[i] || kernels[i].artifact.compatibility != compatibility) continue;
      linked.entries[i] = EntryPoint{.artifact = linked.artifacts.size(), .name = *std::move(entries[i])};
      is_used = true;
    }
    if (!is_used) continue;
    COLLAGE_TRY(linked.artifacts.emplace_back(), maker.make(link));
  }
  return linked;
}

}  // namespace collage::native
