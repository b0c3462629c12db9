// The backend of tests/support/shape_cases.h as a module whose runs a test can hold and make fail, through files in the
// folder $COLLAGE_TEST_GATE: while there is one called "closed" no run begins; if there is one called "mixes" when a
// kernel is loaded, each row depends on the last one too. A row that begins with 666 is a bad operand.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "backend/registry.h"
#include "tests/support/shape_cases.h"

namespace collage::test {
namespace {

bool has_file(const char* name) {
  const char* folder = std::getenv("COLLAGE_TEST_GATE");
  return folder != nullptr && ::access((std::string(folder) + "/" + name).c_str(), F_OK) == 0;
}

/// A file called "held" says that a run waits.
void say_held() { std::ofstream(std::string(std::getenv("COLLAGE_TEST_GATE")) + "/held") << "x"; }

struct GateCall final : Call {
  Result<void> run() override {
    if (has_file("closed")) say_held();
    while (has_file("closed")) ::usleep(500);
    for (std::size_t r = 0; r < rows; ++r)
      if (from[r * kCaseWidth] == 666)
        return fail(ExitCode::kBadInput, "runtime/bad-operand", "step 0", "666", "other numbers");
    COLLAGE_TRY_VOID(inner->run());
    if (to != nullptr && mixes)
      for (std::size_t i = 0; i < rows * kCaseWidth; ++i) to[i] += from[(rows - 1) * kCaseWidth];
    return {};
  }
  Result<DynamicOutput> dynamic_output(std::size_t output) override { return inner->dynamic_output(output); }

  std::unique_ptr<Call> inner;
  const float* from = nullptr;
  float* to = nullptr;
  std::size_t rows = 0;
  bool mixes = false;
};

struct GateKernel final : OpenKernel {
  GateKernel(std::unique_ptr<Kernel> of, Extents at) : inner(std::move(of)), extents(std::move(at)) {}
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return bind_at(buffers, {&extents, 1});
  }
  [[nodiscard]] Result<std::unique_ptr<Call>> bind_at(const Buffers& buffers,
                                                      std::span<const Extents> inputs) const override {
    auto call = std::make_unique<GateCall>();
    COLLAGE_TRY(call->inner, dynamic_cast<const OpenKernel&>(*inner).bind_at(buffers, inputs));
    call->from = static_cast<const float*>(buffers.inputs.front());
    call->to = static_cast<float*>(buffers.outputs.front());
    call->rows = static_cast<std::size_t>(inputs.front().front());
    call->mixes = mixes;
    return call;
  }
  std::unique_ptr<Kernel> inner;
  Extents extents;
  bool mixes = has_file("mixes");
};

class GateModule final : public LoadOnlyBackend {
 public:
  GateModule() : LoadOnlyBackend({.name = "rows", .kind = "rows", .version = "1", .build = "1"}) {}

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    const ValueType& type = request.inputs.front().type;
    Extents extents = type.is_static() ? type.extents() : Extents{};
    COLLAGE_TRY(std::unique_ptr<Kernel> kernel, rows_.load(request));
    return std::make_unique<GateKernel>(std::move(kernel), std::move(extents));
  }

 private:
  RowsBackend rows_;
};

constexpr BackendModule kModule = {
    .kind = "rows",
    .create = [](const std::string&, const BackendOptions&) -> Backend* { return new GateModule; },
};

}  // namespace
}  // namespace collage::test

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() { return &collage::test::kModule; }
