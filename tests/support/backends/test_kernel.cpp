#include "test_kernel.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "base/json_numbers.h"
#include "base/narrow_float.h"

namespace collage::test {
namespace {

using Json = nlohmann::json;

Program program_from(std::string_view bytes) {
  const Json json = Json::parse(bytes);
  Program program;
  program.scratch_counts = json.at("scratch").get<std::vector<std::size_t>>();
  program.wait_us = json.at("wait_us").get<std::int64_t>();
  program.factor = json.at("factor").get<float>();
  for (const Json& entry : json.at("operations"))
    program.operations.push_back({.op = entry.at("op").get<std::string>(),
                                  .operands = entry.at("operands").get<std::vector<std::string>>(),
                                  .result = entry.at("result").get<std::string>(),
                                  .count = entry.at("count").get<std::size_t>()});
  return program;
}

/// Makes a file named by this process's id in the folder that the environment names: several processes may do so at
/// once.
void announce() {
  const char* folder = std::getenv("COLLAGE_TEST_ANNOUNCE");
  if (folder == nullptr) return;
  const std::ofstream made(std::string(folder) + "/" + std::to_string(::getpid()));
}

class TestCall final : public Call {
 public:
  TestCall(Program program, std::vector<Tensor> constants, Buffers buffers, Fault fault, std::int64_t delay_us)
      : program_(std::move(program)),
        constants_(std::move(constants)),
        buffers_(std::move(buffers)),
        fault_(std::move(fault)),
        delay_us_(delay_us) {
    for (const std::size_t count : program_.scratch_counts) scratch_.emplace_back(count);
  }
  ~TestCall() override {
    if (fault_.stage == "unload-crash" && is_armed()) misbehave_in_process("crash");
  }

  Result<void> run() override {
    ++runs_;
    if (is_bad_now("fail") || is_bad_now("refuse"))
      return fail(ExitCode::kUnsupported, "backend/library", "test", "a failure");
    if (fault_.is("run", "late-crash") && runs_ > 2 && is_armed()) misbehave_in_process("crash");
    if (is_faulty_run()) misbehave(fault_, fault_.stage);
    if (is_bad_now("nothing") || is_bad_now("garbage")) return {};
    for (const Operation& operation : program_.operations) apply(operation);
    if (program_.factor != 1) skew();
    if (fault_.stage == "run" || fault_.stage == "verify" || fault_.is("load", "wrong")) spoil();
    busy_wait(delay_us_ + program_.wait_us);
    return {};
  }

  Result<DynamicOutput> dynamic_output(std::size_t) override {
    return DynamicOutput{.type = ElementType::kInt64,
                         .extents = {1, static_cast<std::int64_t>(indices_.size())},
                         .data = indices_.data()};
  }

 private:
  [[nodiscard]] const float* operand(const std::string& place) const {
    const auto index = static_cast<std::size_t>(std::atoi(place.c_str() + 1));
    if (place[0] == 'i') return static_cast<const float*>(buffers_.inputs.at(index));
    if (place[0] == 'c') return constants_.at(index).data.as<float>().data();
    if (place[0] == 'o') return static_cast<const float*>(buffers_.outputs.at(index));
    return scratch_.at(index).data();
  }

  void apply(const Operation& operation) {
    const float* a = operand(operation.operands.at(0));
    const float* b = operation.operands.size() > 1 ? operand(operation.operands[1]) : nullptr;
    auto* out = const_cast<float*>(operand(operation.result));
    if (operation.op == "NonZero") {
      indices_.clear();
      for (std::size_t i = 0; i < operation.count; ++i)
        if (a[i] != 0) indices_.push_back(static_cast<std::int64_t>(i));
      return;
    }
    for (std::size_t i = 0; i < operation.count; ++i) {
      if (operation.op == "Relu") out[i] = std::max(a[i], 0.0F);
      if (operation.op == "Add") out[i] = a[i] + b[i];
      if (operation.op == "Identity") out[i] = a[i];
      if (operation.op == "Reverse") out[i] = a[operation.count - 1 - i];
    }
  }

  [[nodiscard]] bool is_faulty_run() const {
    return (fault_.stage == "verify" && runs_ == 1) || (fault_.stage == "run" && runs_ > fault_.good_runs);
  }
  [[nodiscard]] bool is_bad_now(std::string_view kind) const {
    return fault_.kind == kind && is_faulty_run() && is_armed();
  }

  void skew() {
    auto* out = static_cast<float*>(buffers_.outputs.at(0));
    for (std::size_t i = 0; i < program_.operations.back().count; ++i) out[i] *= program_.factor;
  }

  void spoil() {
    const std::size_t count = program_.operations.back().count;
    auto* out = static_cast<float*>(buffers_.outputs.at(0));
    const bool is_late = fault_.is("run", "late-wrong") && runs_ > 2;
    if (is_bad_now("wrong") || is_late || fault_.is("load", "wrong")) out[count - 1] += 1.0F;
    if (is_bad_now("overrun")) out[count] = 1.0F;
    if (is_bad_now("bf16"))
      for (std::size_t i = 0; i < count; ++i) out[i] = from_bfloat(to_bfloat(out[i]));
    if (is_bad_now("f16"))
      for (std::size_t i = 0; i < count; ++i) out[i] = from_half(to_half(out[i]));
    if (is_bad_now("underrun")) out[-1] = 1.0F;
    if (is_bad_now("change-input")) *const_cast<float*>(static_cast<const float*>(buffers_.inputs.at(0))) += 1.0F;
  }

  Program program_;
  std::vector<Tensor> constants_;
  Buffers buffers_;
  Fault fault_;
  std::int64_t delay_us_;
  std::vector<std::vector<float>> scratch_;
  std::vector<std::int64_t> indices_;
  int runs_ = 0;
};

class TestKernel final : public Kernel {
 public:
  TestKernel(Program program, std::vector<Tensor> constants, Fault fault, std::int64_t delay_us)
      : program_(std::move(program)), constants_(std::move(constants)), fault_(std::move(fault)), delay_us_(delay_us) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    return std::make_unique<TestCall>(program_, constants_, buffers, fault_, delay_us_);
  }

 private:
  Program program_;
  std::vector<Tensor> constants_;
  Fault fault_;
  std::int64_t delay_us_;
};

}  // namespace

void busy_wait(std::int64_t microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (microseconds > 0 && std::chrono::steady_clock::now() < end) {
  }
}

bool is_armed() {
  const char* file = std::getenv("COLLAGE_TEST_ARMED");
  return file == nullptr || ::access(file, F_OK) == 0;
}

void misbehave(const Fault& fault, std::string_view stage) {
  if (fault.stage != stage || !is_armed()) return;
  const std::string& kind = fault.kind;
  const bool is_of_buffers = stage == "verify" || stage == "run";
  if (kind == "overrun" && is_of_buffers) return;
  if (kind == "threads" && (stage == "probe" || stage == "compile" || stage == "load"))
    return misbehave_in_process("threads-left");
  if (kind == "crash") std::fputs("about to crash\n", stderr);
  if (kind == "throw-int") throw 42;
  if (kind == "kill") ::raise(SIGKILL);
  if (kind == "hang") {
    announce();
    for (;;) ::sleep(1);
  }
  if (kind == "close")
    for (int descriptor = 3; descriptor < 64; ++descriptor) ::close(descriptor);
  misbehave_in_process(kind);
}

std::string to_bytes(const Program& program) {
  Json operations = Json::array();
  for (const Operation& operation : program.operations)
    operations.push_back({{"op", operation.op},
                          {"operands", operation.operands},
                          {"result", operation.result},
                          {"count", operation.count}});
  return Json{{"operations", operations},
              {"scratch", program.scratch_counts},
              {"wait_us", program.wait_us},
              {"factor", program.factor}}
      .dump();
}

std::unique_ptr<Kernel> make_kernel(const LoadRequest& request, const Fault& fault, std::int64_t delay_us) {
  misbehave(fault, "load");
  return std::make_unique<TestKernel>(program_from(request.artifact.bytes), request.constants, fault, delay_us);
}

}  // namespace collage::test
