// The OpenVINO backend, on the CPU: an engine for regions and whole models. It computes in f32; in accuracy class fast
// it also offers variants in bf16. Option: precision=default lets the library choose, as it does when a user says
// nothing.
// In:  regions or whole models. Out: artifacts and kernels. An artifact is the exported compiled model with its
//       weights, or ONNX bytes if the library cannot import its own export.
#include <openvino/openvino.hpp>

#include "backend/extensions/operand_extension.h"
#include "backend/narrow_element.h"
#include "backend/registry.h"
#include "backends/common/engine/engine_support.h"
#include "backends/common/engine/region_model.h"
#include "backends/openvino/compiled.h"
#include "backends/openvino/kernel.h"
#include "backends/openvino/operators.h"
#include "region/narrow_variant.h"

namespace collage {
namespace {

constexpr const char* kKindName = "openvino";

// A model with its weights inside is one protobuf message, and those end at 2 GiB.
constexpr std::size_t kMaxConstantBytes = 2'000'000'000;

/// The instruction sets an exported blob may have been compiled for.
std::string cpu_features() {
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (has) text += std::string(" ") + name;
  };
  __builtin_cpu_init();
  add(__builtin_cpu_supports("sse4.2"), "sse4.2");
  add(__builtin_cpu_supports("avx"), "avx");
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512vl"), "avx512vl");
  add(__builtin_cpu_supports("avx512dq"), "avx512dq");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
  return text;
}

std::vector<WantedPort> wanted_ports(const Graph& graph, const std::vector<ValueId>& ids,
                                     const std::vector<Format>& formats) {
  std::vector<WantedPort> wanted;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Value& value = graph.value(ids[i]);
    const Format format = i < formats.size() ? formats[i] : plain();
    wanted.push_back({.name = port_name(value.name, format), .element = stored_element(value.type, format)});
  }
  return wanted;
}

std::vector<Port> ports_of(const Graph& graph, const std::vector<ValueId>& ids, const std::vector<Format>& formats) {
  std::vector<Port> ports;
  for (std::size_t i = 0; i < ids.size(); ++i)
    ports.push_back({.name = graph.value(ids[i]).name,
                     .type = graph.value(ids[i]).type,
                     .place = {.format = i < formats.size() ? formats[i] : plain()}});
  return ports;
}

/// The library's own idea of a shape, where that is not ONNX's.
std::optional<Refusal> other_ports(const OpenvinoModel& model, const CompileRequest& request) {
  const auto kernel = make_kernel(std::make_shared<OpenvinoModel>(model),
                                  ports_of(*request.graph, request.region.inputs, request.variant.input_formats),
                                  ports_of(*request.graph, request.region.outputs, request.variant.output_formats));
  if (kernel) return std::nullopt;
  return Refusal{.reason = RefusalReason::kCompile, .detail = kernel.error().saw};
}

/// One for the process, never taken down: where that happens while the process ends, after its thread library has gone,
/// the library crashes.
std::shared_ptr<ov::Core> shared_core() {
  static const auto* const core = new std::shared_ptr<ov::Core>(std::make_shared<ov::Core>());
  return *core;
}

/// What is wrong with the options; empty when nothing is.
std::string read_options(const BackendOptions& options, Precision& precision, Form& form) {
  for (const auto& [key, value] : options) {
    if (key == "form") {
      if (value != "blob" && value != "model") return "form '" + value + "'; allowed blob, model";
      if (value == "model") form = Form::kModel;
    } else if (key == "precision") {
      if (value != "full" && value != "default") return "precision '" + value + "'; allowed full, default";
      if (value == "default") precision = Precision::kDefault;
    } else {
      return "unknown option '" + key + "'; allowed form, precision";
    }
  }
  return {};
}

/// Behind the name of a variant in bf16 between ports of f32.
constexpr std::string_view kNarrowInside = "+bf16";

/// Variants in bf16: inside alone, and at the ports too. Those with ends of two kinds stay with f32.
void add_narrow(const Graph& graph, const Region& region, const CompileOptions& options,
                std::vector<Variant>& variants) {
  const auto element = multiplied_narrow_element(options);
  if (!element) return;
  for (std::size_t v = 0, full = variants.size(); v < full; ++v) {
    if (variants[v].name != "default" && variants[v].name != "channels_last") continue;
    auto at_ports = narrow_variant(graph, region, variants[v], *element);
    if (!at_ports) continue;
    variants.push_back(*std::move(at_ports));
    Variant inside = variants[v];
    inside.name += kNarrowInside;
    variants.push_back(std::move(inside));
  }
}

class OpenvinoBackend final : public Backend, public OperandExtension {
 public:
  OpenvinoBackend(const std::string& name, const BackendOptions& options) {
    info_.name = name;
    info_.kind = kKindName;
    info_.is_engine = true;
    info_.takes_open = true;
    info_.unusable = read_options(options, precision_, form_);
    const auto started = guard([&] {
      const ov::Version version = ov::get_openvino_version();
      info_.build = version.buildNumber;
      info_.version = info_.build.substr(0, info_.build.find('-'));
      compatibility_ = info_.build + cpu_features();
      core_ = shared_core();
      // Loads the plug-in, so that a broken installation shows here.
      static_cast<void>(core_->get_property("CPU", ov::device::full_name));
    });
    if (!started && info_.unusable.empty()) info_.unusable = one_line(started.error());
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return engine_rules(); }

  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions& options) const override {
    if (options.accuracy == Accuracy::kStrict)
      if (auto refusal = strict_refusal(graph, region)) return std::unexpected(*std::move(refusal));
    auto variants = engine_support(openvino_limits(), graph, region);
    if (variants && precision_ == Precision::kFull) add_narrow(graph, region, options, *variants);
    // What the library chooses may be bf16.
    if (variants && precision_ == Precision::kDefault)
      for (Variant& variant : *variants) variant.name += kNarrowInside;
    return variants;
  }

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<OperandExtension>(*this, kind);
  }
  [[nodiscard]] bool refuses_operands(const Node& node, OperandRule rule) const override {
    return openvino_refuses(node, rule);
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override {
    std::vector<std::expected<Artifact, Refusal>> results;
    for (const CompileRequest& request : requests) results.push_back(compile_one(request, options));
    return results;
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    const std::string where = info_.name + " artifact";
    if (request.artifact.compatibility != compatibility_)
      return fail(ExitCode::kUnsupported, "backend/incompatible", where, std::string(request.artifact.compatibility),
                  compatibility_);
    COLLAGE_TRY(auto model, restore(core_, request.artifact.bytes, request.threads, where));
    return make_kernel(std::move(model), request.inputs, request.outputs);
  }

 private:
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options) const {
    std::size_t constant_bytes = 0;
    for (const ValueId id : request.region.constants) constant_bytes += request.graph->value(id).constant->data.size();
    if (constant_bytes > kMaxConstantBytes)
      return std::unexpected(Refusal{.reason = RefusalReason::kResources,
                                     .detail = std::to_string(constant_bytes) + " bytes of constants in one model"});
    const bool is_chosen = precision_ == Precision::kFull && is_narrow(request.variant);
    if (is_chosen && !multiplied_narrow_element(options))
      return std::unexpected(Refusal{.reason = RefusalReason::kFormat, .detail = "no 16-bit arithmetic here"});
    const Precision precision = is_chosen ? Precision::kNarrow : precision_;
    const std::string exported = request.model_bytes ? std::string() : region_model(request, Weights::kInside).bytes;
    const std::string_view onnx = request.model_bytes.value_or(exported);
    const auto model =
        compile_onnx(core_, onnx, options.threads, precision,
                     wanted_ports(*request.graph, request.region.inputs, request.variant.input_formats),
                     wanted_ports(*request.graph, request.region.outputs, request.variant.output_formats));
    if (!model) return std::unexpected(Refusal{.reason = RefusalReason::kCompile, .detail = one_line(model.error())});
    if (!request.model_bytes)
      if (auto refusal = other_ports(*model, request)) return std::unexpected(*std::move(refusal));
    return Artifact{.bytes = store(*model, onnx, options.threads, precision, form_),
                    .compatibility = compatibility_,
                    .constants = {},
                    .in_place = {}};
  }

  BackendInfo info_;
  std::string compatibility_;
  std::shared_ptr<ov::Core> core_;
  Precision precision_ = Precision::kFull;
  Form form_ = Form::kBlob;
};

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new OpenvinoBackend(instance_name, options);
}

}  // namespace
}  // namespace collage

extern "C" __attribute__((visibility("default"))) const collage::BackendModule* collage_backend_module();

const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule kModule{.kind = collage::kKindName, .create = collage::create};
  return &kModule;
}
