// The task of a tune: the options, the prepared model and the participants. It is the same for all stages after
// `prepare`; what it refers to outlives them.
#pragma once

#include <string>

#include "tune/participants.h"
#include "tune/stages.h"
#include "tune/tune.h"

namespace collage {

struct TuneTask {
  const TuneOptions& options;
  const Prepared& prepared;
  const Participants& who;

  [[nodiscard]] const Graph& graph() const { return prepared.graph; }
};

/// The --shape bindings on one line.
[[nodiscard]] std::string shapes_text(const TuneOptions& options);

/// What the times of plans depend on besides the plans: machine, model, shapes, threads.
[[nodiscard]] std::string timing_question(const TuneTask& task);

/// The same with all that decides which candidates there are.
[[nodiscard]] std::string tune_question(const TuneTask& task, Registry& registry);

}  // namespace collage
