#include "api/c_tune/worker.h"

#include "api/c_tune/texts.h"
#include "api/tune/worker_program.h"
#include "backend/backend.h"

namespace collage::c_api {

std::int32_t serve_jobs(std::int32_t socket, collage_texts modules) noexcept {
  const auto served = guard([&]() -> std::int32_t {
    const auto places = texts_of(modules, "modules");
    return places ? serve_worker(socket, *places) : static_cast<std::int32_t>(places.error().exit);
  });
  return served.value_or(static_cast<std::int32_t>(ExitCode::kBug));
}

}  // namespace collage::c_api
