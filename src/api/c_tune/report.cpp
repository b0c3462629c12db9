#include "api/c_tune/report.h"

#include "api/c/sized_struct.h"

namespace collage::c_api {

const char* report_json(const collage_report* report) noexcept { return report == nullptr ? "" : report->json.c_str(); }
const char* report_text(const collage_report* report) noexcept { return report == nullptr ? "" : report->text.c_str(); }
std::int32_t report_ok(const collage_report* report) noexcept { return report != nullptr && report->is_ok ? 1 : 0; }

collage_status* report_tune_summary(const collage_report* report, collage_tune_summary* summary) noexcept {
  return answer("report_tune_summary", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(report, "report"));
    if (!report->summary)
      return fail(ExitCode::kUsage, "api/wrong-report", "report", "a report of another function", "one of tune");
    collage_tune_summary ours = *report->summary;
    ours.best_rival = report->best_rival.c_str();
    ours.shipped = report->shipped.c_str();
    return give(ours, summary, "collage_tune_summary");
  });
}

void report_free(collage_report* report) noexcept { delete report; }

}  // namespace collage::c_api
