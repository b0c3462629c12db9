// The functions of the table that make plans (collage_tune.h says what each does).
#pragma once

#include "api/c_tune/collage_tune.h"

namespace collage::c_api {

collage_status* tune_model(const collage_tune_options* options, collage_report** report) noexcept;
collage_status* plan_of_model(const collage_model_options* options, collage_plan** plan) noexcept;

}  // namespace collage::c_api
