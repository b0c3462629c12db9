// Notes in a graph which extents the values of open shape had in the recorded run (Dim::recorded): costs behind them
// are forecast and kept for these.
#pragma once

#include "ir/graph.h"
#include "numbers/record.h"

namespace collage {

/// Values that the record does not hold stay as they are. Errors of Record::tensor.
[[nodiscard]] Result<void> note_recorded_extents(const Record& record, Graph& graph);

/// Names of values of open shape that had no elements in the recorded run.
[[nodiscard]] std::vector<std::string> values_without_elements(const Graph& graph);

}  // namespace collage
