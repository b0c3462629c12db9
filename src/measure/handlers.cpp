#include <memory>

#include "measure/jobs.h"
#include "measure/price_job.h"
#include "measure/record_job.h"

namespace collage {
namespace {

/// Made at the first job, when the registry is known.
using SharedBench = std::shared_ptr<std::unique_ptr<Workbench>>;

Workbench& bench_of(const SharedBench& shared, JobContext& context) {
  if (!*shared) *shared = std::make_unique<Workbench>(context.registry());
  return **shared;
}

Result<Json> price(const Json& json, Workbench& bench, JobContext& context) {
  COLLAGE_TRY(const PriceJob job, price_job_from(json));
  COLLAGE_TRY(const PriceAnswer answer, run_price_job(job, bench, context));
  return to_json(answer);
}

Result<Json> record(const Json& json, Workbench& bench, JobContext& context) {
  COLLAGE_TRY(const RecordJob job, record_job_from(json));
  COLLAGE_TRY_VOID(run_record_job(job, bench, context));
  return Json::object();
}

}  // namespace

std::vector<Handler> measure_handlers() {
  const auto shared = std::make_shared<std::unique_ptr<Workbench>>();
  const auto with_bench = [&](Result<Json> (*run)(const Json&, Workbench&, JobContext&)) {
    return
        [shared, run](const Json& json, JobContext& context) { return run(json, bench_of(shared, context), context); };
  };
  return {{.type = "record", .run = with_bench(record)},
          {.type = "price", .run = with_bench(price)},
          {.type = "prepare", .run = with_bench(price)}};
}

}  // namespace collage
