// Asks runs and calls of the tuner to end early.
// Threads: any.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "status.h"

namespace collage::python {

class Cancel {
 public:
  Cancel() {
    collage_cancel* made = nullptr;
    check(api().cancel_create(&made));
    handle_.reset(made);
  }
  void now() const { api().cancel_now(handle_.get()); }
  [[nodiscard]] const collage_cancel* handle() const { return handle_.get(); }

 private:
  struct Free {
    void operator()(collage_cancel* cancel) const { api().cancel_free(cancel); }
  };
  std::unique_ptr<collage_cancel, Free> handle_;
};

}  // namespace collage::python
