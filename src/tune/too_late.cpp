#include "tune/too_late.h"

#include <fmt/format.h>

#include "base/hash.h"

namespace collage {

bool is_too_late(const std::string& part, double seconds, const TuneTask& task, const MeasureEnv& env) {
  const std::string key =
      "too late|" + hash_hex(fmt::format("{}|{}|{}", part, timing_question(task), env.budget.seconds()));
  if (env.store.verdict(key)) return true;
  const bool is_late = env.budget.elapsed_s() > seconds;
  if (is_late) env.store.put_verdict(key, "late");
  return is_late;
}

}  // namespace collage
