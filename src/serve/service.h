// Answers requests of the Open Inference Protocol (KServe v2): what each address does, independent of the transport.
// In:  method, path, body. Out: status, text, bytes behind it.
// Threads: answer() from any thread; it returns when the request is answered.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/http_service.h"
#include "serve/model_host.h"

namespace collage {

class Service final : public HttpService {
 public:
  /// `deadline`: how long a request may wait that does not say so itself; 0 = as long as it takes.
  Service(std::vector<std::unique_ptr<ModelHost>> models, std::string version, std::chrono::microseconds deadline)
      : models_(std::move(models)), version_(std::move(version)), deadline_(deadline) {}

  [[nodiscard]] ServiceAnswer answer(const ServiceRequest& request) override;
  /// Counted among the failures that are no model's.
  [[nodiscard]] ServiceAnswer refusal(const Error& error) override;

  /// Loads all plans again. Those that fail stay as they were; the errors say why.
  [[nodiscard]] std::vector<Error> reload();
  /// Not ready from now on; requests are still answered.
  void begin_to_end() { is_ending_ = true; }
  /// Unloads all models; returns when their requests are finished.
  void end();

  [[nodiscard]] const std::vector<std::unique_ptr<ModelHost>>& models() const { return models_; }
  /// Called for the number of open connections in /metrics. Before the first request.
  void count_connections_with(std::function<std::size_t()> count) override { connections_ = std::move(count); }

 private:
  /// The path of a request, and what lies between its slashes.
  struct Address {
    std::string_view path;
    std::vector<std::string_view> parts;
  };

  [[nodiscard]] Result<ServiceAnswer> route(const ServiceRequest& request);
  [[nodiscard]] Result<ServiceAnswer> route_get(const Address& address);
  [[nodiscard]] Result<ServiceAnswer> route_post(const Address& address, const ServiceRequest& request);
  [[nodiscard]] Result<ServiceAnswer> about_model(ModelHost& host, const Address& address);
  [[nodiscard]] Result<ServiceAnswer> infer(ModelHost& host, const ServiceRequest& request);
  [[nodiscard]] ServiceAnswer counted_infer(ModelHost& host, const ServiceRequest& request);
  [[nodiscard]] Result<ServiceAnswer> change_repository(const Address& address);
  [[nodiscard]] ServiceAnswer repository_index() const;
  [[nodiscard]] ServiceAnswer metrics() const;
  [[nodiscard]] ServiceAnswer server_metadata() const;
  [[nodiscard]] bool is_ready() const;
  [[nodiscard]] Result<ModelHost*> host_of(std::string_view name) const;

  const std::vector<std::unique_ptr<ModelHost>> models_;
  const std::string version_;
  const std::chrono::microseconds deadline_;
  std::function<std::size_t()> connections_;
  std::atomic<bool> is_ending_{false};
  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> other_failures_;  ///< by code, of those that no model counts
};

}  // namespace collage
