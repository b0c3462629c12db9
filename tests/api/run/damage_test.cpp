// A plan file with any byte changed gives the numbers of the whole one or an error, never other numbers.
#include <fstream>
#include <map>

#include "api/run/loaded_plan.h"
#include "plan/file/cases_file.h"
#include "plan/file/plan_file.h"
#include "tests/runtime/runtime_fixture.h"
#include "tests/support/flipped_file.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/shape_cases.h"

namespace collage {
namespace {

std::vector<std::vector<float>> numbers_of(const LoadedPlan& plan) {
  auto session = plan.make_session();
  EXPECT_TRUE(session);
  for (std::size_t i = 0; i < plan.inputs().size(); ++i) fill_input(*session, i, 7 + i);
  EXPECT_TRUE(session->run());
  std::vector<std::vector<float>> outputs;
  for (std::size_t i = 0; i < plan.outputs().size(); ++i) outputs.push_back(floats_in(session->output(i)));
  return outputs;
}

class DamagedFile : public testing::Test {
 protected:
  /// Every byte of padding would take long and shows nothing new: where all is zero, one in so many.
  static constexpr std::size_t kPaddingStride = 16;

  std::string whole() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  static bool is_padding(const std::string& bytes, std::size_t at) {
    return at >= 16 && at + 16 < bytes.size() && at % kPaddingStride != 0 &&
           bytes.compare(at - 16, 32, std::string(32, '\0')) == 0;
  }

  /// `read` gives the numbers of the file, or an error.
  template <class Read>
  void expect_the_same_numbers_or_an_error(const Read& read) const {
    const auto expected = read();
    ASSERT_TRUE(expected) << to_string(expected.error());
    const std::string bytes = whole();
    const FlippedFile file(path_);
    std::map<std::string, std::size_t> codes;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      if (is_padding(bytes, at)) continue;
      const char bits = static_cast<char>(1 << at * 5 % 8);
      file.flip(at, bits);
      const auto seen = read();
      ++codes[seen ? "" : seen.error().code];
      if (seen) {
        ASSERT_EQ(*seen, *expected) << "byte " << at;
      }
      file.flip(at, bits);
    }
    EXPECT_GT(codes["plan/damaged"], bytes.size() / 10);
    EXPECT_GT(codes["zip/damaged"], 100U);
  }

  template <class Read>
  void expect_errors_when_cut(const Read& read) const {
    for (std::size_t size = whole().size(); size-- > 0;) {
      std::filesystem::resize_file(path_, size);
      const auto seen = read();
      ASSERT_FALSE(seen) << size;
      if (size % 64 != 0 && size > 64) size -= 31;
    }
  }

  test::ScratchFolder folder_;
  std::string path_ = folder_.file("x.collage");
};

TEST_F(DamagedFile, OfOneShapeGivesTheSameNumbersOrAnError) {
  ASSERT_TRUE(save_plan(all_plain(sample_graph()), path_));
  const auto read = [&]() -> Result<std::vector<std::vector<float>>> {
    COLLAGE_TRY(const LoadedPlan plan, LoadedPlan::load(path_, test_registry()));
    return numbers_of(plan);
  };
  expect_the_same_numbers_or_an_error(read);
  expect_errors_when_cut(read);
}

TEST_F(DamagedFile, OfManyShapesGivesTheSameNumbersOrAnError) {
  PlanCases made = test::rows_cases({2, 8}, true);
  ASSERT_TRUE(share_weights(made, relocate_external_data));
  ASSERT_TRUE(save_cases(made, path_));
  test::RowsBackend backend;
  const BackendSource here = [&](const std::string&) -> Result<Backend*> { return &backend; };
  const auto read = [&]() -> Result<std::vector<float>> {
    COLLAGE_TRY(PlanCases cases, load_cases(path_, Checked::kWhatRuns));
    COLLAGE_TRY(const LoadedPlan plan, LoadedPlan::load(std::move(cases), here));
    COLLAGE_TRY(Session session, plan.make_session());
    std::vector<float> numbers;
    for (const std::int64_t rows : {8, 3}) {
      COLLAGE_TRY_VOID(session.set_shapes(std::vector<Extents>{{rows, test::kCaseWidth}}));
      std::memset(session.input(0).data(), 0, session.input(0).size());
      COLLAGE_TRY_VOID(session.run());
      COLLAGE_TRY(const DynamicOutput output, session.output_tensor(0));
      const auto* const data = static_cast<const float*>(output.data);
      numbers.insert(numbers.end(), data, data + byte_count(output.type, output.extents) / sizeof(float));
    }
    return numbers;
  };
  expect_the_same_numbers_or_an_error(read);
  expect_errors_when_cut(read);
}

TEST_F(DamagedFile, IsNamedByErrorsOfItsKernels) {
  ASSERT_TRUE(save_plan(scripted_chain({"a script"}), path_));
  const auto loaded = LoadedPlan::load(path_, test_registry());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, "plan/missing-backend");
  EXPECT_THAT(loaded.error().where, testing::HasSubstr(path_));
}

}  // namespace
}  // namespace collage
