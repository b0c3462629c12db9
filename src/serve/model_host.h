// A model that is served under a name: it can be loaded, loaded again from a changed file, and unloaded, while requests
// come in.
// How: the new plan is loaded beside the old one and takes its place; the old one finishes the requests it has.
// Threads: all functions may be called from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "serve/model.h"

namespace collage {

class ModelHost {
 public:
  ModelHost(std::string name, std::string path, ModelOptions options)
      : name_(std::move(name)), path_(std::move(path)), options_(std::move(options)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Loads the plan from its file; returns when the one before, if any, has finished its requests. After an error the
  /// one before stays. Errors of Model::load(); memory/exhausted, and serve/exception for what a library throws.
  [[nodiscard]] Result<void> load();
  /// Returns when the plan has finished its requests.
  void unload();

  /// Null while unloaded.
  [[nodiscard]] std::shared_ptr<Model> current() const;
  /// Why the last load() failed; empty if it did not.
  [[nodiscard]] std::string reason() const;
  [[nodiscard]] ModelMetrics& metrics() { return metrics_; }
  [[nodiscard]] const ModelMetrics& metrics() const { return metrics_; }

 private:
  [[nodiscard]] std::shared_ptr<Model> exchange(std::shared_ptr<Model> next, std::string reason);

  const std::string name_;
  const std::string path_;
  const ModelOptions options_;
  ModelMetrics metrics_;
  std::mutex changing_;  ///< one load or unload at a time
  mutable std::mutex mutex_;
  std::shared_ptr<Model> model_;
  std::string reason_;
};

}  // namespace collage
