// The record job: one run of a whole graph by one backend, every value of it written down.
#pragma once

#include "measure/jobs.h"
#include "measure/workbench.h"

namespace collage {

/// Runs the graph and writes the record. Values that are no tensors of fixed-size elements are left out; values whose
/// kind the graph does not know are asked for first, and given up when the backend will not give them.
/// Error record/refused when the backend refuses or fails; record/*, file/*, import/* for the files.
[[nodiscard]] Result<void> run_record_job(const RecordJob& job, Workbench& bench, JobContext& context);

}  // namespace collage
