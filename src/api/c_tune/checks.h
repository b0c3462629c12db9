// The functions of the table that look at plans and backends (collage_tune.h says what each does).
#pragma once

#include "api/c_tune/collage_tune.h"

namespace collage::c_api {

collage_status* bench_plan(const collage_bench_options* options, collage_report** report) noexcept;
collage_status* verify_plan(const collage_check_options* options, collage_report** report) noexcept;
collage_status* recheck_plan(const collage_check_options* options, collage_report** report) noexcept;
collage_status* explain_plan(const collage_check_options* options, collage_report** report) noexcept;
collage_status* list_backends(const collage_context* context, collage_report** report) noexcept;

}  // namespace collage::c_api
