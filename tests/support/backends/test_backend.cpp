// A backend for tests: runs Relu, Add, Identity and NonZero on f32, plain or with its elements reversed
// ("test:reversed", Relu only). Options: fault=STAGE-KIND (chaos.h, test_kernel.h) and
// good_runs=N, delay_us=N (time a run takes longer), build=TEXT
// (another build id), baseline=STAGE-KIND (the baseline instance of portable artifacts is the one
// with this fault), device=NAME (runs on a made-up device of that name, plain only, with transfer_us=N and
// memory=BYTES), tunable=1 (the plain variant has settings: how long it waits, and one that does nothing), single_us=N
// (one value leaves a region, cheap producers may be repeated, and a region of one node takes N longer), asked=FILE
// (every question what it supports adds a line to the file: the process that asked), narrow=FACTOR (in class fast a
// variant of single nodes that says it computes in 16 bits, with results multiplied by the factor; the others are
// slow), fixed=FACTOR (with narrow: another such variant, in fixed point, which takes longer).
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include "backend/extensions/device_extension.h"
#include "backend/extensions/format_extension.h"
#include "backend/extensions/portability_extension.h"
#include "backend/extensions/tuning_extension.h"
#include "backend/registry.h"
#include "made_up_device.h"
#include "test_kernel.h"

namespace collage::test {
namespace {

constexpr const char* kReversed = "test:reversed";
constexpr const char* kNarrow = "default+bf16";
constexpr const char* kFixed = "default+i16";
constexpr std::int64_t kFixedUs = 100;
/// What full precision takes where there is a narrow variant.
constexpr std::int64_t kSlowUs = 3000;

bool is_known(const Node& node) {
  return is_op(node, "Relu") || is_op(node, "Add") || is_op(node, "Identity") || is_op(node, "NonZero");
}

Refusal refusal(RefusalReason reason, std::string detail) { return {.reason = reason, .detail = std::move(detail)}; }

/// Gives every value of the region its place while walking its nodes.
class Compiler {
 public:
  Compiler(const CompileRequest& request, bool wrongly)
      : graph_(*request.graph), region_(request.region), wrongly_(wrongly) {}

  Artifact run(std::int64_t wait_us = 0, float factor = 1) {
    Program program;
    program.wait_us = wait_us;
    program.factor = factor;
    for (const std::size_t n : region_.nodes.members()) {
      const Node& node = graph_.nodes[n];
      Operation operation{.op = wrongly_ && node.op_type != "NonZero" ? "Identity" : node.op_type};
      for (const ValueId id : node.inputs) operation.operands.push_back(place(id, program));
      operation.result = place(node.outputs[0], program);
      operation.count = count_of(node.op_type == "NonZero" ? node.inputs[0] : node.outputs[0]);
      program.operations.push_back(std::move(operation));
    }
    return {.bytes = to_bytes(program), .compatibility = "test 1", .constants = constants_};
  }

 private:
  [[nodiscard]] std::size_t count_of(ValueId id) const {
    return static_cast<std::size_t>(element_count(graph_.value(id).type.extents()));
  }

  static std::string at(char kind, std::size_t index) { return kind + std::to_string(index); }

  std::string place(ValueId id, Program& program) {
    for (std::size_t i = 0; i < region_.inputs.size(); ++i)
      if (region_.inputs[i] == id) return at('i', i);
    for (std::size_t i = 0; i < region_.outputs.size(); ++i)
      if (region_.outputs[i] == id) return at('o', i);
    if (graph_.value(id).constant) {
      constants_.push_back(id);
      return at('c', constants_.size() - 1);
    }
    const auto [entry, is_new] = scratch_.emplace(id, program.scratch_counts.size());
    if (is_new) program.scratch_counts.push_back(count_of(id));
    return at('t', entry->second);
  }

  const Graph& graph_;
  const Region& region_;
  bool wrongly_;  ///< another function
  std::vector<ValueId> constants_;
  std::map<ValueId, std::size_t> scratch_;
};

/// Runs the kernel's calls in the device's queue, on the bytes behind its addresses.
class DeviceKernel final : public Kernel {
 public:
  DeviceKernel(std::unique_ptr<Kernel> kernel, const MadeUpDevice& device)
      : kernel_(std::move(kernel)), device_(device) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    COLLAGE_CHECK(buffers.queue != nullptr, "a kernel of a device is bound to its queue");
    Buffers behind;
    for (const void* input : buffers.inputs)
      behind.inputs.push_back(device_.backing_of(static_cast<const std::byte*>(input)));
    for (void* output : buffers.outputs)
      behind.outputs.push_back(device_.backing_of(static_cast<const std::byte*>(output)));
    COLLAGE_TRY(std::unique_ptr<Call> call, kernel_->bind(behind));
    return std::make_unique<QueuedCall>(std::move(call), *buffers.queue);
  }

 private:
  class QueuedCall final : public Call {
   public:
    QueuedCall(std::unique_ptr<Call> call, DeviceQueue& queue) : call_(std::move(call)), queue_(queue) {}
    Result<void> run() override {
      enqueue(queue_, [this] { return call_->run(); });
      return {};
    }

   private:
    std::unique_ptr<Call> call_;
    DeviceQueue& queue_;
  };

  std::unique_ptr<Kernel> kernel_;
  const MadeUpDevice& device_;
};

/// Settings of the tunable variant: what it waits is its time.
TuningSpace tunable_space(const Region& region) {
  TuningSpace space{
      .way = "default",
      .choices = {{.name = "idle", .values = {0, 1, 2, 3}}, {.name = "wait_us", .values = {5, 50, 100, 200}}},
      .is_legal = [](const Settings& settings) { return settings[0] < 3 || settings[1] > 5; },
      .seeds = {{0, 200}},
      .shape = {{"nodes", static_cast<std::int64_t>(region.nodes.count())}}};
  return space;
}

class TestBackend final : public Backend,
                          public DeviceExtension,
                          public FormatExtension,
                          public PortabilityExtension,
                          public TuningExtension {
 public:
  TestBackend(const std::string& name, const BackendOptions& options) {
    const auto option = [&](const char* key) {
      const auto found = options.find(key);
      return found == options.end() ? std::string() : found->second;
    };
    fault_ = Fault::parse(option("fault"));
    fault_.good_runs = std::atoi(option("good_runs").c_str());
    delay_us_ = std::atoll(option("delay_us").c_str());
    is_tunable_ = !option("tunable").empty();
    single_us_ = std::atoll(option("single_us").c_str());
    asked_file_ = option("asked");
    factor_ = static_cast<float>(std::atof(option("narrow").c_str()));
    fixed_factor_ = static_cast<float>(std::atof(option("fixed").c_str()));
    info_ = {.name = name, .kind = "test", .version = "1", .build = "test build " + option("build")};
    if (!option("baseline").empty()) baseline_ = "test:fault=" + option("baseline");
    if (fault_.is("probe", "wrong")) info_.kind = "another";
    if (fault_.is("probe", "change-input")) const_cast<BackendOptions&>(options).clear();
    misbehave(fault_, "probe");
    if (option("device").empty()) return;
    info_.location = option("device");
    info_.devices = {info_.location};
    info_.location_bytes = std::atoll(option("memory").c_str());
    device_ = std::make_unique<MadeUpDevice>(std::atoll(option("transfer_us").c_str()),
                                             static_cast<std::size_t>(info_.location_bytes));
  }

  [[nodiscard]] const BackendInfo& info() const override {
    if (fault_.is("probe", "refuse") && ++asked_ > 2) info_.unusable = "not any more";
    return info_;
  }
  [[nodiscard]] PartitionRules rules() const override {
    return {
        .patterns = {}, .growth = Growth::kAny, .repeats = single_us_ > 0 ? RepeatStyle::kCheap : RepeatStyle::kNone};
  }

  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override {
    misbehave(fault_, "propose");
    if (!asked_file_.empty()) std::ofstream(asked_file_, std::ios::app) << ::getpid() << "\n";
    if (fault_.stage == "support-throw") throw std::runtime_error("a library's exception");
    if (fault_.is("propose", "change-input")) const_cast<Graph&>(graph).nodes[0].op_type = "Gone";
    if (fault_.is("propose", "refuse") && ++asked_ > 10)
      return std::unexpected(refusal(RefusalReason::kStructure, "not any more"));
    bool only_relu = region.inputs.size() == 1 && region.outputs.size() == 1;
    for (const std::size_t n : region.nodes.members()) {
      if (!is_known(graph.nodes[n]) || (device_ && graph.nodes[n].op_type == "NonZero"))
        return std::unexpected(refusal(RefusalReason::kOperator, graph.nodes[n].op_type));
      only_relu = only_relu && graph.nodes[n].op_type == "Relu";
    }
    if (single_us_ > 0 && region.outputs.size() > 1)
      return std::unexpected(refusal(RefusalReason::kStructure, "more than one result"));
    std::vector<Variant> variants = {variant("default", plain(), region)};
    if (only_relu && !device_) variants.push_back(variant("reversed", Format{kReversed}, region));
    if (is_tunable_) variants[0].name = "default/idle=0,wait_us=200";
    if (factor_ != 0 && options.accuracy == Accuracy::kFast && region.nodes.count() == 1)
      variants.push_back(variant(kNarrow, plain(), region));
    if (fixed_factor_ != 0 && variants.back().name == kNarrow) variants.push_back(variant(kFixed, plain(), region));
    if (fault_.is("propose", "wrong")) variants[0].input_formats.clear();
    if (fault_.is("propose", "garbage")) variants = {variant("\x01\xff", Format{"\x02\xfe:\n"}, region)};
    return variants;
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions&) override {
    misbehave(fault_, "compile");
    std::vector<std::expected<Artifact, Refusal>> results;
    if (fault_.is("compile", "refuse") || fault_.is("compile", "garbage")) {
      const Artifact rubbish{.bytes = "\x01rubbish", .compatibility = "test 1"};
      for (std::size_t i = 0; i < requests.size(); ++i)
        fault_.kind == "garbage"
            ? results.emplace_back(rubbish)
            : results.emplace_back(std::unexpected(refusal(RefusalReason::kCompile, "not any more")));
      return results;
    }
    for (const CompileRequest& request : requests) {
      bool known = true;
      for (const std::size_t n : request.region.nodes.members()) known = known && is_known(request.graph->nodes[n]);
      if (known)
        results.emplace_back(compiled(request));
      else
        results.emplace_back(std::unexpected(refusal(RefusalReason::kOperator, "an operator it does not know")));
      const std::vector<std::size_t> nodes = request.region.nodes.members();
      if (fault_.is("compile", "change-input")) const_cast<Graph&>(*request.graph).nodes[nodes[0]].op_type = "Gone";
    }
    return results;
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    if (request.artifact.compatibility != "test 1")
      return fail(ExitCode::kBadInput, "backend/bad-artifact", "test", std::string(request.artifact.compatibility),
                  "test 1");
    if (fault_.is("load", "fail") || fault_.is("load", "refuse"))
      return fail(ExitCode::kUnsupported, "backend/library", "test", "a failure to load");
    if (fault_.is("load", "garbage")) return std::unique_ptr<Kernel>();
    if (fault_.is("load", "change-input"))
      for (const Tensor& constant : request.constants)
        *const_cast<std::byte*>(constant.data.bytes().data()) ^= std::byte{0x40};
    std::unique_ptr<Kernel> kernel = make_kernel(request, fault_, delay_us_);
    if (!device_) return kernel;
    return std::make_unique<DeviceKernel>(std::move(kernel), *device_);
  }

  [[nodiscard]] std::optional<std::size_t> format_bytes(const ValueType& type, const Format& format) const override {
    if (format.is_plain() || format.name == kReversed) return byte_count(type.element, type.extents());
    return std::nullopt;
  }

  [[nodiscard]] std::expected<Artifact, Refusal> compile_conversion(const Conversion& conversion,
                                                                    const CompileOptions&) override {
    const Format& from = conversion.from.format;
    const Format& to = conversion.to.format;
    const bool known = (from.is_plain() && to.name == kReversed) || (from.name == kReversed && to.is_plain());
    if (!known || device_ || conversion.type.element != ElementType::kFloat32)
      return std::unexpected(refusal(RefusalReason::kFormat, "only f32 between plain and reversed"));
    Program program;
    program.operations.push_back({.op = "Reverse",
                                  .operands = {"i0"},
                                  .result = "o0",
                                  .count = static_cast<std::size_t>(element_count(conversion.type.extents()))});
    return Artifact{.bytes = to_bytes(program), .compatibility = "test 1"};
  }

  [[nodiscard]] std::optional<TuningSpace> tuning_space(const Graph&, const Region& region, const Variant& variant,
                                                        const CompileOptions&) const override {
    if (!is_tunable_ || way_of(variant.name) != "default") return std::nullopt;
    return tunable_space(region);
  }

  [[nodiscard]] std::string baseline_instance() const override { return baseline_; }
  [[nodiscard]] Result<std::string> judge(std::string_view) const override { return std::string(); }

  [[nodiscard]] Device& device() override { return *device_; }

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    if (kind == ExtensionKind::kDevice && !device_) return nullptr;
    return select_extension<DeviceExtension, FormatExtension, PortabilityExtension, TuningExtension>(*this, kind);
  }

 private:
  Artifact compiled(const CompileRequest& request) const {
    const std::string& name = request.variant.name;
    const float factor = name == kNarrow ? factor_ : name == kFixed ? fixed_factor_ : 1;
    return Compiler(request, fault_.is("compile", "wrong")).run(wait_us(request), factor);
  }

  static Variant variant(const char* name, const Format& format, const Region& region) {
    return {.name = name,
            .input_formats = std::vector<Format>(region.inputs.size(), format),
            .output_formats = std::vector<Format>(region.outputs.size(), format)};
  }

  std::int64_t wait_us(const CompileRequest& request) const {
    if (request.variant.name == kFixed) return kFixedUs;
    if (factor_ != 0) return request.variant.name == kNarrow ? 0 : kSlowUs;
    if (single_us_ > 0) return request.region.nodes.count() == 1 ? single_us_ : 0;
    const auto settings = settings_of(tunable_space(request.region), request.variant.name);
    return is_tunable_ && settings ? settings->at(1) : 0;
  }

  mutable BackendInfo info_;
  std::string baseline_;
  mutable int asked_ = 0;
  Fault fault_;
  std::int64_t delay_us_ = 0;
  bool is_tunable_ = false;
  std::int64_t single_us_ = 0;
  std::string asked_file_;
  float factor_ = 0;
  float fixed_factor_ = 0;
  std::unique_ptr<MadeUpDevice> device_;  ///< null at home
};

Backend* create(const std::string& name, const BackendOptions& options) {
  const auto fault = options.find("fault");
  if (fault != options.end() && fault->second == "probe-garbage") return nullptr;
  return new TestBackend(name, options);
}

}  // namespace
}  // namespace collage::test

extern "C" __attribute__((visibility("default"))) const collage::BackendModule* collage_backend_module();

const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module = {.kind = "test", .create = collage::test::create};
  return &module;
}
