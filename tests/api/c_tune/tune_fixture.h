// Tiny models, and calls through the tables of both C interfaces as a program makes them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "api/c/collage.h"
#include "api/c_tune/collage_tune.h"
#include "base/json_numbers.h"
#include "tests/onnx/model_text.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"

namespace collage::test {

inline const collage_api& c_api() { return *collage_get_api(COLLAGE_API_VERSION); }
inline const collage_tune_api& tuner() { return *collage_get_tune_api(COLLAGE_TUNE_API_VERSION); }

/// The code of a status, "" for none. Takes it, by the table of the other library.
inline std::string code_of(collage_status* status) {
  const std::string code = c_api().status_code(status);
  c_api().status_free(status);
  return code;
}

inline ::testing::AssertionResult is_good(collage_status* status) {
  const std::string message = c_api().status_message(status);
  const bool good = status == nullptr;
  c_api().status_free(status);
  return good ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << message;
}

struct FreeTuned {
  void operator()(collage_plan* plan) const { c_api().plan_free(plan); }
  void operator()(collage_session* session) const { c_api().session_free(session); }
  void operator()(collage_report* report) const { tuner().report_free(report); }
  void operator()(collage_cancel* cancel) const { tuner().cancel_free(cancel); }
};
using PlanHandle = std::unique_ptr<collage_plan, FreeTuned>;
using SessionHandle = std::unique_ptr<collage_session, FreeTuned>;
using ReportHandle = std::unique_ptr<collage_report, FreeTuned>;
using CancelHandle = std::unique_ptr<collage_cancel, FreeTuned>;

/// A list of texts that C can read while this lives.
struct Texts {
  Texts(std::initializer_list<const char*> texts) : items(texts) {}
  operator collage_texts() const { return {items.data(), items.size()}; }
  std::vector<const char*> items;
};

/// y = floor(-x), f32[5,7].
inline std::string small_model() {
  return collage::testing::opset_model(17, "small (float[5,7] x) => (float[5,7] y) { a = Neg (x) y = Floor (a) }");
}
/// The same with open rows.
inline std::string open_model() {
  return collage::testing::opset_model(17, "open (float[n,7] x) => (float[n,7] y) { a = Neg (x) y = Floor (a) }");
}

class CTune : public ::testing::Test {
 protected:
  /// Nothing outside the test's folder is read or written.
  CTune() {
    ::setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    context.store = "memory:";
    options.model = model_.c_str();
    options.plan = plan_.c_str();
    options.budget_s = 1;
    options.backends = backends_;
    options.context = &context;
    write(model_, small_model());
  }
  ~CTune() override { ::unsetenv("XDG_CACHE_HOME"); }

  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// The report of `options`; null with a failure of the test when there is none.
  [[nodiscard]] ReportHandle tuned() const {
    collage_report* report = nullptr;
    EXPECT_TRUE(is_good(tuner().tune(&options, &report)));
    return ReportHandle(report);
  }
  /// The code of the error of `options`.
  [[nodiscard]] std::string refused() const {
    collage_report* report = nullptr;
    const std::string code = code_of(tuner().tune(&options, &report));
    EXPECT_EQ(report, nullptr);
    return code;
  }
  template <class Options>
  [[nodiscard]] static ReportHandle reported(collage_status* (*call)(const Options*, collage_report**),
                                             const Options& asked) {
    collage_report* report = nullptr;
    EXPECT_TRUE(is_good(call(&asked, &report)));
    return ReportHandle(report);
  }

  [[nodiscard]] static nlohmann::json json_of(const ReportHandle& report) {
    return nlohmann::json::parse(tuner().report_json(report.get()), nullptr, false);
  }
  [[nodiscard]] static collage_tune_summary summary_of(const ReportHandle& report) {
    collage_tune_summary summary{};
    summary.size = sizeof summary;
    EXPECT_TRUE(is_good(tuner().report_tune_summary(report.get(), &summary)));
    return summary;
  }

  [[nodiscard]] static PlanHandle loaded(const std::string& path) {
    collage_plan* plan = nullptr;
    EXPECT_TRUE(is_good(c_api().plan_load_file(path.c_str(), nullptr, &plan)));
    return PlanHandle(plan);
  }
  /// The values of y where all of x, f32[rows,7], are `value`.
  [[nodiscard]] static std::vector<float> answer_of(const PlanHandle& plan, float value, std::int64_t rows = 5) {
    collage_session* made = nullptr;
    EXPECT_TRUE(is_good(c_api().session_create(plan.get(), nullptr, &made)));
    const SessionHandle session(made);
    const std::vector<std::int64_t> extents = {rows, 7};
    const collage_shape shape = {extents.data(), extents.size()};
    EXPECT_TRUE(is_good(c_api().session_set_shapes(made, &shape, 1)));
    const std::vector<float> in(static_cast<std::size_t>(rows) * 7, value);
    std::vector<float> out(in.size());
    EXPECT_TRUE(is_good(c_api().session_copy_input(made, 0, in.data(), in.size() * sizeof(float))));
    EXPECT_TRUE(is_good(c_api().session_run(made)));
    EXPECT_TRUE(is_good(c_api().session_copy_output(made, 0, out.data(), out.size() * sizeof(float))));
    return out;
  }

  const ScratchFolder folder_;
  const std::string model_ = folder_.file("model.onnx");
  const std::string plan_ = folder_.file("model.collage");
  const Texts backends_ = {"onnxruntime"};
  collage_context context{sizeof context};
  collage_tune_options options{sizeof options};
};

}  // namespace collage::test
