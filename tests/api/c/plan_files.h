// Plan files as programs meet them, and running them through the table.
// In: $COLLAGE_PLANS, a folder. Out: its plans; when it is empty or not set, plans made here, one for each backend that
// this build has, on one thread and on several, of one shape and of many. Those made for an empty folder stay in it, so
// that a build without the compiler of native runs them too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/api/c/c_fixture.h"

namespace collage::test {

struct PlanFile {
  std::string name;
  std::string path;
};

/// A network of host steps whose loops are worth several threads.
[[nodiscard]] RealisedPlan wide_plan(int threads);
/// One step of this backend for the whole graph, in its first variant of plain formats; nothing when it takes none.
[[nodiscard]] std::optional<RealisedPlan> plan_of_backend(const std::string& backend, const Graph& graph, int threads);
/// A convolution with element-wise work, worth two threads.
[[nodiscard]] Graph convolution_graph();

/// All plans there are, made once in this process.
[[nodiscard]] const std::vector<PlanFile>& plan_files();

/// Values of the open extents that sessions are run at; {0} where all are fixed.
[[nodiscard]] std::vector<std::int64_t> open_extents_of(const collage_plan* plan);

/// Options with a pool, to be given to session_create.
[[nodiscard]] collage_session_options pool_options(collage_parallel_for parallel_for, void* pool,
                                                   std::int32_t threads = 0);
/// A pool that starts a thread for every task.
void on_new_threads(void* pool, std::size_t count, void (*task)(void*, std::size_t), void* data);

/// A session with what it is run with.
class Runner {
 public:
  /// The plan outlives the constructor only.
  explicit Runner(const collage_plan* plan, const collage_session_options* options = nullptr);

  /// The bytes of all outputs at this value of the open extents; "" and a finding when something fails.
  [[nodiscard]] std::string outputs(std::int64_t extent, std::uint64_t seed);
  /// The same without findings: the code of what failed, "" when nothing did.
  [[nodiscard]] std::string run(std::int64_t extent, std::uint64_t seed, std::string& bytes);
  [[nodiscard]] collage_session* session() const { return session_.get(); }

 private:
  [[nodiscard]] collage_status* set_extents(std::int64_t extent);
  [[nodiscard]] collage_status* fill_inputs(std::uint64_t seed);
  [[nodiscard]] collage_status* take_outputs(std::string& bytes);

  SessionHandle session_;
  std::string error_;            ///< why there is no session
  std::vector<Extents> inputs_;  ///< -1 = open
  std::size_t outputs_ = 0;
};

}  // namespace collage::test
