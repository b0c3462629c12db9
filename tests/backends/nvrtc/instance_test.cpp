// What an instance says where something that it needs is missing.
#include <gmock/gmock.h>

#include "backend/registry.h"
#include "tests/support/cuda/on_host.h"
#include "tests/support/written_graph.h"

namespace collage::test {
namespace {

using ::testing::HasSubstr;

std::string compiler() { return "compiler=" + build_path("/tests/modules/cuda/libnvrtc_on_host.so"); }

/// Why an instance is of no use; "" when it is.
std::string unusable(const std::string& instance) {
  Registry registry({build_path("/lib/collage")});
  const auto backend = registry.inspect(instance);
  return backend ? (*backend)->info().unusable : to_string(backend.error());
}

TEST(NvrtcInstance, NamesTheDriverThatIsNotHere) {
  EXPECT_THAT(unusable("nvrtc:driver=/nowhere/libcuda.so.1"), HasSubstr("no NVIDIA driver: /nowhere/libcuda.so.1"));
}

TEST(NvrtcInstance, WithoutACompilerItRunsPlansAndRefusesRegions) {
  const std::string instance = "nvrtc:compiler=/nowhere/libnvrtc.so,driver=" + cuda_on_host();
  EXPECT_EQ(unusable(instance), "");
  EXPECT_THAT(refusal_of(instance, "graph(%x: f32[3]) -> (%z) { %z: f32[3] = Relu(%x) }"),
              HasSubstr("missing: no NVRTC: /nowhere/libnvrtc.so"));
}

TEST(NvrtcInstance, NamesAGpuThatIsNotHere) {
  EXPECT_EQ(unusable("nvrtc:" + compiler() + ",device=3,driver=" + cuda_on_host()), "no GPU 3: there are 1");
  EXPECT_THAT(unusable("nvrtc:device=first"), HasSubstr("allowed the number of a GPU"));
}

TEST(NvrtcInstance, RefusesAnUnknownOption) {
  EXPECT_EQ(unusable("nvrtc:card=1"), "unknown option card; allowed device, driver, compiler");
}

TEST(NvrtcInstance, TellsWhatItIs) {
  Registry registry({build_path("/lib/collage")});
  const auto backend = registry.get(nvrtc_on_host());
  ASSERT_TRUE(backend) << to_string(backend.error());
  const BackendInfo& info = (*backend)->info();
  EXPECT_EQ(info.location, "cuda");
  EXPECT_EQ(info.version, "13.0");
  EXPECT_THAT(info.build, HasSubstr("processor in place of a GPU 9.0 CUDA 13.0"));
  EXPECT_EQ(info.location_bytes, std::int64_t{4} << 30);
}

}  // namespace
}  // namespace collage::test
