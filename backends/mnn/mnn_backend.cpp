#include "backends/mnn/mnn_backend.h"

#include <MNN/Interpreter.hpp>
#include <algorithm>

#include "backend/registry.h"
#include "backends/common/build_id/build_id.h"
#include "backends/mnn/kernel.h"
#include "backends/mnn/lower.h"
#include "backends/mnn/rules.h"

namespace collage::mnn {
namespace {

/// Part of cost keys: to be raised when a variant of the same name becomes another net.
constexpr const char* kLowering = "2";

/// Nodes from which on a region is offered with all ends alike only.
constexpr std::size_t kLongRegion = 8;

struct NamedMethod {
  std::string name;
  Method method;
};

struct Way {
  Variant variant;
  Method method;
};

/// How a net can be computed, by what its convolutions allow.
std::vector<NamedMethod> methods_of(const NetFacts& facts, Accuracy accuracy) {
  if (!facts.convolves) return {{.name = "", .method = {}}};
  std::vector<NamedMethod> methods = {{.name = ".direct", .method = {.is_direct = true}}};
  if (accuracy == Accuracy::kStrict) return methods;
  const bool is_fast = accuracy == Accuracy::kFast;
  const auto add = [&](int level) {
    methods.push_back({.name = ".winograd=" + std::to_string(level), .method = {.winograd = level}});
  };
  if (facts.of_one) add(0);
  if (facts.of_three && (is_fast || !facts.of_other)) add(1);
  if (is_fast && (facts.of_three || facts.of_other)) add(3);
  return methods;
}

Variant plain_ports(const Region& region) {
  return {.name = "plain",
          .input_formats = std::vector<Format>(region.inputs.size(), plain()),
          .output_formats = std::vector<Format>(region.outputs.size(), plain())};
}

std::vector<Format> last_formats(const Graph& graph, const std::vector<ValueId>& ids) {
  std::vector<Format> formats;
  for (const ValueId id : ids) {
    const ValueType& type = graph.value(id).type;
    const bool is_image = type.extents().size() == 4 && !same_bytes(type, plain(), channels_last());
    formats.push_back(is_image ? channels_last() : plain());
  }
  return formats;
}

/// The formats that ports can have, "plain" first. Those in channels_last are for regions that compute in blocks, into
/// which pixels are as easily converted.
std::vector<Variant> ports_of(const Graph& graph, const Region& region, const NetFacts& facts) {
  std::vector<Variant> all = {plain_ports(region)};
  if (!facts.has_blocks) return all;
  const std::vector<Format> last_in = last_formats(graph, region.inputs);
  const std::vector<Format> last_out = last_formats(graph, region.outputs);
  const Variant& rows = all[0];
  const bool changes_in = last_in != rows.input_formats;
  const bool changes_out = last_out != rows.output_formats;
  std::vector<Variant> more;
  if (changes_in || changes_out)
    more.push_back({.name = "channels_last", .input_formats = last_in, .output_formats = last_out});
  if (changes_in && changes_out && region.nodes.count() <= kLongRegion) {
    more.push_back({.name = "channels_last_in", .input_formats = last_in, .output_formats = rows.output_formats});
    more.push_back({.name = "channels_last_out", .input_formats = rows.input_formats, .output_formats = last_out});
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Every method between plain ports; between others the one that is usually fastest, the last.
std::vector<Way> ways_of(const Graph& graph, const Region& region, const NetFacts& facts, Accuracy accuracy) {
  const std::vector<NamedMethod> methods = methods_of(facts, accuracy);
  std::vector<Way> ways;
  for (const Variant& ports : ports_of(graph, region, facts))
    for (const NamedMethod& method : methods) {
      if (ports.name != "plain" && &method != &methods.back()) continue;
      Variant variant = ports;
      variant.name += method.name;
      ways.push_back({.variant = std::move(variant), .method = method.method});
    }
  return ways;
}

std::vector<NetPort> ports_of(const Graph& graph, const std::vector<ValueId>& ids, const std::vector<Format>& formats) {
  std::vector<NetPort> ports;
  for (std::size_t i = 0; i < ids.size(); ++i)
    ports.push_back({.extents = stored_extents(graph.value(ids[i]).type, formats[i]),
                     .is_channels_last = formats[i].is_channels_last()});
  return ports;
}

Result<NetPorts> ports_of(const LoadRequest& request) {
  NetPorts ports;
  for (const auto& [from, to] : {std::pair(&request.inputs, &ports.inputs), {&request.outputs, &ports.outputs}})
    for (const Port& port : *from) {
      const Format& format = port.place.format;
      const bool fits = format.is_plain() || (format.is_channels_last() && can_be_channels_last(port.type));
      if (!port.type.is_static() || port.type.element != ElementType::kFloat32 || !fits)
        return fail(ExitCode::kBadInput, "backend/bad-artifact", "mnn", "port '" + port.name + "' in another format",
                    "ports of f32, plain or channels_last");
      to->push_back({.extents = stored_extents(port.type, format), .is_channels_last = format.is_channels_last()});
    }
  return ports;
}

Backend* create(const std::string& instance_name, const BackendOptions& options) {
  return new MnnBackend(instance_name,
                        options.empty() ? "" : "unknown option " + options.begin()->first + "; allowed none");
}

}  // namespace

MnnBackend::MnnBackend(std::string instance_name, std::string problem) {
  const char* version = MNN::getVersion();
  info_ = {.name = std::move(instance_name),
           .kind = "mnn",
           .version = version,
           .build = std::string(kLowering) + '+' + version + '+' + build_id_of(version),
           .unusable = std::move(problem)};
  compatibility_ = std::string("mnn/1+") + version;
}

PartitionRules MnnBackend::rules() const { return partition_rules(); }

std::expected<std::vector<Variant>, Refusal> MnnBackend::support(const Graph& graph, const Region& region,
                                                                 const CompileOptions& options) const {
  const auto lowered = lower(graph, region, plain_ports(region));
  if (!lowered) return std::unexpected(lowered.error());
  if (lowered->facts.approximates && options.accuracy == Accuracy::kStrict)
    return refuse(RefusalReason::kAccuracy, "reciprocals of 12 bits");
  std::vector<Variant> variants;
  for (Way& way : ways_of(graph, region, lowered->facts, options.accuracy)) variants.push_back(std::move(way.variant));
  return variants;
}

std::expected<Artifact, Refusal> MnnBackend::compile_one(const CompileRequest& request,
                                                         const CompileOptions& options) const {
  if (request.model_bytes) return refuse(RefusalReason::kStructure, "this is no engine");
  const Graph& graph = *request.graph;
  const Region& region = request.region;
  const auto plain_net = lower(graph, region, plain_ports(region));
  if (!plain_net) return std::unexpected(plain_net.error());
  const std::vector<Way> ways = ways_of(graph, region, plain_net->facts, options.accuracy);
  const auto named = [&](const Way& way) { return way.variant.name == request.variant.name; };
  const auto way = std::ranges::find_if(ways, named);
  if (way == ways.end()) return refuse(RefusalReason::kStructure, "no variant " + request.variant.name);
  if (way->variant != request.variant) return refuse(RefusalReason::kFormat, "the variant has other formats");
  auto lowered = lower(graph, region, request.variant);
  if (!lowered) return std::unexpected(lowered.error());
  const StoredNet stored{.net = std::move(lowered->net), .method = way->method, .threads = options.threads};
  std::vector<Tensor> constants;
  for (const ValueId id : lowered->constants) constants.push_back(*graph.value(id).constant);
  const NetPorts ports{.inputs = ports_of(graph, region.inputs, request.variant.input_formats),
                       .outputs = ports_of(graph, region.outputs, request.variant.output_formats)};
  if (const auto ok = try_session(stored, ports, constants); !ok) return refuse(RefusalReason::kCompile, ok.error());
  return Artifact{.bytes = to_bytes(stored),
                  .compatibility = compatibility_,
                  .constants = std::move(lowered->constants),
                  .in_place = {},
                  .workspace_bytes = 0};
}

std::vector<std::expected<Artifact, Refusal>> MnnBackend::compile(std::span<const CompileRequest> requests,
                                                                  const CompileOptions& options) {
  std::vector<std::expected<Artifact, Refusal>> artifacts;
  for (const CompileRequest& request : requests) artifacts.push_back(compile_one(request, options));
  return artifacts;
}

Result<std::unique_ptr<Kernel>> MnnBackend::load(const LoadRequest& request) {
  if (request.artifact.compatibility != compatibility_)
    return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", info_.name,
                std::string(request.artifact.compatibility), compatibility_);
  COLLAGE_TRY(StoredNet stored, parse_net(request.artifact.bytes));
  if (stored.threads != request.threads)
    return fail(ExitCode::kBadInput, "backend/other-threads", info_.name, std::to_string(request.threads) + " threads",
                std::to_string(stored.threads) + ", as compiled");
  COLLAGE_TRY(NetPorts ports, ports_of(request));
  if (const auto whole = filled(stored.net, counts_of(ports), request.constants); !whole)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", info_.name, whole.error(), "a net of this backend");
  return make_kernel(std::move(stored), std::move(ports), request.constants);
}

}  // namespace collage::mnn

extern "C" const collage::BackendModule* collage_backend_module();
extern "C" const collage::BackendModule* collage_backend_module() {
  static const collage::BackendModule module{.kind = "mnn", .create = collage::mnn::create};
  return &module;
}
