// Runs the built program as a user does: its own process, a time limit, its streams in files.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>
#include "tests/support/paths.h"
#include "tests/support/whole_file.h"

namespace collage::testing {

/// How a process ended. Exactly one of exit_code >= 0, signal > 0 and timed_out holds.
struct Ended {
  int exit_code = -1;
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;
};

/// Everything about one end in a few lines, for failure messages.
[[nodiscard]] std::string describe(const Ended& ended);

/// A running `collage`. Its home, cache and temporary files lie in `home`, so that what it leaves behind can be seen.
/// Killed when it goes out of scope.
class Program {
 public:
  /// `arguments` without the program's name. The folder `home` exists. With
  /// `standard_output` that file gets it and Ended::out stays empty.
  Program(const std::filesystem::path& home, const std::vector<std::string>& arguments,
          const std::filesystem::path& executable = test::build_path("/bin/collage"),
          const std::filesystem::path& standard_output = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  void send(int signal) const;
  /// Waits for the end; a process that takes longer is killed and `timed_out`.
  [[nodiscard]] Ended wait(std::chrono::milliseconds limit = std::chrono::seconds(60));

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
};

/// Ids of living processes whose temporary folder lies in `home`: the program and its workers.
[[nodiscard]] std::vector<pid_t> processes_of(const std::filesystem::path& home);

using test::read_all;
void write_all(const std::filesystem::path& path, const std::string& bytes);

}  // namespace collage::testing
