#include "serve/metrics.h"

#include <algorithm>
#include <functional>
#include <iterator>

#include <fmt/format.h>

namespace collage {
namespace {

void describe_metric(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

std::string model_label(const ModelSample& model) { return fmt::format("model=\"{}\"", model.name); }

void write_failures(std::string& text, const std::string& model, const std::map<std::string, std::uint64_t>& failures) {
  for (const auto& [code, count] : failures)
    fmt::format_to(std::back_inserter(text), "collage_failures_total{{model=\"{}\",code=\"{}\"}} {}\n", model, code,
                   count);
}

void write_values(std::string& text, std::span<const ModelSample> models, std::string_view name,
                  const std::function<std::uint64_t(const ModelSample&)>& value) {
  for (const ModelSample& model : models)
    fmt::format_to(std::back_inserter(text), "{}{{{}}} {}\n", name, model_label(model), value(model));
}

}  // namespace

void Histogram::add(double value) {
  const auto bucket = std::ranges::lower_bound(borders_, value) - borders_.begin();
  counts_[static_cast<std::size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::write(std::string& text, std::string_view name, const std::string& labels) const {
  auto out = std::back_inserter(text);
  std::uint64_t count = 0;
  for (std::size_t b = 0; b < borders_.size(); ++b) {
    count += counts_[b].load(std::memory_order_relaxed);
    fmt::format_to(out, "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels, borders_[b], count);
  }
  count += counts_[borders_.size()].load(std::memory_order_relaxed);
  fmt::format_to(out, "{0}_bucket{{{1},le=\"+Inf\"}} {2}\n{0}_sum{{{1}}} {3}\n{0}_count{{{1}}} {2}\n", name, labels,
                 count, sum_.load(std::memory_order_relaxed));
}

void ModelMetrics::count_failure(const std::string& code) {
  const std::scoped_lock lock(mutex);
  ++failures[code];
}

std::uint64_t ModelMetrics::failure_count() const {
  const std::scoped_lock lock(mutex);
  std::uint64_t count = 0;
  for (const auto& [code, failed] : failures) count += failed;
  return count;
}

std::string metrics_text(std::span<const ModelSample> models,
                         const std::map<std::string, std::uint64_t>& other_failures, std::size_t connections) {
  std::string text;
  describe_metric(text, "collage_requests_total", "counter", "Requests for inference, failed ones included.");
  write_values(text, models, "collage_requests_total", [](const ModelSample& m) { return m.metrics->requests.load(); });
  describe_metric(text, "collage_failures_total", "counter", "Requests that failed, by the code of the error.");
  for (const ModelSample& model : models) {
    const std::scoped_lock lock(model.metrics->mutex);
    write_failures(text, model.name, model.metrics->failures);
  }
  write_failures(text, "", other_failures);
  describe_metric(text, "collage_reloads_total", "counter", "Times that a plan was loaded again.");
  write_values(text, models, "collage_reloads_total", [](const ModelSample& m) { return m.metrics->reloads.load(); });
  describe_metric(text, "collage_queue_length", "gauge", "Requests that wait for a session.");
  write_values(text, models, "collage_queue_length", [](const ModelSample& m) { return m.queue_length; });
  describe_metric(text, "collage_model_ready", "gauge", "1 while the model is loaded.");
  write_values(text, models, "collage_model_ready", [](const ModelSample& m) { return m.is_ready ? 1 : 0; });
  describe_metric(text, "collage_connections", "gauge", "Open connections.");
  fmt::format_to(std::back_inserter(text), "collage_connections {}\n", connections);
  describe_metric(text, "collage_queue_seconds", "histogram", "Time that a request waited for a session.");
  for (const ModelSample& model : models)
    model.metrics->queue_seconds.write(text, "collage_queue_seconds", model_label(model));
  describe_metric(text, "collage_compute_seconds", "histogram", "Time of a run, copies included.");
  for (const ModelSample& model : models)
    model.metrics->compute_seconds.write(text, "collage_compute_seconds", model_label(model));
  describe_metric(text, "collage_batch_requests", "histogram", "Requests that one run served.");
  for (const ModelSample& model : models)
    model.metrics->batch_requests.write(text, "collage_batch_requests", model_label(model));
  return text;
}

}  // namespace collage
