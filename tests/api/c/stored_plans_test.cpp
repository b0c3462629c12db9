// Plans that an earlier version of the program wrote are loaded and run by this one, and give the outputs that were
// stored with them. tools/store_plans.py makes new ones; one that is there stays.
#include <cmath>
#include <filesystem>

#include "base/json_numbers.h"
#include "tests/api/c/c_fixture.h"
#include "tests/support/whole_file.h"

namespace collage::test {
namespace {

using nlohmann::json;

/// NAME of each NAME.collage.
std::vector<std::string> stored_plans() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("/tests/api/c/stored")))
    if (entry.path().extension() == ".collage") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::string stored(const std::string& file) { return source_path("/tests/api/c/stored/" + file); }

class StoredPlans : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    // Kernels in them need it.
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c"))
      GTEST_SKIP() << "this processor has no AVX2";
    collage_plan* made = nullptr;
    ASSERT_TRUE(is_good(c_api().plan_load_file(stored(GetParam() + ".collage").c_str(), nullptr, &made)));
    plan_.reset(made);
    collage_session* session = nullptr;
    ASSERT_TRUE(is_good(c_api().session_create(plan_.get(), nullptr, &session)));
    session_.reset(session);
  }

  /// Sets the shapes of the inputs of a run, in the plan's order.
  void set_shapes(const json& inputs) {
    std::vector<std::vector<std::int64_t>> extents(inputs.size());
    std::vector<collage_shape> shapes(inputs.size());
    for (const auto& [name, tensor] : inputs.items()) {
      std::size_t index = 0;
      ASSERT_TRUE(is_good(c_api().plan_input_index(plan_.get(), name.c_str(), &index)));
      extents.at(index) = tensor["shape"].get<std::vector<std::int64_t>>();
      shapes.at(index) = {.extents = extents[index].data(), .rank = extents[index].size()};
    }
    ASSERT_TRUE(is_good(c_api().session_set_shapes(session_.get(), shapes.data(), shapes.size())));
  }

  void copy_inputs(const json& inputs) {
    for (const auto& [name, tensor] : inputs.items()) {
      const auto values = tensor["values"].get<std::vector<float>>();
      std::size_t index = 0;
      ASSERT_TRUE(is_good(c_api().session_input_index(session_.get(), name.c_str(), &index)));
      ASSERT_TRUE(
          is_good(c_api().session_copy_input(session_.get(), index, values.data(), values.size() * sizeof(float))));
    }
  }

  void expect_outputs(const json& outputs) {
    for (const auto& [name, tensor] : outputs.items()) {
      std::size_t index = 0;
      ASSERT_TRUE(is_good(c_api().session_output_index(session_.get(), name.c_str(), &index)));
      collage_tensor saw{.size = sizeof saw};
      ASSERT_TRUE(is_good(c_api().session_output(session_.get(), index, &saw)));
      EXPECT_EQ(std::vector(saw.extents, saw.extents + saw.rank), tensor["shape"].get<std::vector<std::int64_t>>());
      ASSERT_EQ(saw.element_type, COLLAGE_FLOAT32);
      const auto wanted = tensor["values"].get<std::vector<float>>();
      ASSERT_EQ(saw.bytes, wanted.size() * sizeof(float));
      const auto* const values = static_cast<const float*>(saw.data);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_NEAR(values[i], wanted[i], 1e-5 + 1e-5 * std::abs(wanted[i])) << name << "[" << i << "]";
    }
  }

  PlanHandle plan_;
  SessionHandle session_;
};

TEST_P(StoredPlans, GiveTheOutputsStoredWithThem) {
  const json runs = json::parse(read_all(stored(GetParam() + ".json")))["runs"];
  ASSERT_FALSE(runs.empty());
  for (const json& run : runs) {
    SCOPED_TRACE(run["inputs"].dump());
    set_shapes(run["inputs"]);
    copy_inputs(run["inputs"]);
    if (HasFatalFailure()) return;
    ASSERT_TRUE(is_good(c_api().session_run(session_.get())));
    expect_outputs(run["outputs"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Plans, StoredPlans, testing::ValuesIn(stored_plans()),
                         [](const auto& instance) { return instance.param; });

}  // namespace
}  // namespace collage::test
