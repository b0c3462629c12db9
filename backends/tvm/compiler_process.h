// The process in which TVM compiles: Python with worker/main.py.
// In:  a request as JSON. Out: the answer, or why there is none: the library crashes, hangs and throws.
// Cost: a second to start it, and 200 to 500 MiB of memory while it lives.
// Threads: one caller at a time. It ends with this object, and with this process whatever becomes of it: its input is
//       closed then.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <expected>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "base/work_folder.h"
#include "region/refusal.h"

namespace collage::tvm {

/// What the process consists of.
struct Toolchain {
  std::string python;  ///< an interpreter that has TVM
  std::string script;
};

/// Beside this module and where ./dev setup tvm puts it; $COLLAGE_TVM_PYTHON names another interpreter. Error: what
/// is missing, in words.
[[nodiscard]] std::expected<Toolchain, std::string> find_toolchain();

class CompilerProcess {
 public:
  /// Error io/cannot-write, backend/library-failed.
  [[nodiscard]] static Result<std::unique_ptr<CompilerProcess>> start(const Toolchain& toolchain, int threads);
  ~CompilerProcess();
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;

  /// For files of an answer.
  [[nodiscard]] const WorkFolder& folder() const { return folder_; }
  [[nodiscard]] int threads() const { return threads_; }
  /// False once it has died or did not answer in time.
  [[nodiscard]] bool is_alive() const { return pid_ > 0; }
  /// Refusals: kCompile when the process died, kTimeout.
  [[nodiscard]] std::expected<Json, Refusal> ask(const Json& request, std::chrono::seconds patience);

 private:
  CompilerProcess(WorkFolder folder, int threads) : folder_(std::move(folder)), threads_(threads) {}
  [[nodiscard]] bool spawn(const Toolchain& toolchain);
  [[nodiscard]] bool send(const std::string& line) const;
  /// Nothing when the process has died; an empty line when the time is over.
  [[nodiscard]] std::expected<std::string, Refusal> line_until(std::chrono::steady_clock::time_point end);
  /// Ends the process; how it ended, with what it said last.
  std::string end();

  WorkFolder folder_;
  int threads_;
  pid_t pid_ = -1;
  int requests_ = -1;
  int answers_ = -1;
};

}  // namespace collage::tvm
