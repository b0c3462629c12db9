// `collage serve` as a process of its own.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace collage::load {

class ServerProcess {
 public:
  /// Starts it on a free port and waits until that is open. The plan is served as "model".
  [[nodiscard]] static Result<ServerProcess> start(const std::string& program, const std::string& plan,
                                                   const std::vector<std::string>& options);
  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  /// Kills it if it runs.
  ~ServerProcess();

  [[nodiscard]] int port() const { return port_; }
  /// Resident memory in bytes.
  [[nodiscard]] std::size_t resident_bytes() const;
  [[nodiscard]] bool is_running();
  /// Ends it by SIGTERM; "exit 0", "signal 11".
  [[nodiscard]] std::string stop();

 private:
  ServerProcess() = default;
  pid_t pid_ = -1;
  int port_ = 0;
  std::string ended_;
};

}  // namespace collage::load
