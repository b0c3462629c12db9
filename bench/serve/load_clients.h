// Clients that keep a server busy, and what they saw.
#pragma once

#include <functional>

#include "bench/serve/load_plan.h"

namespace collage::load {

struct ClientOptions {
  int clients = 32;
  double seconds = 20;
  double malformed = 0.01;  ///< share of requests that are wrong
};

struct Seen {
  std::size_t answered = 0;            ///< good requests with the right outputs
  std::size_t wrong = 0;               ///< with status 200 and other outputs
  std::size_t refused = 0;             ///< good requests with status 429 or 503
  std::size_t failed = 0;              ///< with another status
  std::size_t lost = 0;                ///< without an answer
  std::size_t malformed = 0;           ///< wrong requests that got a status from 400 to 499
  std::size_t malformed_answered = 0;  ///< that got 200: the change was harmless
  std::size_t malformed_failed = 0;    ///< that got no answer, or 500 and more
  Speed speed;                         ///< of good requests that were answered
};

/// Every client sends a request as soon as it has the answer to the one before. `watch` is called once a second.
[[nodiscard]] Seen run_clients(const LoadSubject& subject, int port, const ClientOptions& options,
                               const std::function<void()>& watch);

}  // namespace collage::load
