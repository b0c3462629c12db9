// A rival of a bench that is a program of its own: any runtime takes part that can speak a few lines of JSON
// (docs/RIVALS.md).
// In:  the command, the model, inputs. Out: nanoseconds of runs by the program's own clock, its outputs.
// Cost: the program's; about 50 us of messages for each sample, which are not timed.
// Threading: one call at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "api/tune/option_texts.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/work_folder.h"
#include "ir/graph.h"
#include "ir/tensor.h"

namespace collage {

/// A program and the name it has in tables.
struct RivalCommand {
  std::string name;
  std::vector<std::string> words;  ///< the program, looked for in PATH, and its arguments
};

/// "NAME=PROGRAM ARGUMENT...", divided at blanks. Error cli/bad-option.
[[nodiscard]] Result<RivalCommand> parse_rival(const std::string& text, const OptionLabel& label);

/// What the program has to run.
struct RivalTask {
  const Graph* graph = nullptr;  ///< for the names of inputs and outputs
  std::string model_bytes;       ///< a complete .onnx file, open dimensions bound
  std::vector<Tensor> inputs;
  int threads = 1;
};

class RivalProgram {
 public:
  /// Starts the program and waits until it is ready, which includes its own tuning.
  /// Errors: rival/cannot-start (io), rival/refused with the program's reason, those of run().
  [[nodiscard]] static Result<RivalProgram> start(const RivalCommand& command, const RivalTask& task,
                                                  std::stop_token stop);
  RivalProgram(RivalProgram&& other) noexcept;
  RivalProgram& operator=(RivalProgram&&) = delete;
  ~RivalProgram();

  /// As the program calls itself and its version; empty when it does not say.
  [[nodiscard]] const std::string& version() const { return version_; }
  /// What its arithmetic is, for the table: "f32".
  [[nodiscard]] const std::string& precision() const { return precision_; }
  [[nodiscard]] const std::string& note() const { return note_; }
  /// From the model's file until it was ready, by its own clock; milliseconds.
  [[nodiscard]] double load_ms() const { return load_ms_; }

  /// Nanoseconds of so many inferences on the inputs given. Errors: rival/died, rival/silent, rival/bad-answer (a time
  /// longer than what passed here, or no answer of the protocol); `where` is the command's name.
  [[nodiscard]] Result<std::int64_t> run(std::int64_t times);
  /// Of the last run, in the model's order. Errors: those of run() and of read_npy().
  [[nodiscard]] Result<std::vector<Tensor>> outputs();

 private:
  RivalProgram(std::string name, WorkFolder folder, std::stop_token stop)
      : name_(std::move(name)), folder_(std::move(folder)), stop_(std::move(stop)) {}

  Result<void> spawn(const RivalCommand& command);
  Result<void> prepare(const RivalTask& task);
  /// `at_the_end`: the patience after a stop.
  Result<Json> ask(const Json& message, Seconds patience, Seconds at_the_end);
  Result<void> send(const std::string& line);
  Result<std::string> receive(Seconds patience, Seconds at_the_end);
  [[nodiscard]] std::unexpected<Error> failed(const char* code, std::string saw) const;
  [[nodiscard]] std::string printed_last() const;
  void end();

  std::string name_;
  WorkFolder folder_;
  std::stop_token stop_;
  pid_t pid_ = -1;
  int to_ = -1;         ///< its standard input
  int from_ = -1;       ///< its standard output
  std::string unread_;  ///< what came after the last line
  std::vector<std::string> outputs_;
  std::string version_, precision_, note_;
  double load_ms_ = 0;
};

}  // namespace collage
