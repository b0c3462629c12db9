// The CUDA C of regions: its kernels, and that NVRTC takes it where NVRTC is.
#include <gmock/gmock.h>

#include "backends/nvrtc/cuda_artifact.h"
#include "backends/nvrtc/nvrtc_library.h"
#include "tests/support/cuda/mutants.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/variant_runner.h"
#include "tests/support/written_graph.h"

namespace collage::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

nvrtc::StoredKernels kernels_of(const std::string& text, const std::string& variant) {
  const Graph graph = graph_of(text);
  const auto stored = nvrtc::stored_kernels(artifact_of(compiling(nvrtc_on_host()), graph, variant, 1).bytes);
  if (!stored) throw std::runtime_error(to_string(stored.error()));
  return *stored;
}

/// What stands behind the prelude.
std::string text_of(const nvrtc::StoredKernels& kernels) {
  return kernels.source.substr(kernels.source.find("extern \"C\""));
}

const char* const kChain = R"(graph(%x: f32[3,5], %y: f32[5]) -> (%z) {
  %s: f32[3,5] = Add(%x, %y)
  %z: f32[3,5] = Relu(%s)
})";
const char* const kSoftmax = R"(graph(%x: f32[7,100]) -> (%z) {
  %z: f32[7,100] = Softmax(%x) {axis=-1}
})";

TEST(CudaText, ElementwiseWorkIsOneKernelWithAThreadForEachElement) {
  const nvrtc::StoredKernels kernels = kernels_of(kChain, "flat.plain@threads");
  ASSERT_EQ(kernels.kernels.size(), 1U);
  EXPECT_EQ(kernels.kernels[0].blocks, 1U);
  EXPECT_EQ(kernels.kernels[0].threads, 256U);
  EXPECT_EQ(kernels.workspace_bytes, 0U);
  const std::string& name = kernels.kernels[0].name;
  EXPECT_EQ(text_of(kernels),
            "extern \"C\" __global__ void " + name +
                R"((const float* __restrict__ in0, const float* __restrict__ in1, float* __restrict__ out2) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= 15) return;
  const int i0 = at % 5;
  const int rest0 = at / 5;
  const int i1 = rest0;
  const float t0 = in0[i0 + i1 * 5];
  const float t1 = in1[i0];
  const float t2 = t0 + t1;
  const float t3 = larger<float>(t2, 0x0p+0f);
  float value0 = t3;
  out2[i0 + i1 * 5] = float(value0);
}
)");
}

TEST(CudaText, LongRowsAreJoinedByBlocks) {
  const nvrtc::StoredKernels kernels = kernels_of(kSoftmax, "rows.plain@blocks");
  std::vector<std::uint32_t> blocks;
  for (const native::CudaKernel& kernel : kernels.kernels) blocks.push_back(kernel.blocks);
  EXPECT_THAT(blocks, ElementsAre(7U, 7U, 3U)) << text_of(kernels);
  EXPECT_THAT(text_of(kernels), HasSubstr("__syncthreads()"));
}

TEST(CudaText, IsCompiledByNvrtcForGpus) {
  const auto library = nvrtc::NvrtcLibrary::open("");
  if (!library) GTEST_SKIP() << library.error();
  for (const auto& [text, variant] : {std::pair(kChain, "flat.plain@threads"), {kSoftmax, "rows.plain@blocks"}}) {
    const nvrtc::StoredKernels kernels = kernels_of(text, variant);
    for (const int capability : {75, 90}) {
      const auto cubin = library->compile(kernels.source, library->architecture_for(capability), true);
      ASSERT_TRUE(cubin) << cubin.error() << '\n' << kernels.source;
      EXPECT_TRUE(
          cubin->starts_with("\x7f"
                             "ELF"));
    }
  }
}

TEST(CudaText, NvrtcSaysWhatIsWrong) {
  const auto library = nvrtc::NvrtcLibrary::open("");
  if (!library) GTEST_SKIP() << library.error();
  const auto cubin = library->compile("extern \"C\" __global__ void f() { unknown(); }", 90, true);
  ASSERT_FALSE(cubin);
  EXPECT_THAT(cubin.error(), HasSubstr("unknown"));
}

TEST(CudaText, BytesOfOthersAreRefused) {
  for (const std::string bytes : {"", "cuda-kernels/1\n", "cuda-kernels/1\nxxxxxxxx"}) {
    const auto stored = nvrtc::stored_kernels(bytes);
    ASSERT_FALSE(stored);
    EXPECT_EQ(stored.error().code, "backend/bad-artifact");
  }
}

/// The cubin is code, and stays what it is: what is said about it changes.
TEST(CudaText, ArtifactsOfStrangersAreRefusedOrLoaded) {
  const Graph graph = graph_of(kSoftmax);
  const Variant variant = variants_of(nvrtc_on_host(), graph).at(1);
  Artifact artifact = artifact_of(compiling(nvrtc_on_host()), graph, variant);
  nvrtc::StoredKernels stored = nvrtc::stored_kernels(artifact.bytes).value();
  const std::string cubin = std::exchange(stored.cubin, {});
  stored.source.clear();
  artifact.bytes = nvrtc::to_bytes(stored);
  expect_mutants_end_well(artifact, [&](Artifact mutant) {
    auto read = nvrtc::stored_kernels(mutant.bytes);
    if (!read) return false;
    read->cubin = cubin;
    mutant.bytes = nvrtc::to_bytes(*read);
    return loading(nvrtc_on_host()).load(request_of(graph, variant, mutant)).has_value();
  });
}

}  // namespace
}  // namespace collage::test
