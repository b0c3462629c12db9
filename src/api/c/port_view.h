// An input or output as C sees it: arrays of extents and of the names of open ones.
#pragma once

#include <cstdint>
#include <vector>

#include "api/c/collage.h"
#include "runtime/tensor_port.h"

namespace collage::c_api {

class PortView {
 public:
  PortView() = default;
  explicit PortView(const TensorPort& port) { show(port); }
  PortView(PortView&&) = default;
  PortView& operator=(PortView&&) = default;
  PortView(const PortView&) = delete;
  PortView& operator=(const PortView&) = delete;

  /// Shows this port from now on. The texts of its name and symbols outlive the view; arrays given before are no longer
  /// valid. Allocates only for a higher rank than all before.
  void show(const TensorPort& port);

  /// Its arrays belong to the view.
  [[nodiscard]] const collage_tensor_info& info() const { return info_; }

 private:
  std::vector<std::int64_t> extents_;
  std::vector<const char*> symbols_;
  collage_tensor_info info_{};
};

}  // namespace collage::c_api
