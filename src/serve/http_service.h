// Whoever answers the requests that an HttpServer reads.
// In:  a method, a path, a body. Out: a status and bytes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace collage {

struct ServiceRequest {
  std::string_view method;
  std::string_view path;
  std::optional<std::string> json_bytes;  ///< the header Inference-Header-Content-Length
  std::string_view body;
  std::string_view host = {};  ///< the header Host
};

struct ServiceAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string text;
  std::vector<std::string> binary;  ///< behind the text; its size is then Inference-Header-Content-Length
};

/// Called from many threads at once.
class HttpService {
 public:
  virtual ~HttpService() = default;
  [[nodiscard]] virtual ServiceAnswer answer(const ServiceRequest& request) = 0;
  /// The answer to a request that failed before it got here.
  [[nodiscard]] virtual ServiceAnswer refusal(const Error& error) = 0;
  /// How many connections are open, for whom that concerns. Before the first request.
  virtual void count_connections_with(std::function<std::size_t()> /*count*/) {}
};

}  // namespace collage
