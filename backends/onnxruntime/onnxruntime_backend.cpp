// The ONNX Runtime backend: an engine for regions and whole models. With opt=off it is the reference.
// In:  regions or whole models. Out: artifacts and kernels. An artifact is ONNX bytes; its large constants are external
//       data, read in place from the plan's mapped weights.
// Options: opt=off|basic|extended|all (default all), the library's graph optimisation level; ep=cpu|cuda|tensorrt
// (default
//       cpu), its execution provider, and device=N, the GPU of the latter two.
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "backend/extensions/operand_extension.h"
#include "backend/extensions/operator_library.h"
#include "backend/registry.h"
#include "backends/common/engine/engine_artifact.h"
#include "backends/common/engine/engine_support.h"
#include "backends/common/engine/region_model.h"
#include "backends/onnxruntime/kernel.h"
#include "backends/onnxruntime/operator_libraries.h"
#include "backends/onnxruntime/operators.h"
#include "backends/onnxruntime/output_types.h"
#include "backends/onnxruntime/provider.h"
#include "backends/onnxruntime/session.h"
#include "base/number_text.h"

namespace collage {
namespace {

constexpr const char* kKindName = "onnxruntime";
constexpr const char* kDisabledField = "disabled";
constexpr const char* kConstantsField = "constants";
constexpr const char* kTf32Field = "tf32";

/// The optimizers that multiply weights by something, which the strict class rules out.
constexpr const char* kWeightRewriters =
    "ConvBNFusion;ConvMulFusion;MatMul_BatchNormalization_Fusion;MatMulScaleFusion";

/// Changes zero points from i8 to u8, yet not the output_dtype that its fellow optimizers have written by then: such
/// models fail at operator sets from 21 on.
constexpr const char* kFailingOptimizer = "QDQS8ToU8Transformer";

const std::map<std::string, GraphOptimizationLevel>& levels() {
  static const std::map<std::string, GraphOptimizationLevel> kLevels = {{"off", ORT_DISABLE_ALL},
                                                                        {"basic", ORT_ENABLE_BASIC},
                                                                        {"extended", ORT_ENABLE_EXTENDED},
                                                                        {"all", ORT_ENABLE_ALL}};
  return kLevels;
}

/// What is wrong with one option; empty when nothing is. Fills in what it says.
std::string read_option(const std::string& key, const std::string& value, GraphOptimizationLevel& level,
                        ProviderUse& use) {
  if (key == "opt") {
    const auto found = levels().find(value);
    if (found == levels().end()) return "opt='" + value + "'; allowed off, basic, extended, all";
    level = found->second;
    return {};
  }
  if (key == "ep") {
    const auto provider = provider_of(value);
    if (!provider) return "ep='" + value + "'; allowed cpu, cuda, tensorrt";
    use.provider = *provider;
    return {};
  }
  if (key == "device") {
    const auto gpu = number_in<std::uint16_t>(value);
    if (!gpu) return "device='" + value + "'; allowed the number of a GPU";
    use.gpu = *gpu;
    return {};
  }
  return "unknown option '" + key + "'; allowed opt=off|basic|extended|all, ep=cpu|cuda|tensorrt, device=N";
}

std::string read_options(const BackendOptions& options, GraphOptimizationLevel& level, ProviderUse& use) {
  for (const auto& [key, value] : options)
    if (std::string fault = read_option(key, value, level, use); !fault.empty()) return fault;
  return {};
}

std::unexpected<Refusal> refused(std::string_view message) {
  return std::unexpected(Refusal{.reason = RefusalReason::kCompile, .detail = one_line(message)});
}

class OnnxruntimeBackend final : public Backend, public OperandExtension, public OperatorLibraryExtension {
 public:
  OnnxruntimeBackend(const std::string& name, const BackendOptions& options) {
    info_.name = name;
    info_.kind = kKindName;
    info_.is_engine = true;
    info_.takes_open = true;
    info_.takes_held = true;
    info_.unusable = read_options(options, level_, provider_);
    const auto started = guard([&] {
      // An old library has no table of the version that the headers ask for.
      if (OrtGetApiBase()->GetApi(ORT_API_VERSION) == nullptr)
        throw std::runtime_error("older than its API version " + std::to_string(ORT_API_VERSION));
      info_.version = Ort::GetVersionString();
      info_.build = info_.version + " " + Ort::GetBuildInfoString();
      // It would write a file into the folder for temporary files and talk to its maker's servers.
      ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);
      environment_ = std::make_shared<Ort::Env>(ORT_LOGGING_LEVEL_FATAL, "collage");
      if (const std::string missing = missing_provider(provider_.provider); !missing.empty())
        throw std::runtime_error(missing);
    });
    if (!started && info_.unusable.empty()) info_.unusable = one_line(started.error());
  }

  [[nodiscard]] const BackendInfo& info() const override { return info_; }
  [[nodiscard]] PartitionRules rules() const override { return engine_rules(); }

  [[nodiscard]] std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                     const CompileOptions&) const override {
    return engine_support(libraries_.empty() ? onnxruntime_limits() : onnxruntime_limits_with_libraries(), graph,
                          region);
  }

  [[nodiscard]] Extension* extension(ExtensionKind kind) override {
    return select_extension<OperandExtension, OperatorLibraryExtension>(*this, kind);
  }
  [[nodiscard]] bool refuses_operands(const Node& node, OperandRule rule) const override {
    return onnxruntime_refuses(node, rule);
  }

  void add_library(const OperatorLibrary& library) override {
    info_.build = build_with(info_.build, library);
    libraries_.push_back(library);
  }
  [[nodiscard]] Result<std::map<std::string, ValueType>> output_types(const std::string& model_bytes) override {
    auto types = onnxruntime_output_types(environment_, paths_of(libraries_), model_bytes);
    // What is wrong with a model without custom operators is said by who runs it.
    if (!types && libraries_.empty()) return {};
    return types;
  }

  [[nodiscard]] std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                      const CompileOptions& options) override {
    std::vector<std::expected<Artifact, Refusal>> results;
    for (const CompileRequest& request : requests) results.push_back(compile_one(request, options));
    return results;
  }

  [[nodiscard]] Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) override {
    const std::string where = info_.name + " artifact";
    if (const std::string_view own = own_build(info_.build); request.artifact.compatibility != own)
      return fail(ExitCode::kUnsupported, "backend/incompatible", where, std::string(request.artifact.compatibility),
                  std::string(own));
    COLLAGE_TRY(const EngineArtifact artifact, unpack_artifact(request.artifact.bytes, where));
    const std::string constants = field_or_empty(artifact, kConstantsField);
    if (constants != std::to_string(request.constants.size()))
      return fail(ExitCode::kBadInput, "backend/bad-artifact", where,
                  std::to_string(request.constants.size()) + " constants", constants);
    COLLAGE_TRY(const std::vector<OperatorLibrary> libraries, libraries_of(artifact, libraries_, where));
    auto session = make_session(environment_,
                                {.level = level_,
                                 .disabled = field_or_empty(artifact, kDisabledField),
                                 .threads = request.threads,
                                 .operator_libraries = paths_of(libraries),
                                 .provider = provider_with(!field_or_empty(artifact, kTf32Field).empty())},
                                artifact.payload, request.constants);
    if (!session) return library_failed(where, session.error());
    return make_kernel(std::move(*session), request.inputs, request.outputs);
  }

 private:
  /// Creates the session once, so that what the library does not take is refused here.
  [[nodiscard]] std::expected<Artifact, Refusal> compile_one(const CompileRequest& request,
                                                             const CompileOptions& options) const {
    const RegionModel model =
        request.model_bytes ? user_model(request) : region_model(request, Weights::kOutside, opset_of(request));
    std::vector<Tensor> constants;
    for (const ValueId id : model.constants) constants.push_back(*request.graph->value(id).constant);
    const std::vector<OperatorLibrary> libraries =
        has_vendor_operators(request) ? libraries_ : std::vector<OperatorLibrary>();
    SessionSettings settings{.level = level_,
                             .disabled = {},
                             .threads = options.threads,
                             .operator_libraries = paths_of(libraries),
                             .provider = provider_with(options.accuracy == Accuracy::kFast)};
    if (options.accuracy == Accuracy::kStrict) settings.disabled = kWeightRewriters;
    auto session = make_session(environment_, settings, model.bytes, constants);
    if (!session && session.error().find("QuantizeLinear") != std::string::npos) {
      settings.disabled += (settings.disabled.empty() ? "" : ";") + std::string(kFailingOptimizer);
      session = make_session(environment_, settings, model.bytes, constants);
    }
    if (!session) return refused(session.error());
    if (const std::string missing = missing_port(**session, request); !missing.empty())
      return refused("the model has no input or output '" + missing + "'");
    EngineArtifact artifact{
        .fields = {{kDisabledField, settings.disabled}, {kConstantsField, std::to_string(model.constants.size())}},
        .payload = model.bytes};
    if (settings.provider.uses_tf32) artifact.fields[kTf32Field] = "1";
    add_libraries(libraries, artifact);
    return Artifact{.bytes = pack_artifact(artifact),
                    .compatibility = std::string(own_build(info_.build)),
                    .constants = model.constants,
                    .in_place = {}};
  }

  /// 0, the graph's own, or the older set when an operator of the region needs it.
  [[nodiscard]] static std::int64_t opset_of(const CompileRequest& request) {
    for (const std::size_t n : request.region.nodes.members())
      if (const Node& node = request.graph->nodes[n]; needs_opset_21(node.domain, node.op_type)) return kOlderOpset;
    return 0;
  }

  [[nodiscard]] static std::string missing_port(const OnnxruntimeSession& session, const CompileRequest& request) {
    const auto missing = [&](const std::vector<ValueId>& ids, const std::vector<Format>& formats,
                             const std::vector<std::string>& names) -> std::string {
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const Format format = i < formats.size() ? formats[i] : plain();
        const std::string name = port_name(request.graph->value(ids[i]).name, format);
        if (std::find(names.begin(), names.end(), name) == names.end()) return name;
      }
      return {};
    };
    const std::string input = missing(request.region.inputs, request.variant.input_formats, session.input_names);
    if (!input.empty()) return input;
    return missing(request.region.outputs, request.variant.output_formats, session.output_names);
  }

  /// The processor has no such products.
  [[nodiscard]] ProviderUse provider_with(bool uses_tf32) const {
    ProviderUse use = provider_;
    use.uses_tf32 = uses_tf32 && use.provider != Provider::kCpu;
    return use;
  }

  BackendInfo info_;
  GraphOptimizationLevel level_ = ORT_ENABLE_ALL;
  ProviderUse provider_;
  std::vector<OperatorLibrary> libraries_;
  std::shared_ptr<Ort::Env> environment_;
};

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new OnnxruntimeBackend(instance_name, options);
}

}  // namespace
}  // namespace collage

extern "C" __attribute__((visibility("default"))) const collage::BackendModule* collage_backend_module();

const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule kModule{.kind = collage::kKindName, .create = collage::create};
  return &kModule;
}
