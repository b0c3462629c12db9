// Backend modules for the registry's tests, one for each way of being right or wrong.
// FAKE_KIND is the kind the module says it is, FAKE_FAULT the fault in its table; without FAKE_ENTRY it has no entry.
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "backend/registry.h"

namespace collage {
namespace {

class FakeBackend : public Backend {
 public:
  FakeBackend(const std::string& name, const BackendOptions& options) {
    info_.name = name;
    info_.kind = FAKE_KIND;
    // What the tests see of the options and of the environment at load time.
    for (const auto& [key, value] : options) info_.version += key + "=" + value + ";";
    const char* seen = std::getenv("COLLAGE_TEST_SETTING");
    info_.build = seen != nullptr ? seen : "";
    if (options.contains("unusable")) info_.unusable = options.at("unusable");
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return {}; }
  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph&, const Region&,
                                                                     const CompileOptions&) const override {
    return std::unexpected(Refusal{RefusalReason::kOperator, "a fake"});
  }
  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest>,
                                                                      const CompileOptions&) override {
    return {};
  }
  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest&) override {
    return fail(ExitCode::kBug, "backend/fake", "load", "a fake");
  }

 private:
  BackendInfo info_;
};

Backend* create(const std::string& name, const BackendOptions& options) {
  if (options.contains("throw")) throw std::runtime_error(options.at("throw"));
  if (options.contains("null")) return nullptr;
  return new FakeBackend(name, options);
}

BackendModule table() {
  BackendModule module{.kind = FAKE_KIND, .create = create};
  if (std::string_view(FAKE_FAULT) == "old") module.abi_version = 0;
  if (std::string_view(FAKE_FAULT) == "short") module.struct_size = 8;
  if (std::string_view(FAKE_FAULT) == "empty") module.create = nullptr;
  return module;
}

}  // namespace
}  // namespace collage

#ifdef FAKE_ENTRY
extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module = collage::table();
  return &module;
}
#else
const collage::BackendModule* another_name();
const collage::BackendModule* another_name() {
  static const collage::BackendModule module = collage::table();
  return &module;
}
#endif
