// The record job: runs a whole graph on one backend and writes all its values to a file.
#pragma once

#include "measure/jobs.h"
#include "measure/workbench.h"

namespace collage {

/// Runs the graph and writes the record. Values whose kind the graph does not know are requested at first, and left out
/// when the backend cannot provide them.
/// Error record/refused when the backend refuses or fails; record/*, file/*, import/* for the files.
[[nodiscard]] Result<void> run_record_job(const RecordJob& job, Workbench& bench, JobContext& context);

}  // namespace collage
