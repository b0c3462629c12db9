// The interface of a backend. A backend proposes regions, says which it supports, compiles regions to artifacts, and
// loads artifacts as kernels. Implementations live in backends/<name> and are loaded as modules. Abilities that only
// some backends have are extensions (backend/extension.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "backend/device.h"
#include "backend/extension.h"
#include "backend/thread_pool.h"
#include "base/error.h"
#include "ir/graph.h"
#include "region/accuracy.h"
#include "region/format.h"
#include "region/place.h"
#include "region/refusal.h"
#include "region/region.h"
#include "region/rules/rules.h"
#include "region/variant.h"

namespace collage {

struct BackendInfo {
  std::string name;     ///< instance name: "onednn", "onnxruntime:opt=basic"
  std::string kind;     ///< "onnxruntime"
  std::string version;  ///< of the library behind it
  std::string build;    ///< identifies the exact build of the library; part of cost keys and artifacts
  std::vector<std::string> devices = {kHome};
  std::string location = kHome;     ///< the location of its kernels' buffers: kHome, or that of its DeviceExtension
  std::int64_t location_bytes = 0;  ///< bytes that a plan may use there; 0 = no limit
  std::vector<std::string> conflicts_with;  ///< kinds that cannot be loaded in the same process
  bool is_engine = false;                   ///< also runs whole models, so takes part as a rival
  bool is_compiler = false;                 ///< generates code for each kernel: measuring one takes seconds
  bool takes_pool = false;                  ///< loops of its kernels run on Buffers::pool
  bool takes_open = false;  ///< its kernels are OpenKernels: extents may be known only while a plan runs
  bool takes_held = false;  ///< ports of its kernels may be held values: strings, sequences, optionals, maps
  std::string unusable;     ///< why it cannot be used on this machine, determined when it was made; empty = usable
};

struct CompileOptions {
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;
  bool portable = false;  ///< artifacts also hold code for the baseline instruction set (PortabilityExtension)
  bool linkable = false;  ///< offer only variants that ExportExtension can link: none that calls another library
};

/// One region to compile. The graph outlives the call.
struct CompileRequest {
  const Graph* graph = nullptr;
  Region region;
  Variant variant;
  /// Engines only: compile these ONNX bytes instead of the region; its inputs and outputs have the region's names. They
  /// outlive the call. Where an initialiser is one of the region's constants, the artifact may do without its bytes.
  std::optional<std::string_view> model_bytes;
};

/// The result of compiling a region: bytes, never a live object. load() makes a kernel from it, also in another
/// process.
struct Artifact {
  std::string bytes;
  std::string compatibility;       ///< load() refuses when this differs from what the build expects
  std::vector<ValueId> constants;  ///< constants of the graph that load() needs, in order; mapped, not copied
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_place;  ///< (output, input) ports that may share memory
  std::size_t workspace_bytes = 0;  ///< scratch the plan provides for each context, 64-byte aligned
  bool operator==(const Artifact&) const = default;
};

/// A view of an artifact for load(), in an Artifact or in a mapped plan. Owns nothing.
struct ArtifactView {
  ArtifactView() = default;
  ArtifactView(const Artifact& artifact)  // NOLINT(google-explicit-constructor): a view, as of a string
      : bytes(artifact.bytes), compatibility(artifact.compatibility), workspace_bytes(artifact.workspace_bytes) {}

  std::string_view bytes;
  std::string_view compatibility;
  std::size_t workspace_bytes = 0;
  std::string_view entry = {};  ///< which kernel of a linked artifact (LinkExtension); empty: the artifact's only one
};

/// A port as seen at load time.
struct Port {
  std::string name;  ///< the value's name
  ValueType type;    ///< static except for outputs of unknown shape
  Place place;
};

struct LoadRequest {
  ArtifactView artifact;
  std::vector<Tensor> constants;  ///< for Artifact::constants, same order; the bytes outlive the kernel
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  int threads = 1;
};

class HeldValue;

/// A tensor that a call allocated, for an output port of unknown shape, or a held value; valid until the next run.
struct DynamicOutput {
  ElementType type = ElementType::kUndefined;
  Extents extents;
  const void* data = nullptr;
  const HeldValue* held = nullptr;  ///< backend/held_value.h; in place of the others, which are empty
};

/// A kernel bound to buffers. Belongs to one context; one thread at a time.
class Call {
 public:
  virtual ~Call() = default;
  /// Computes the outputs from the inputs in the bound buffers. Allocates nothing of our own.
  virtual Result<void> run() = 0;
  /// For an output that is bound to null, as held values are: the result of the last run.
  virtual Result<DynamicOutput> dynamic_output(std::size_t port);
  /// From now on reads the inputs of open shape at these addresses, with these extents; other inputs stay where they
  /// are. False, and nothing has changed, when the kernel must be bound again instead; calls of OpenKernels should do
  /// better. After an error the call is of no use.
  virtual Result<bool> move_inputs(std::span<const void* const> inputs, std::span<const Extents> extents);
};

/// 64-byte aligned buffers, one per port; an output of unknown shape gets null. An input of a held type is a
/// `const HeldValue*`, its extents are empty; it does not change while it is bound.
struct Buffers {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  void* workspace = nullptr;
  DeviceQueue* queue = nullptr;  ///< where runs are queued; null at home. Outlives the call
  ThreadPool* pool = nullptr;    ///< threads for its loops; null: those of the library behind it. Outlives the call
  /// Whether the run shall end early; null: never. The runtime asks before each step; a kernel that takes long asks
  /// in between (backend/cancel.h). Outlives the call.
  const std::stop_token* cancel = nullptr;
};

class OpenKernel;

/// A loaded artifact. Immutable; bind() may be called from many threads.
using ConstantBytes = std::vector<std::span<const std::byte>>;
[[nodiscard]] ConstantBytes bytes_of(std::span<const Buffer> buffers);

class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const = 0;
  /// Memory that runs read besides their buffers and the constants of the LoadRequest, such as packed weights. Nothing:
  /// not known, because a library has copies of its own. Who times the kernel evicts them from the caches.
  [[nodiscard]] virtual std::optional<ConstantBytes> packed_constants() const { return std::nullopt; }
  /// This kernel as one that takes inputs of open shape (backend/open_kernel.h); null when its shapes are fixed.
  [[nodiscard]] virtual const OpenKernel* as_open() const { return nullptr; }
};

/// A conversion of one static tensor between formats, as a backend offers it; between two locations a transfer of its
/// bytes as they are, which their devices do.
struct Conversion {
  ValueType type;
  Place from;
  Place to;
  [[nodiscard]] bool is_transfer() const { return from.location != to.location; }
  /// False when narrow elements come in or go out: what rounds, or shows what was rounded before.
  [[nodiscard]] bool keeps_elements() const { return !from.format.narrow() && !to.format.narrow(); }
};

class Backend {
 public:
  virtual ~Backend() = default;

  /// The library is probed when the instance is made; `unusable` says why it cannot be used.
  [[nodiscard]] virtual const BackendInfo& info() const = 0;
  [[nodiscard]] virtual PartitionRules rules() const = 0;

  /// The variants in which the backend can run this region, or why it cannot. A quick decision that does not call the
  /// library and does not judge whether the region is profitable. If a variant turns out to be impossible, compile()
  /// refuses it. A backend whose answer depends on the region's labels (Region::matches) includes them in the variant's
  /// name, because costs and artifacts are stored under that name.
  [[nodiscard]] virtual std::expected<std::vector<Variant>, Refusal> support(const Graph& graph, const Region& region,
                                                                             const CompileOptions& options) const = 0;

  /// One result per request, in order.
  [[nodiscard]] virtual std::vector<std::expected<Artifact, Refusal>> compile(std::span<const CompileRequest> requests,
                                                                              const CompileOptions& options) = 0;

  /// Error backend/* when the artifact does not fit this build or the library fails. The kernel keeps no reference
  /// to the request.
  [[nodiscard]] virtual Result<std::unique_ptr<Kernel>> load(const LoadRequest& request) = 0;

  /// An optional ability; null when the backend does not have it. Owned by the backend, the same at every call.
  [[nodiscard]] virtual Extension* extension(ExtensionKind /*kind*/) { return nullptr; }
};

/// The backend as this interface; null when it lacks the ability.
template <class Interface>
[[nodiscard]] Interface* extension_of(Backend& backend) {
  return static_cast<Interface*>(backend.extension(Interface::kKind));
}
template <class Interface>
[[nodiscard]] const Interface* extension_of(const Backend& backend) {
  return extension_of<Interface>(const_cast<Backend&>(backend));  // the query changes nothing
}

/// Runs `work` and turns any exception of a third-party library into the message of a failure.
/// For use inside backends only.
template <class Work>
auto guard(Work&& work) -> std::expected<decltype(work()), std::string> {
  using Returned = decltype(work());
  try {
    if constexpr (std::is_void_v<Returned>) {
      work();
      return {};
    } else {
      return work();
    }
  } catch (const std::exception& exception) {
    return std::unexpected(std::string(exception.what()));
  } catch (...) {
    return std::unexpected(std::string("an exception of unknown type"));
  }
}

}  // namespace collage
