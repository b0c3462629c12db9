// Counts of a server in Prometheus' text form.
// In:  events of requests. Out: the text of /metrics.
// Threads: all functions may be called from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

namespace collage {

/// A histogram with the same borders for all of its kind.
class Histogram {
 public:
  static constexpr std::size_t kMost = 16;

  /// `borders`: upper ends of the buckets, rising, at most kMost; they outlive this object.
  explicit Histogram(std::span<const double> borders) : borders_(borders) {}
  void add(double value);
  /// Lines for one metric with these labels ("model=\"a\"").
  void write(std::string& text, std::string_view name, const std::string& labels) const;

 private:
  std::span<const double> borders_;
  std::array<std::atomic<std::uint64_t>, kMost + 1> counts_{};
  std::atomic<double> sum_{0};
};

/// Seconds from 100 us to 10 s, and rows or requests from 1 to 256.
inline constexpr std::array<double, 11> kSecondsBorders = {0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03,
                                                           0.1,    0.3,    1,     3,     10};
inline constexpr std::array<double, 9> kBatchBorders = {1, 2, 4, 8, 16, 32, 64, 128, 256};

/// Of one model, over all its reloads.
struct ModelMetrics {
  void count_failure(const std::string& code);
  [[nodiscard]] std::uint64_t failure_count() const;

  std::atomic<std::uint64_t> requests{0};  ///< for inference, failed ones included
  std::atomic<std::uint64_t> reloads{0};
  Histogram queue_seconds{kSecondsBorders};
  Histogram compute_seconds{kSecondsBorders};
  Histogram batch_requests{kBatchBorders};

  mutable std::mutex mutex;
  std::map<std::string, std::uint64_t> failures;  ///< by the code of the error
};

struct ModelSample {
  std::string name;
  const ModelMetrics* metrics = nullptr;
  std::size_t queue_length = 0;
  bool is_ready = false;
};

/// `other_failures`: of requests that no model counts: all but those for inference, and those for inference that name
/// no model that there is or end before their body does.
[[nodiscard]] std::string metrics_text(std::span<const ModelSample> models,
                                       const std::map<std::string, std::uint64_t>& other_failures,
                                       std::size_t connections);

}  // namespace collage
