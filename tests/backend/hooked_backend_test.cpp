#include "backend/hooked_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/extensions/code_generator.h"
#include "tests/backend/hook_tables.h"
#include "tests/support/load_only_backend.h"
#include "tests/support/prepare_one.h"

namespace collage {
namespace {

using test::Chain;
using test::compiling;
using test::instance_of;
using test::request_for;
using ::testing::HasSubstr;

/// Compiles tensor code for others and loads what it made.
class Generator final : public test::LoadOnlyBackend, public CodeGenerator, public ConstantsExtension {
 public:
  Generator() : LoadOnlyBackend({.name = "generator"}) {}
  std::vector<std::expected<Artifact, Refusal>> codegen(std::span<const TensorCode> codes,
                                                        const CompileOptions&) override {
    return {codes.size(), Artifact{.bytes = "machine code", .compatibility = "generator 1"}};
  }
  Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    loaded = std::string(request.artifact.compatibility);
    return make_kernel([](const Buffers&) -> Result<void> { return {}; });
  }
  std::vector<MaybePrepared> prepare_constants(std::span<const LoadRequest> kernels) override {
    return {kernels.size(), PreparedArtifact{.bytes = "packed", .constants = {}}};
  }
  Extension* extension(ExtensionKind kind) override {
    return select_extension<CodeGenerator, ConstantsExtension>(*this, kind);
  }
  std::string loaded;
};

LoadRequest load_of(const Artifact& artifact) { return {.artifact = artifact}; }

std::string reason_of(Backend& backend, const Chain& chain, const Region& region) {
  const CompileRequest request = request_for(chain, region);
  const auto artifacts = backend.compile({&request, 1}, {});
  EXPECT_EQ(artifacts.size(), 1U);
  return artifacts.at(0) ? "compiled" : artifacts.at(0).error().detail;
}

TEST(HookedBackend, SupportsWhatItsPatternsMatchWhenItDoesNotSay) {
  const Chain chain = test::chain();
  const auto backend = instance_of(compiling());
  const auto variants = backend->support(chain.graph, chain.relu, {});
  ASSERT_TRUE(variants);
  EXPECT_EQ(*variants, (std::vector<Variant>{{"default", {plain()}, {plain()}}}));
  EXPECT_EQ(backend->support(chain.graph, chain.neg, {}).error().reason, RefusalReason::kOperator);
  EXPECT_EQ(backend->support(chain.graph, chain.both, {}).error().reason, RefusalReason::kOperator);
}

TEST(HookedBackend, SaysWhatProbeSaysUnderItsOwnName) {
  BackendHooks hooks = compiling();
  EXPECT_EQ(instance_of(hooks)->info().build, "b1");
  hooks.probe = [](const BackendOptions& options) {
    return BackendInfo{.name = "another", .version = options.at("v"), .build = "b2"};
  };
  const auto backend = make_hooked_backend(hooks, {.name = "fake:v=7", .options = {{"v", "7"}}, .build = "b1"});
  EXPECT_EQ(backend->info().name, "fake:v=7");
  EXPECT_EQ(backend->info().kind, "fake");
  EXPECT_EQ(backend->info().version, "7");
  EXPECT_EQ(backend->info().build, "b2");
  EXPECT_EQ(backend->info().unusable, "");
}

TEST(HookedBackend, IsUnusableWithAReason) {
  BackendHooks hooks = compiling();
  EXPECT_EQ(make_hooked_backend(hooks, {.name = "fake:v=7", .options = {{"v", "7"}}, .build = ""})->info().unusable,
            "unknown option v; allowed none");
  hooks.probe = [](const BackendOptions&) -> BackendInfo { throw std::runtime_error("no licence"); };
  EXPECT_EQ(instance_of(hooks)->info().unusable, "probe threw: no licence");
  hooks.probe = [](const BackendOptions&) { return BackendInfo{.location = "card"}; };
  EXPECT_THAT(instance_of(hooks)->info().unusable, HasSubstr("kernels at card"));
  hooks = compiling();
  hooks.rules = [](const BackendOptions&) { return PartitionRules{.patterns = {{"broken", "Relu ->"}}}; };
  EXPECT_THAT(instance_of(hooks)->info().unusable, HasSubstr("region/bad-pattern"));
  hooks.rules = [](const BackendOptions&) -> PartitionRules { throw 7; };
  EXPECT_THAT(instance_of(hooks)->info().unusable, HasSubstr("rules threw"));
}

TEST(HookedBackend, CompilesAndLoadsItsOwnArtifacts) {
  const Chain chain = test::chain();
  const auto backend = instance_of(compiling());
  const std::vector<CompileRequest> requests = {request_for(chain, chain.relu), request_for(chain, chain.neg)};
  const auto artifacts = backend->compile(requests, {});
  ASSERT_EQ(artifacts.size(), 2U);
  ASSERT_TRUE(artifacts[1]);
  EXPECT_EQ(artifacts[1]->bytes, "compiled");
  EXPECT_TRUE(backend->load(load_of(*artifacts[1])));
  EXPECT_EQ(test::prepare_one(*backend, load_of(*artifacts[1])).value(), std::nullopt);
}

TEST(HookedBackend, AnArtifactThatSaysNothingBelongsToTheBuildThatMadeIt) {
  const Chain chain = test::chain();
  const CompileRequest request = request_for(chain, chain.relu);
  BackendHooks hooks = compiling();
  const Artifact artifact = instance_of(hooks)->compile({&request, 1}, {})[0].value();
  const auto rebuilt = make_hooked_backend(hooks, {.name = "fake", .options = {}, .build = "b2"});
  EXPECT_EQ(rebuilt->load(load_of(artifact)).error().code, "backend/incompatible-artifact");
  EXPECT_EQ(test::prepare_one(*rebuilt, load_of(artifact)).error().code, "backend/incompatible-artifact");
  Artifact foreign = artifact;
  foreign.compatibility = "native/1 avx2";
  EXPECT_EQ(instance_of(hooks)->load(load_of(foreign)).error().code, "backend/incompatible-artifact");
  hooks.load = [](const BackendOptions&, const LoadRequest& given) -> Result<std::unique_ptr<Kernel>> {
    return fail(ExitCode::kBadInput, "fake/seen", "load", std::string(given.artifact.compatibility));
  };
  hooks.compile = [](const BackendOptions&, std::span<const CompileRequest>, const CompileOptions&) {
    return test::MaybeArtifacts{Artifact{.compatibility = "format 3"}};
  };
  const Artifact labelled = instance_of(hooks)->compile({&request, 1}, {})[0].value();
  const auto another = make_hooked_backend(hooks, {.name = "fake", .options = {}, .build = "b2"});
  EXPECT_EQ(another->load(load_of(labelled)).error().saw, "format 3");
}

TEST(HookedBackend, TensorCodeGoesToItsOwnCodeGenerator) {
  const Chain chain = test::chain();
  Generator generator;
  const BackendHooks hooks = {.kind = "fake",
                              .rules = test::relu_rules,
                              .lower = test::lower_each,
                              .codegen = test::codegen_each,
                              .load = test::load_one};
  const auto backend = instance_of(hooks, &generator);
  const CompileRequest request = request_for(chain, chain.relu);
  const Artifact artifact = backend->compile({&request, 1}, {})[0].value();
  EXPECT_EQ(artifact.bytes, "generated");
  EXPECT_TRUE(backend->load(load_of(artifact)));
  EXPECT_EQ(generator.loaded, "");
}

TEST(HookedBackend, TensorCodeGoesToTheCodeGeneratorGivenWhenItHasNone) {
  const Chain chain = test::chain();
  Generator generator;
  const BackendHooks hooks = {.kind = "fake", .rules = test::relu_rules, .lower = test::lower_each};
  const auto backend = instance_of(hooks, &generator);
  const CompileRequest request = request_for(chain, chain.relu);
  const Artifact artifact = backend->compile({&request, 1}, {})[0].value();
  EXPECT_EQ(artifact.bytes, "machine code");
  EXPECT_TRUE(backend->load(load_of(artifact)));
  EXPECT_EQ(generator.loaded, "generator 1");
  EXPECT_EQ(test::prepare_one(*backend, load_of(artifact)).value()->bytes, "packed");

  EXPECT_EQ(reason_of(*instance_of(hooks), chain, chain.relu), "no code generator for tensor code");
  const auto missing = instance_of(hooks, fail(ExitCode::kUnsupported, "backend/missing", "native", "no Halide"));
  EXPECT_EQ(reason_of(*missing, chain, chain.relu), "no code generator for tensor code: no Halide");
  EXPECT_EQ(missing->load(load_of(artifact)).error().code, "backend/incompatible-artifact");
}

TEST(HookedBackend, WhatIsNotLoweredIsCompiledOrRefused) {
  const Chain chain = test::chain();
  BackendHooks hooks = compiling();
  hooks.lower = [](const BackendOptions&, std::span<const CompileRequest> requests, const CompileOptions&) {
    test::MaybeCodes codes;
    for (const CompileRequest& request : requests)
      if (request.region.nodes.contains(0))
        codes.emplace_back(test::row_code());
      else
        codes.emplace_back(std::unexpected(Refusal{RefusalReason::kOperator, "not lowered"}));
    return codes;
  };
  Generator generator;
  const std::vector<CompileRequest> requests = {request_for(chain, chain.neg), request_for(chain, chain.relu),
                                                request_for(chain, chain.neg)};
  const auto artifacts = instance_of(hooks, &generator)->compile(requests, {});
  ASSERT_EQ(artifacts.size(), 3U);
  EXPECT_EQ(artifacts[0]->bytes, "compiled");
  EXPECT_EQ(artifacts[1]->bytes, "machine code");
  EXPECT_EQ(artifacts[2]->bytes, "compiled");
  hooks.compile = nullptr;
  EXPECT_EQ(reason_of(*instance_of(hooks, &generator), chain, chain.neg), "not lowered");
}

TEST(HookedBackend, ThrowingHooksAreRefusalsAndErrors) {
  const Chain chain = test::chain();
  BackendHooks hooks = compiling();
  hooks.support = [](const BackendOptions&, const Graph&, const Region&,
                     const CompileOptions&) -> std::expected<std::vector<Variant>, Refusal> { throw 7; };
  hooks.compile = [](const BackendOptions&, std::span<const CompileRequest>,
                     const CompileOptions&) -> test::MaybeArtifacts { throw std::runtime_error("out of registers"); };
  hooks.load = [](const BackendOptions&, const LoadRequest&) -> Result<std::unique_ptr<Kernel>> {
    throw std::runtime_error("no card");
  };
  hooks.prepare_constants = [](const BackendOptions&, std::span<const LoadRequest>) -> std::vector<MaybePrepared> {
    throw std::runtime_error("no weights");
  };
  const auto backend = instance_of(hooks);
  EXPECT_THAT(backend->support(chain.graph, chain.relu, {}).error().detail, HasSubstr("support threw"));
  EXPECT_EQ(reason_of(*backend, chain, chain.relu), "compile threw: out of registers");
  const Artifact artifact{.bytes = "", .compatibility = "own x"};
  EXPECT_EQ(backend->load(load_of(artifact)).error().saw, "load threw: no card");
  EXPECT_EQ(test::prepare_one(*backend, load_of(artifact)).error().saw, "prepare_constants threw: no weights");
}

TEST(HookedBackend, LinksAllItsKernelsInOneCallAndLoadsThemByEntryPoint) {
  BackendHooks hooks = compiling();
  hooks.link = [](const BackendOptions&, std::span<const LoadRequest> kernels) -> Result<LinkedKernels> {
    LinkedKernels linked{.artifacts = {{.bytes = std::to_string(kernels.size()) + " kernels", .compatibility = ""}},
                         .entries = {}};
    for (const LoadRequest& kernel : kernels)
      linked.entries.push_back(EntryPoint{.artifact = 0, .name = "of " + std::string(kernel.artifact.bytes)});
    return linked;
  };
  hooks.load = [](const BackendOptions&, const LoadRequest& given) -> Result<std::unique_ptr<Kernel>> {
    return fail(ExitCode::kBadInput, "fake/seen", std::string(given.artifact.bytes), std::string(given.artifact.entry));
  };
  const auto backend = instance_of(hooks);
  const std::vector<Artifact> artifacts = {{.bytes = "a", .compatibility = "own x"},
                                           {.bytes = "b", .compatibility = "of others"},
                                           {.bytes = "c", .compatibility = "own x"}};
  const std::vector<LoadRequest> requests = {load_of(artifacts[0]), load_of(artifacts[1]), load_of(artifacts[2])};
  const LinkedKernels linked = extension_of<LinkExtension>(*backend)->link(requests).value();
  ASSERT_EQ(linked.artifacts.size(), 1U);
  ASSERT_EQ(linked.entries.size(), 3U);
  EXPECT_FALSE(linked.entries[1]) << "none of its own";
  const Artifact unit{.bytes = linked.artifacts[0].bytes, .compatibility = linked.artifacts[0].compatibility};
  LoadRequest request = load_of(unit);
  request.artifact.entry = linked.entries[2].value().name;
  const Error seen = backend->load(request).error();
  EXPECT_EQ(seen.where, "2 kernels");
  EXPECT_EQ(seen.saw, "of c");
}

TEST(HookedBackend, AnAnswerOfLinkThatCannotBeUsedIsAnError) {
  BackendHooks hooks = compiling();
  const Artifact artifact{.bytes = "a", .compatibility = "own x"};
  const LoadRequest request = load_of(artifact);
  const auto words = [&] {
    const auto backend = instance_of(hooks);
    const auto linked = extension_of<LinkExtension>(*backend)->link({&request, 1});
    return linked ? "linked" : linked.error().saw;
  };
  EXPECT_EQ(words(), "linked") << "without the hook every kernel stays as it is";
  hooks.link = [](const BackendOptions&, std::span<const LoadRequest>) -> Result<LinkedKernels> { throw 7; };
  EXPECT_THAT(words(), HasSubstr("link threw"));
  hooks.link = [](const BackendOptions&, std::span<const LoadRequest>) -> Result<LinkedKernels> {
    return LinkedKernels{};
  };
  EXPECT_EQ(words(), "link gave 0 results for 1");
  hooks.link = [](const BackendOptions&, std::span<const LoadRequest>) -> Result<LinkedKernels> {
    return LinkedKernels{.artifacts = {}, .entries = {EntryPoint{.artifact = 0, .name = "x"}}};
  };
  EXPECT_THAT(words(), HasSubstr("artifact 0 of 0"));
}

TEST(HookedBackend, AWrongNumberOfResultsIsARefusal) {
  const Chain chain = test::chain();
  BackendHooks hooks = compiling();
  hooks.compile = [](const BackendOptions&, std::span<const CompileRequest>, const CompileOptions&) {
    return test::MaybeArtifacts(3, Artifact{});
  };
  EXPECT_EQ(reason_of(*instance_of(hooks), chain, chain.relu), "compile gave 3 results for 1");
  hooks.lower = [](const BackendOptions&, std::span<const CompileRequest>, const CompileOptions&) {
    return test::MaybeCodes();
  };
  hooks.compile = nullptr;
  EXPECT_EQ(reason_of(*instance_of(hooks), chain, chain.relu), "lower gave 0 results for 1");
  hooks.prepare_constants = [](const BackendOptions&, std::span<const LoadRequest>) {
    return std::vector<MaybePrepared>();
  };
  const Artifact artifact{.bytes = "", .compatibility = "own x"};
  EXPECT_EQ(test::prepare_one(*instance_of(hooks), load_of(artifact)).error().saw,
            "prepare_constants gave 0 results for 1");
}

TEST(HookedBackend, AnswersThatNameWhatIsNotThereAreRefused) {
  const Chain chain = test::chain();
  BackendHooks hooks = compiling();
  hooks.compile = [](const BackendOptions&, std::span<const CompileRequest> requests, const CompileOptions&) {
    return test::MaybeArtifacts{Artifact{.constants = {requests[0].region.inputs[0]}}};
  };
  EXPECT_THAT(reason_of(*instance_of(hooks), chain, chain.relu), HasSubstr("a constant which is none"));
  hooks.compile = [](const BackendOptions&, std::span<const CompileRequest>, const CompileOptions&) {
    return test::MaybeArtifacts{Artifact{.in_place = {{0, 4}}}};
  };
  EXPECT_THAT(reason_of(*instance_of(hooks), chain, chain.relu), HasSubstr("in place of input 4"));
  hooks.prepare_constants = [](const BackendOptions&, std::span<const LoadRequest>) {
    return std::vector<MaybePrepared>{PreparedArtifact{.bytes = "", .constants = {std::size_t{5}}}};
  };
  const Artifact artifact{.bytes = "", .compatibility = "own x"};
  EXPECT_THAT(test::prepare_one(*instance_of(hooks), load_of(artifact)).error().saw, HasSubstr("not there"));
  hooks.load = [](const BackendOptions&, const LoadRequest&) { return Result<std::unique_ptr<Kernel>>(nullptr); };
  EXPECT_EQ(instance_of(hooks)->load(load_of(artifact)).error().saw, "load gave no kernel");
}

TEST(HookedBackend, AWholeModelIsForEnginesOnly) {
  const Chain chain = test::chain();
  CompileRequest request = request_for(chain, chain.both);
  request.model_bytes = "onnx";
  BackendHooks hooks = compiling();
  EXPECT_EQ(instance_of(hooks)->compile({&request, 1}, {})[0].error().reason, RefusalReason::kStructure);
  hooks.probe = [](const BackendOptions&) { return BackendInfo{.is_engine = true}; };
  EXPECT_TRUE(instance_of(hooks)->compile({&request, 1}, {})[0]);
  hooks.lower = test::lower_each;
  EXPECT_THAT(instance_of(hooks)->info().unusable, HasSubstr("engine with lower"));
}

TEST(HookedBackend, AKernelThatThrowsIsAnError) {
  BackendHooks hooks = compiling();
  hooks.load = [](const BackendOptions&, const LoadRequest&) -> Result<std::unique_ptr<Kernel>> {
    return make_kernel([](const Buffers&) -> Result<void> { throw std::runtime_error("card on fire"); });
  };
  const Artifact artifact{.bytes = "", .compatibility = "own x"};
  const auto kernel = instance_of(hooks)->load(load_of(artifact)).value();
  const auto ran = kernel->bind({}).value()->run();
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().code, "backend/library-failed");
  EXPECT_EQ(ran.error().saw, "card on fire");
}

}  // namespace
}  // namespace collage
