// Costs of candidates as text that can be read back: `tune --dump priced` and `tune --resume FILE`.
// In:  a pool with costs. Out: a line for each candidate, with its cost as JSON; and back.
// Of the values of a tune only this one takes long to make: those before it follow from the model in seconds, those
// after it from costs and from verdicts in the store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tune/tune_task.h"

namespace collage {

/// The first line names what the costs depend on: machine, model, backends.
[[nodiscard]] std::string priced_text(const TuneTask& task, Registry& registry, const CandidatePool& pool,
                                      const std::vector<Cost>& costs);

/// By candidate of the pool: measured costs and refusals of the text; unknown for the others. Errors io/cannot-read;
/// tune/other-costs of another model, machine or set of backends, and of a text that is none of priced_text().
[[nodiscard]] Result<std::vector<Cost>> read_priced(const std::string& file, const TuneTask& task, Registry& registry,
                                                    const CandidatePool& pool);

}  // namespace collage
