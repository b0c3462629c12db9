// What a worker process says to the process that tunes: third-party code in it may write anything.
#include "measure/jobs.h"
#include "region/value_json.h"
#include "tests/readers/reader.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_json.h"
#include "worker/frame.h"
#include "worker/worker_process.h"

namespace collage::test {
namespace {

std::string sample_answer() {
  return to_line(to_json(
      PriceAnswer{.candidates = {{.cost = Measured{.median_ns = 1200, .low_ns = 1100, .high_ns = 1300, .samples = 9},
                                  .artifact = std::string(32, 'a'),
                                  .samples = {.ns = {1200, 1210}, .warm_ns = 1190}},
                                 {.cost = Infeasible{{.reason = RefusalReason::kCompile, .detail = "no"}},
                                  .artifact = {},
                                  .stage = "load"}},
                  .harmed = false,
                  .quiet_ns = 5000}));
}

std::vector<std::string> sample_frames() {
  const std::string progress =
      encode({.type = FrameType::kProgress, .payload = R"({"stage":"compile","candidate":0,"expected_ns":1000})"});
  const Error error{.code = "a/b", .where = "here", .saw = "x", .allowed = "y", .exit = ExitCode::kBadInput};
  return {progress + progress + encode({.type = FrameType::kResult, .payload = sample_answer()}),
          progress + encode({.type = FrameType::kError, .payload = to_line(to_json(error))})};
}

/// The last frame's JSON under a fitting checksum, or bytes.
std::string mutated_frames(const std::string& sample, const std::string& other, Dice& dice) {
  if (dice.one_in(3)) return mutated_bytes(sample, other, dice);
  const std::size_t json = sample.rfind("{\"c");
  if (json == std::string::npos || dice.one_in(4)) {
    const std::string text = R"({"stage":"compile","candidate":0,"expected_ns":1000})";
    return encode({.type = FrameType::kProgress, .payload = mutated_json_text(text, dice)}) + sample;
  }
  const FrameType type = sample.find("median_ns") != std::string::npos ? FrameType::kResult : FrameType::kError;
  constexpr std::size_t kHeader = 24;
  const std::string before = json >= kHeader ? sample.substr(0, json - kHeader) : std::string();
  return before + encode({.type = type, .payload = mutated_json_text(sample.substr(json), dice)});
}

/// A program in place of a worker says the bytes on its socket, and ends.
Answer hear_worker(const std::string& bytes, const std::filesystem::path& folder) {
  const std::string file = folder / "said";
  write_bytes(file, bytes);
  WorkerProcess worker({"/bin/sh", "-c", "exec cat '" + file + "' >&3"});
  const auto heard =
      worker.call(Json{{"type", "price"}},
                  usual_allowance(std::chrono::seconds(5), std::chrono::seconds(5), std::chrono::seconds(5)));
  worker.stop();
  std::filesystem::remove(file);
  if (!heard) return {.exit = ExitCode::kBadInput, .text = heard.error().refusal.detail};
  // Whatever a worker calls its error, it is the worker's.
  if (!*heard) return accepted(to_string(heard->error()));
  const auto answer = price_answer_from(**heard);
  if (!answer) return {.exit = ExitCode::kBadInput, .text = to_string(answer.error())};
  return accepted(to_line(to_json(*answer)));
}

}  // namespace

void add_worker_readers(std::vector<Reader>& all) {
  all.push_back(
      {.name = "worker", .samples = sample_frames, .mutate = mutated_frames, .read = hear_worker, .names = {}});
}

}  // namespace collage::test
