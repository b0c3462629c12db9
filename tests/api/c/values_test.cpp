// Strings, sequences, optionals and maps through the table: of a plan that gives back what it was given.
#include <cstring>

#include "tests/api/c/c_fixture.h"

namespace collage {
namespace {

using test::CApi;
using test::code_of;
using test::is_good;
using test::PlanHandle;
using test::SessionHandle;

/// Inputs and outputs: words str[2], parts seq(f32[?]), x f32[2] -> x + 1.
RealisedPlan passing_plan() {
  Graph graph;
  graph.opsets = {{"", 26}};
  const ValueId words = add_value(graph, "words", *parse_value_type("str[2]"));
  const ValueId parts = add_value(graph, "parts", *parse_value_type("seq(f32[?])"));
  const ValueId x = add_value(graph, "x", *parse_value_type("f32[2]"));
  graph.inputs = {words, parts, x};
  const ValueId one = add_constant(graph, "one", make_tensor<float>(ElementType::kFloat32, {1}, {1}));
  graph.outputs = {words, parts, add_op(graph, "Add", {x, one}, {2})};
  return all_plain(graph);
}

class CApiValues : public CApi {
 protected:
  collage_status* set(const std::vector<std::string>& texts) const {
    std::vector<collage_string> views;
    for (const std::string& text : texts) views.push_back({text.data(), text.size()});
    return api_.session_set_strings(session_.get(), 0, views.data(), views.size());
  }
  collage_status* set_json(std::size_t index, const std::string& json) const {
    return api_.session_set_json(session_.get(), index, json.data(), json.size());
  }
  [[nodiscard]] std::string json_of(std::size_t index) const {
    const char* json = "";
    std::size_t bytes = 0;
    EXPECT_TRUE(is_good(api_.session_output_json(session_.get(), index, &json, &bytes)));
    EXPECT_EQ(std::strlen(json), bytes);
    return json;
  }
  void run() const { ASSERT_TRUE(is_good(api_.session_run(session_.get()))); }

  PlanHandle plan_ = loaded(saved(single_case(passing_plan()), "values.collage"));
  SessionHandle session_ = session_of(plan_);
};

TEST_F(CApiValues, TellsWholeTypes) {
  const char* type = nullptr;
  ASSERT_TRUE(is_good(api_.plan_input_type(plan_.get(), 1, &type)));
  EXPECT_STREQ(type, "seq(f32[?])");
  ASSERT_TRUE(is_good(api_.plan_output_type(plan_.get(), 0, &type)));
  EXPECT_STREQ(type, "str[2]");
  EXPECT_EQ(code_of(api_.plan_input_type(plan_.get(), 3, &type)), "api/wrong-index");
  EXPECT_EQ(code_of(api_.plan_input_type(nullptr, 0, &type)), "api/null-argument");
  EXPECT_EQ(code_of(api_.plan_input_type(plan_.get(), 0, nullptr)), "api/null-argument");
  collage_tensor_info info{};
  info.size = sizeof info;
  ASSERT_TRUE(is_good(api_.plan_input_info(plan_.get(), 0, &info)));
  EXPECT_EQ(info.element_type, COLLAGE_STRING);
  EXPECT_EQ(info.bytes, 0U);
  ASSERT_TRUE(is_good(api_.plan_input_info(plan_.get(), 1, &info)));
  EXPECT_EQ(info.element_type, COLLAGE_UNDEFINED);
}

TEST_F(CApiValues, GoInAndComeOut) {
  const std::string with_zero("a\0b", 3);
  ASSERT_TRUE(is_good(set({with_zero, "Grüße"})));
  ASSERT_TRUE(is_good(set_json(1, "[[1,2.5],[]]")));
  ASSERT_TRUE(is_good(set_json(2, "[1,2]")));
  for (int i = 0; i < 2; ++i) {
    run();
    collage_strings given{};
    given.size = sizeof given;
    ASSERT_TRUE(is_good(api_.session_output_strings(session_.get(), 0, &given)));
    ASSERT_EQ(given.count, 2U);
    EXPECT_EQ(std::string(given.strings[0].data, given.strings[0].bytes), with_zero);
    EXPECT_EQ(std::string(given.strings[1].data, given.strings[1].bytes), "Grüße");
    ASSERT_EQ(given.rank, 1);
    EXPECT_EQ(given.extents[0], 2);
    EXPECT_EQ(json_of(1), "[[1.0,2.5],[]]");
    EXPECT_EQ(json_of(2), "[2.0,3.0]");
  }
  ASSERT_TRUE(is_good(set({"c", ""})));
  ASSERT_TRUE(is_good(set_json(1, "[]")));
  run();
  EXPECT_EQ(json_of(0), R"(["c",""])");
  EXPECT_EQ(json_of(1), "[]");
}

TEST_F(CApiValues, RunsNeedThem) {
  ASSERT_TRUE(is_good(set({"a", "b"})));
  ASSERT_TRUE(is_good(set_json(2, "[1,2]")));
  run();
  const char* json = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(code_of(api_.session_output_json(session_.get(), 1, &json, &bytes)), "input/missing");
}

TEST_F(CApiValues, WrongOnesAreErrors) {
  EXPECT_EQ(code_of(set({"a"})), "api/wrong-count");
  EXPECT_EQ(code_of(set({"a", "\xff"})), "input/not-utf8");
  const collage_string null_text = {nullptr, 1};
  EXPECT_EQ(code_of(api_.session_set_strings(session_.get(), 0, nullptr, 2)), "api/null-argument");
  const std::array<collage_string, 2> nulls = {null_text, null_text};
  EXPECT_EQ(code_of(api_.session_set_strings(session_.get(), 0, nulls.data(), 2)), "api/null-argument");
  EXPECT_EQ(code_of(api_.session_set_strings(session_.get(), 1, nulls.data(), 2)), "api/wrong-type");
  EXPECT_EQ(code_of(api_.session_set_strings(session_.get(), 7, nulls.data(), 2)), "api/wrong-index");
  EXPECT_EQ(code_of(set_json(1, "[[1],[[2]]]")), "tensor/malformed");
  EXPECT_EQ(code_of(set_json(1, "[[1]")), "tensor/malformed");
  EXPECT_EQ(code_of(set_json(2, "[1,2,3]")), "input/wrong-shape");
  EXPECT_EQ(code_of(set_json(0, R"(["a"])")), "input/wrong-shape");
  EXPECT_EQ(code_of(api_.session_set_json(session_.get(), 0, nullptr, 0)), "api/null-argument");
  const char* json = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(code_of(api_.session_output_json(session_.get(), 0, &json, &bytes)), "session/not-run");
  // They have no bytes.
  void* data = nullptr;
  EXPECT_EQ(code_of(api_.session_input(session_.get(), 0, &data, &bytes)), "api/no-bytes");
  EXPECT_EQ(code_of(api_.session_copy_input(session_.get(), 1, "a", 1)), "api/no-bytes");
  EXPECT_EQ(code_of(api_.session_bind_input(session_.get(), 0, &data, 8)), "runtime/no-port");
  ASSERT_TRUE(is_good(set({"a", "b"})));
  ASSERT_TRUE(is_good(set_json(1, "[]")));
  ASSERT_TRUE(is_good(set_json(2, "[1,2]")));
  run();
  collage_tensor tensor{};
  tensor.size = sizeof tensor;
  EXPECT_EQ(code_of(api_.session_output(session_.get(), 0, &tensor)), "api/no-bytes");
  collage_strings strings{};
  strings.size = sizeof strings;
  EXPECT_EQ(code_of(api_.session_output_strings(session_.get(), 2, &strings)), "api/wrong-type");
  EXPECT_EQ(code_of(api_.session_output_strings(session_.get(), 0, nullptr)), "api/null-argument");
}

}  // namespace
}  // namespace collage
