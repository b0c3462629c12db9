#include "api/c/cancel.h"

#include "api/c/status.h"

namespace collage::c_api {

collage_status* cancel_create(collage_cancel** cancel) noexcept {
  return answer("cancel_create", [&]() -> Result<void> {
    COLLAGE_TRY_VOID(check_not_null(cancel, "cancel"));
    *cancel = nullptr;
    *cancel = new collage_cancel;
    return {};
  });
}

void cancel_now(const collage_cancel* cancel) noexcept {
  if (cancel != nullptr) cancel->source.request_stop();
}

void cancel_free(collage_cancel* cancel) noexcept { delete cancel; }

}  // namespace collage::c_api
