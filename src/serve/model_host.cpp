#include "serve/model_host.h"

#include <utility>

#include "serve/guarded.h"

namespace collage {

std::shared_ptr<Model> ModelHost::exchange(std::shared_ptr<Model> next, std::string reason) {
  const std::scoped_lock lock(mutex_);
  std::swap(model_, next);
  reason_ = std::move(reason);
  return next;
}

Result<void> ModelHost::load() {
  const std::scoped_lock changing(changing_);
  Result<std::shared_ptr<Model>> loaded =
      guarded(path_, "a smaller plan", [&] { return Model::load(path_, options_, metrics_); });
  if (!loaded) {
    const std::scoped_lock lock(mutex_);
    reason_ = to_string(loaded.error());
    return std::unexpected(std::move(loaded).error());
  }
  if (const std::shared_ptr<Model> old = exchange(*std::move(loaded), "")) {
    metrics_.reloads.fetch_add(1);
    old->close();
  }
  return {};
}

void ModelHost::unload() {
  const std::scoped_lock changing(changing_);
  if (const std::shared_ptr<Model> old = exchange(nullptr, "unloaded")) old->close();
}

std::shared_ptr<Model> ModelHost::current() const {
  const std::scoped_lock lock(mutex_);
  return model_;
}

std::string ModelHost::reason() const {
  const std::scoped_lock lock(mutex_);
  return reason_;
}

}  // namespace collage
