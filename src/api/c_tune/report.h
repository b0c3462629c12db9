// What a call found out, as C reads it, and the functions of the table about it (collage_tune.h says what each does).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "api/c/status.h"
#include "api/c_tune/collage_tune.h"

struct collage_report {  // NOLINT(readability-identifier-naming): a name of the C interface
  std::string json;
  std::string text;
  bool is_ok = true;
  std::optional<collage_tune_summary> summary = {};  ///< of a tune; without its texts:
  std::string best_rival = {};
  std::string shipped = {};
};

namespace collage::c_api {

const char* report_json(const collage_report* report) noexcept;
const char* report_text(const collage_report* report) noexcept;
std::int32_t report_ok(const collage_report* report) noexcept;
collage_status* report_tune_summary(const collage_report* report, collage_tune_summary* summary) noexcept;
void report_free(collage_report* report) noexcept;

/// Runs the work of `function`, which returns Result<collage_report>, and gives the report to the caller.
template <class Work>
[[nodiscard]] collage_status* answer_report(const char* function, collage_report** report, Work&& work) noexcept {
  return answer(function, [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(report, "report"));
    *report = nullptr;
    COLLAGE_TRY(collage_report made, work());
    *report = new collage_report(std::move(made));
    return {};
  });
}

}  // namespace collage::c_api
