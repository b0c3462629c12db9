// The backend of tests/support/shape_cases.h as a module whose runs a test can hold and make fail, through files in the
// folder $COLLAGE_TEST_GATE: while there is one called "closed" no run begins. A row that begins with 666 is a bad
// operand, one that begins with 667 throws. What files mean that are there when a kernel is loaded:
//   mixes   each row depends on the last one too
//   scales  elements are rounded to 1/127 of the largest one of all rows
//   small   elements above 10 are bad operands
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <span>
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

struct GateHabits {
  bool mixes = has_file("mixes");
  bool scales = has_file("scales");
  bool is_small = has_file("small");
};

float largest_of(std::span<const float> elements) {
  float largest = 0;
  for (const float element : elements) largest = std::max(largest, std::abs(element));
  return largest;
}

struct GateCall final : Call {
  Result<void> run() override {
    if (has_file("closed")) say_held();
    while (has_file("closed")) ::usleep(500);
    const std::span<const float> elements(from, rows * kCaseWidth);
    const float largest = largest_of(elements);
    if (habits.is_small && largest > 10)
      return fail(ExitCode::kBadInput, "runtime/bad-operand", "step 0", "a large number", "others");
    for (std::size_t r = 0; r < rows; ++r) {
      if (from[r * kCaseWidth] == 667) throw 667;
      if (from[r * kCaseWidth] == 666)
        return fail(ExitCode::kBadInput, "runtime/bad-operand", "step 0", "666", "other numbers");
    }
    COLLAGE_TRY_VOID(inner->run());
    COLLAGE_TRY(const DynamicOutput output, inner->dynamic_output(0));
    auto* const to = static_cast<float*>(const_cast<void*>(output.data));
    const float step = largest / 127;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (habits.mixes) to[i] += from[(rows - 1) * kCaseWidth];
      if (habits.scales && step > 0) to[i] += std::round(from[i] / step) * step - from[i];
    }
    return {};
  }
  Result<DynamicOutput> dynamic_output(std::size_t output) override { return inner->dynamic_output(output); }

  std::unique_ptr<Call> inner;
  const float* from = nullptr;
  std::size_t rows = 0;
  GateHabits habits;
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
    call->rows = static_cast<std::size_t>(inputs.front().front());
    call->habits = habits;
    return call;
  }
  std::unique_ptr<Kernel> inner;
  Extents extents;
  GateHabits habits;
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
