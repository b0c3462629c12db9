// Shows a tune while it goes on, to a browser on this machine.
// In:  progress events, a page, the page of the plan so far. Out: answers at http://127.0.0.1:PORT/TOKEN/ : the page,
// `state` as JSON, and
//       `plan`.
// How: an HttpServer with short limits; its connections have threads of their own. The token is random, so that other
// users of the
//       machine do not find the address, and a page of another site cannot guess it.
// Not here: what the pages look like (api/tune/page/).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/progress.h"

namespace collage {

/// What is called, is called from the threads of connections.
struct LivePages {
  std::string frame;                          ///< HTML that asks for `state` and shows `plan`
  std::function<std::string()> plan_version;  ///< changes with the plan; "" when there is none yet
  std::function<Result<std::string>()> plan;  ///< HTML of the plan so far
  std::chrono::milliseconds farewell{5000};   ///< what a browser that looks on has at most to hear of the end
};

class LiveServer {
 public:
  /// `port` 0 = any that is free. Error serve/cannot-listen.
  [[nodiscard]] static Result<std::unique_ptr<LiveServer>> open(LivePages pages, int port);
  /// Says that the tune is over, waits for a browser that looks on to hear of it, and closes all connections.
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  /// "http://127.0.0.1:4321/0123456789abcdef0123456789abcdef/".
  [[nodiscard]] std::string address() const;
  /// From any thread.
  void add(const ProgressEvent& event);

 private:
  class Front;
  explicit LiveServer(std::unique_ptr<Front> front);
  std::unique_ptr<Front> front_;
};

}  // namespace collage
