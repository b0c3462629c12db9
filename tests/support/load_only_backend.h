// A backend for tests and benchmarks of what runs plans: it takes no region and compiles nothing, it only loads.
#pragma once

#include <utility>

#include "backend/backend.h"

namespace collage::test {

class LoadOnlyBackend : public Backend {
 public:
  explicit LoadOnlyBackend(BackendInfo info) : info_(std::move(info)) {}

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return {}; }
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph&, const Region&,
                                                                     const CompileOptions&) const override {
    return std::unexpected(Refusal{});
  }
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest>,
                                                                      const CompileOptions&) override {
    return {};
  }

 protected:
  BackendInfo info_;
};

}  // namespace collage::test
