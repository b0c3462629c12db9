// Kernels that were compiled one by one, linked into one artifact.
#include "backend/extensions/link_extension.h"

#include <set>

#include "backend/extensions/export_extension.h"
#include "native_fixture.h"
#include "program_binary.h"

namespace collage::test {
namespace {

constexpr const char* kConvolution =
    "graph(%x: f32[1,16,9,11], %w: f32[24,16,3,3], %w2: f32[24]) -> (%y) { %c: f32[1,24,9,11] = Conv(%x, %w, %w2) "
    "{kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[1,24,9,11] = Relu(%c) }";
constexpr const char* kProduct = "graph(%a: f32[5,32], %w: f32[32,48]) -> (%y) { %y: f32[5,48] = MatMul(%a, %w) }";
constexpr const char* kSum = "graph(%a: f32[65], %b: f32[65]) -> (%y) { %y: f32[65] = Add(%a, %b) }";

/// One compiled kernel.
struct Compiled {
  Compiled(const char* text, std::size_t number, const CompileOptions& options = {})
      : graph(graph_of(text)),
        variant(variants_of(compiling(), graph, options).at(number)),
        artifact(artifact_of(compiling(), graph, variant, options)) {}
  [[nodiscard]] LoadRequest request() const { return request_of(graph, variant, artifact); }
  [[nodiscard]] std::vector<Tensor> run(Backend& backend, const LoadRequest& what) const {
    const auto kernel = backend.load(what);
    EXPECT_TRUE(kernel) << to_string(kernel.error());
    return kernel ? run_kernel(**kernel, graph, variant, artifact.workspace_bytes) : std::vector<Tensor>();
  }

  Graph graph;
  Variant variant;
  Artifact artifact;
};

LinkedKernels linked(const std::vector<LoadRequest>& kernels) {
  auto made = extension_of<LinkExtension>(compiling())->link(kernels);
  EXPECT_TRUE(made) << to_string(made.error());
  return made ? *std::move(made) : LinkedKernels{};
}

/// A kernel's request for its place in a linked artifact.
LoadRequest at(LoadRequest request, const LinkedKernels& all, std::size_t kernel) {
  const EntryPoint& entry = all.entries.at(kernel).value();
  request.artifact.bytes = all.artifacts.at(entry.artifact).bytes;
  request.artifact.compatibility = all.artifacts.at(entry.artifact).compatibility;
  request.artifact.entry = entry.name;
  return request;
}

TEST(LinkedKernels, GiveTheNumbersOfTheArtifactsAlone) {
  std::vector<Compiled> kernels;
  for (const char* text : {kConvolution, kProduct, kSum}) kernels.emplace_back(text, 0);
  kernels.emplace_back(kConvolution, 1);
  std::vector<LoadRequest> requests;
  for (const Compiled& kernel : kernels) requests.push_back(kernel.request());
  const LinkedKernels all = linked(requests);
  ASSERT_EQ(all.artifacts.size(), 1U);
  std::set<std::string> names;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    SCOPED_TRACE(kernels[i].variant.name);
    names.insert(all.entries.at(i).value().name);
    EXPECT_EQ(kernels[i].run(loading(), at(requests[i], all, i)), kernels[i].run(loading(), requests[i]));
  }
  EXPECT_EQ(names.size(), kernels.size());
  const auto unit = native::unit_of(all.artifacts[0].bytes);
  ASSERT_TRUE(unit);
  ASSERT_EQ(unit->codes.size(), 1U);
  EXPECT_FALSE(unit->codes[0].objects.empty());
  EXPECT_EQ(unit->programs.size(), kernels.size());
}

TEST(LinkedKernels, OfTheSameCodeAreLinkedOnce) {
  const Compiled kernel(kProduct, 0);
  const LinkedKernels all = linked({kernel.request(), kernel.request()});
  EXPECT_EQ(all.entries.at(0).value().name, all.entries.at(1).value().name);
}

TEST(LinkedKernels, HaveCodeForEveryInstructionSetOfTheirArtifacts) {
  const CompileOptions portable{.portable = true};
  const Compiled sum(kSum, 0, portable);
  const Compiled product(kProduct, 0, portable);
  const LinkedKernels all = linked({sum.request(), product.request()});
  ASSERT_EQ(all.artifacts.size(), 1U);
  EXPECT_EQ(all.artifacts[0].compatibility, sum.artifact.compatibility);
  Backend& baseline = loading("native:isa=avx2");
  EXPECT_EQ(sum.run(baseline, at(sum.request(), all, 0)), sum.run(baseline, sum.request()));
}

TEST(LinkedKernels, LeaveOutWhatHasNoObjectFiles) {
  Compiled alone(kSum, 0);
  const Compiled product(kProduct, 0);
  auto stored = native::program_of(alone.artifact.bytes).value();
  for (native::CodeBytes& code : stored.codes) code.objects.clear();
  alone.artifact.bytes = native::to_bytes(stored.program, stored.codes);
  const LinkedKernels all = linked({alone.request(), product.request()});
  EXPECT_FALSE(all.entries.at(0));
  EXPECT_TRUE(all.entries.at(1));
}

TEST(LinkedKernels, AreExportedAsNamesAndObjectFiles) {
  const Compiled sum(kSum, 0, {.portable = true});
  const Compiled product(kProduct, 0, {.portable = true});
  const LinkedKernels all = linked({sum.request(), product.request()});
  const auto* const exporting = extension_of<ExportExtension>(loading());
  ASSERT_NE(exporting, nullptr);
  const auto made = exporting->exported(at(sum.request(), all, 0).artifact, "code7");
  ASSERT_TRUE(made) << to_string(made.error());
  const auto unit = native::unit_from_binary(made->bytes);
  ASSERT_TRUE(unit) << to_string(unit.error());
  EXPECT_EQ(unit->programs, native::unit_of(all.artifacts[0].bytes)->programs);
  ASSERT_EQ(made->code.size(), unit->codes.size()) << "code for each instruction set";
  std::set<std::string> names;
  for (std::size_t i = 0; i < made->code.size(); ++i) {
    EXPECT_EQ(unit->codes[i].shared_object, made->code[i].name);
    EXPECT_TRUE(made->code[i].name.starts_with("code7"));
    EXPECT_EQ(made->code[i].symbols.size(), 2U);
    EXPECT_GE(made->code[i].objects.size(), 2U);
    names.insert(made->code[i].name);
  }
  EXPECT_EQ(names.size(), made->code.size());
}

TEST(LinkedKernels, AreNotExportedWithoutObjectFilesOrWithALibrary) {
  const Compiled sum(kSum, 0);
  auto stored = native::program_of(sum.artifact.bytes).value();
  const auto code_of = [&] {
    Artifact changed = sum.artifact;
    changed.bytes = native::to_bytes(stored.program, stored.codes);
    return extension_of<ExportExtension>(loading())->exported(changed, "p").error().code;
  };
  stored.program.library = "openblas";
  EXPECT_EQ(code_of(), "export/not-linkable");
  stored.program.library.clear();
  for (native::CodeBytes& code : stored.codes) code.objects.clear();
  EXPECT_EQ(code_of(), "export/not-linkable");
}

TEST(LinkedKernels, AreRefusedUnderAnotherNameOrWhenDamaged) {
  const Compiled kernel(kSum, 0);
  const LinkedKernels all = linked({kernel.request()});
  LoadRequest request = at(kernel.request(), all, 0);
  request.artifact.entry = "another";
  EXPECT_EQ(loading().load(request).error().code, "backend/bad-artifact");
  request = at(kernel.request(), all, 0);
  request.artifact.entry = {};
  EXPECT_EQ(loading().load(request).error().code, "backend/bad-artifact") << "several kernels, none named";
  std::string damaged = all.artifacts[0].bytes;
  damaged.back() ^= 1;
  request = at(kernel.request(), all, 0);
  request.artifact.bytes = damaged;
  EXPECT_EQ(loading().load(request).error().code, "backend/bad-artifact");
}

}  // namespace
}  // namespace collage::test
