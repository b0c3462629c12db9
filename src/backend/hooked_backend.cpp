#include "backend/hooked_backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "backend/extensions/code_generator.h"
#include "backend/guarded_kernel.h"
#include "backend/hook_answers.h"

namespace collage {
namespace {

using MaybeArtifact = std::expected<Artifact, Refusal>;

/// Who loads an artifact: the first word of its compatibility.
constexpr std::string_view kOwn = "own ";
constexpr std::string_view kGenerated = "generated ";

class HookedBackend final : public Backend, public ConstantsExtension, public LinkExtension {
 public:
  HookedBackend(const BackendHooks& hooks, HookedInstance instance, Result<Backend*> code_generator)
      : hooks_(hooks), options_(std::move(instance.options)), code_generator_(std::move(code_generator)) {
    info_ = info_of(hooks_, options_);
    info_.name = std::move(instance.name);
    info_.kind = hooks_.kind;
    if (info_.build.empty()) info_.build = std::move(instance.build);
    if (!info_.unusable.empty()) return;
    if (auto rules = rules_of(hooks_, options_))
      rules_ = *std::move(rules);
    else
      info_.unusable = rules.error();
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return rules_; }

  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override {
    if (hooks_.support == nullptr) return matched_variants(rules_, graph, region);
    auto answer = guard([&] { return hooks_.support(options_, graph, region, options); });
    if (!answer) return refused(thrown("support", answer.error()));
    return *std::move(answer);
  }

  [[nodiscard]] std::vector<MaybeArtifact> compile(std::span<const CompileRequest> requests,
                                                   const CompileOptions& options) override {
    return hooks_.lower == nullptr ? compiled(requests, options) : lowered(requests, options);
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    COLLAGE_TRY(const Origin origin, origin_of(request));
    if (origin.is_generated) return (*code_generator_)->load(origin.request);
    auto loaded = guard([&] { return hooks_.load(options_, origin.request); });
    if (!loaded) return failed(thrown("load", loaded.error()));
    COLLAGE_TRY(auto kernel, *std::move(loaded));
    if (kernel == nullptr) return failed("load gave no kernel");
    return guarded(std::move(kernel), info_.name);
  }

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<ConstantsExtension, LinkExtension>(*this, kind);
  }

  [[nodiscard]] std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) override {
    std::vector<MaybePrepared> all(kernels.size(), std::nullopt);
    auto [own, generated] = by_origin(kernels, all);
    if (!generated.items.empty()) place(collage::prepare_constants(**code_generator_, generated.items), generated, all);
    if (!own.items.empty() && hooks_.prepare_constants != nullptr) place(prepared(own.items), own, all);
    return all;
  }

  [[nodiscard]] Result<LinkedKernels> link(std::span<const LoadRequest> kernels) override {
    std::vector<MaybePrepared> origins(kernels.size(), std::nullopt);
    const auto [own, generated] = by_origin(kernels, origins);
    LinkedKernels all{.artifacts = {}, .entries = std::vector<std::optional<EntryPoint>>(kernels.size())};
    if (!own.items.empty() && hooks_.link != nullptr) {
      COLLAGE_TRY(LinkedKernels linked, linked_by_hook(own.items));
      add_linked(std::move(linked), own, kOwn, all);
    }
    if (generated.items.empty()) return all;
    if (auto* const generator = extension_of<LinkExtension>(**code_generator_)) {
      COLLAGE_TRY(LinkedKernels linked, generator->link(generated.items));
      add_linked(std::move(linked), generated, kGenerated, all);
    }
    return all;
  }

 private:
  /// A request as the one who made its artifact wants it.
  struct Origin {
    bool is_generated = false;
    LoadRequest request;
  };

  /// Regions of one call that go the same way, and where their results belong.
  template <class Item>
  struct Part {
    std::vector<std::size_t> places;
    std::vector<Item> items;
    void add(std::size_t place, Item item) {
      places.push_back(place);
      items.push_back(std::move(item));
    }
  };

  template <class Item, class Answer>
  static void place(std::vector<Answer> results, const Part<Item>& part, std::vector<Answer>& all) {
    for (std::size_t i = 0; i < part.places.size(); ++i) all[part.places[i]] = std::move(results[i]);
  }

  /// The kernels that the hooks made, and those of the code generator; in `all` why another one is neither.
  std::pair<Part<LoadRequest>, Part<LoadRequest>> by_origin(std::span<const LoadRequest> kernels,
                                                            std::vector<MaybePrepared>& all) const {
    Part<LoadRequest> own;
    Part<LoadRequest> generated;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      auto origin = origin_of(kernels[i]);
      if (!origin)
        all[i] = std::unexpected(origin.error());
      else
        (origin->is_generated ? generated : own).add(i, std::move(origin->request));
    }
    return {std::move(own), std::move(generated)};
  }

  std::vector<MaybePrepared> prepared(std::span<const LoadRequest> kernels) const {
    auto answers = guard([&] { return hooks_.prepare_constants(options_, kernels); });
    if (!answers) return {kernels.size(), failed(thrown("prepare_constants", answers.error()))};
    if (answers->size() != kernels.size())
      return {kernels.size(), failed(wrong_count("prepare_constants", answers->size(), kernels.size()))};
    for (std::size_t i = 0; i < kernels.size(); ++i)
      if (MaybePrepared& one = (*answers)[i]; one && *one && !names_constants(**one, kernels[i].constants.size()))
        one = failed("prepare_constants kept a constant that is not there");
    return *std::move(answers);
  }

  Result<LinkedKernels> linked_by_hook(std::span<const LoadRequest> kernels) const {
    auto answer = guard([&] { return hooks_.link(options_, kernels); });
    if (!answer) return failed(thrown("link", answer.error()));
    COLLAGE_TRY(LinkedKernels linked, *std::move(answer));
    if (const auto fault = fault_of(linked, kernels.size())) return failed(*fault);
    for (LinkedArtifact& artifact : linked.artifacts)
      if (artifact.compatibility.empty()) artifact.compatibility = of_this_build();
    return linked;
  }

  static void add_linked(LinkedKernels linked, const Part<LoadRequest>& part, std::string_view mark,
                         LinkedKernels& all) {
    const std::size_t first = all.artifacts.size();
    for (LinkedArtifact& artifact : linked.artifacts) {
      artifact.compatibility.insert(0, mark);
      all.artifacts.push_back(std::move(artifact));
    }
    for (std::size_t i = 0; i < part.places.size(); ++i) {
      if (!linked.entries[i]) continue;
      all.entries[part.places[i]] = std::move(linked.entries[i]);
      all.entries[part.places[i]]->artifact += first;
    }
  }

  std::vector<MaybeArtifact> lowered(std::span<const CompileRequest> requests, const CompileOptions& options) {
    auto codes = answers_of("lower", requests.size(), [&] { return hooks_.lower(options_, requests, options); });
    std::vector<MaybeArtifact> all(requests.size());
    Part<TensorCode> taken;
    std::vector<CompileRequest> behind;  // of what is taken
    Part<CompileRequest> left;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      const CompileRequest& request = requests[i];
      if (!codes[i] && hooks_.compile != nullptr) {
        left.add(i, request);
      } else if (!codes[i]) {
        all[i] = std::unexpected(codes[i].error());
      } else if (const auto fault = fault_of(*codes[i], *request.graph, request.region)) {
        all[i] = refused("lower: " + *fault);
      } else {
        taken.add(i, *std::move(codes[i]));
        behind.push_back(request);
      }
    }
    if (!taken.items.empty()) place(generated(taken.items, behind, options), taken, all);
    if (!left.items.empty()) place(compiled(left.items, options), left, all);
    return all;
  }

  std::vector<MaybeArtifact> compiled(std::span<const CompileRequest> requests, const CompileOptions& options) {
    if (!info_.is_engine && std::ranges::any_of(requests, [](const auto& one) { return one.model_bytes.has_value(); }))
      return {requests.size(), std::unexpected(Refusal{RefusalReason::kStructure, "a whole model: no engine"})};
    return marked(answers_of("compile", requests.size(), [&] { return hooks_.compile(options_, requests, options); }),
                  kOwn, requests);
  }

  std::vector<MaybeArtifact> generated(std::span<const TensorCode> codes, std::span<const CompileRequest> requests,
                                       const CompileOptions& options) {
    if (hooks_.codegen != nullptr)
      return marked(answers_of("codegen", codes.size(), [&] { return hooks_.codegen(options_, codes, options); }), kOwn,
                    requests);
    if (!has_code_generator()) return {codes.size(), std::unexpected(Refusal{RefusalReason::kMissing, no_generator()})};
    return marked(generator_of(*code_generator_)->codegen(codes, options), kGenerated, requests);
  }

  std::vector<MaybeArtifact> marked(std::vector<MaybeArtifact> artifacts, std::string_view mark,
                                    std::span<const CompileRequest> requests) const {
    for (std::size_t i = 0; i < artifacts.size(); ++i) {
      if (!artifacts[i]) continue;
      if (const auto fault = fault_of(*artifacts[i], requests[i])) {
        artifacts[i] = refused(*fault);
        continue;
      }
      std::string& compatibility = artifacts[i]->compatibility;
      if (compatibility.empty()) compatibility = of_this_build();
      compatibility.insert(0, mark);
    }
    return artifacts;
  }

  Result<Origin> origin_of(const LoadRequest& request) const {
    Origin origin{.request = request};
    std::string_view& compatibility = origin.request.artifact.compatibility;
    origin.is_generated = compatibility.starts_with(kGenerated);
    const std::string_view mark = origin.is_generated ? kGenerated : kOwn;
    const bool has_loader = origin.is_generated ? has_code_generator() : hooks_.load != nullptr;
    if (!compatibility.starts_with(mark) || !has_loader) return incompatible(request);
    compatibility.remove_prefix(mark.size());
    if (origin.is_generated || !compatibility.starts_with(kBuildMark)) return origin;
    if (compatibility != of_this_build()) return incompatible(request);
    compatibility = {};
    return origin;
  }

  [[nodiscard]] std::unexpected<Error> incompatible(const LoadRequest& request) const {
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                "an artifact of '" + std::string(request.artifact.compatibility) + "'",
                "one of this build, " + info_.build);
  }
  [[nodiscard]] std::unexpected<Error> failed(std::string saw) const {
    return fail(ExitCode::kUnsupported, "backend/library-failed", info_.name, std::move(saw));
  }

  /// The compatibility string of an artifact whose hook left it empty.
  static constexpr std::string_view kBuildMark = "build ";
  [[nodiscard]] std::string of_this_build() const { return std::string(kBuildMark) + info_.build; }
  static CodeGenerator* generator_of(Backend* backend) {
    return backend != nullptr ? extension_of<CodeGenerator>(*backend) : nullptr;
  }
  [[nodiscard]] bool has_code_generator() const { return code_generator_ && generator_of(*code_generator_) != nullptr; }
  [[nodiscard]] std::string no_generator() const {
    return "no code generator for tensor code" + (code_generator_ ? "" : ": " + code_generator_.error().saw);
  }

  BackendHooks hooks_;
  BackendOptions options_;
  Result<Backend*> code_generator_;
  BackendInfo info_;
  PartitionRules rules_;
};

}  // namespace

std::unique_ptr<Backend> make_hooked_backend(const BackendHooks& hooks, HookedInstance instance,
                                             Result<Backend*> code_generator) {
  return std::make_unique<HookedBackend>(hooks, std::move(instance), std::move(code_generator));
}

}  // namespace collage
