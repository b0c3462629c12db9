// Keys of the cost store, as readable text. A key contains everything that the stored answer depends on.
// A cost depends on the structure (operators, types, shapes, structural constants), never on weights. An artifact and a
// verdict on numbers depend on the weights too; an artifact also on the names of the region's ports.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "region/region.h"

namespace collage {

/// "plain,channels_last".
[[nodiscard]] std::string names_of(const std::vector<Format>& formats);

/// What costs depend on besides the region and the candidate.
struct MeasureContext {
  int threads = 1;
  Accuracy accuracy = Accuracy::kStandard;  ///< of the tune: keys of what has no 16 bits are those of class standard
  std::string machine;                      ///< machine_print()
  std::int64_t displaced_bytes = 0;  ///< of the caches before each run; 0 = a kernel finds what its last run left
};

/// What stands for a structure in cost keys, and what the store keeps its description under.
[[nodiscard]] std::string region_key(const std::string& structure_key);
[[nodiscard]] std::string cost_key(const std::string& structure_key, const Variant& variant, const BackendInfo& backend,
                                   const MeasureContext& context);
/// "type from=FORMAT to=FORMAT", away from home "from=LOCATION/FORMAT".
[[nodiscard]] std::string text_of(const Conversion& conversion);
[[nodiscard]] std::string conversion_key(const Conversion& conversion, const BackendInfo& backend,
                                         const MeasureContext& context);

/// The key under which the artifact and the verdict for exactly this place in a graph are kept.
[[nodiscard]] std::string artifact_key(const std::string& cost_key, const std::string& place_hash);
/// The key under which the refusal of a candidate without an artifact for this place is kept.
[[nodiscard]] std::string numbers_key(const std::string& cost_key, const std::string& place_hash);

/// The parts of a key, in its order: ("backend", "onednn"), ("threads", "1"). Empty for what is no key.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> fields_of(std::string_view key);
/// The same, by name.
[[nodiscard]] std::map<std::string, std::string> fields_by_name(std::string_view key);
/// Empty where the key has no such field.
[[nodiscard]] std::string field_of(std::string_view key, std::string_view name);

/// Hashes of single constants of one graph, so that overlapping regions hash each once.
using ConstantHashes = std::map<ValueId, std::string>;

/// Hash of type, extents and contents of the region's constants in order. `known` is read and added to.
[[nodiscard]] std::string weights_hash(const Graph& graph, const Region& region, ConstantHashes& known);
[[nodiscard]] std::string weights_hash(const Graph& graph, const Region& region);

/// The weights and the names of the ports, which artifacts of engines refer to.
[[nodiscard]] std::string place_hash(const Graph& graph, const Region& region, ConstantHashes& known);

}  // namespace collage
