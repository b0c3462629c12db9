// What a worker keeps between jobs: the last graph and record, the input sets of regions, conversion kernels, and the
// speed of the undisturbed processor.
#pragma once

#include <optional>
#include <string>

#include "numbers/format_converter.h"
#include "numbers/input_set_cache.h"
#include "numbers/record.h"
#include "timing/canary.h"
#include "timing/displacer.h"
#include "timing/smt_watch.h"

namespace collage {

class Workbench {
 public:
  explicit Workbench(Registry& registry) : registry_(registry), converter_(registry) {}

  struct LoadedGraph {
    Graph graph;
    Uses uses;
  };

  /// Read again when the file is another one or has changed. Valid until the next call. Errors of read_graph_file.
  [[nodiscard]] Result<const LoadedGraph*> graph(const std::string& path);
  /// Likewise. Errors of Record::open.
  [[nodiscard]] Result<const Record*> record(const std::string& path);

  /// Of regions of the graph and the record read last.
  [[nodiscard]] InputSetCache& input_sets() { return input_sets_; }

  [[nodiscard]] Registry& registry() { return registry_; }
  [[nodiscard]] FormatConverter& converter() { return converter_; }
  [[nodiscard]] Canary& canary() { return canary_; }
  [[nodiscard]] SmtWatch& smt() { return smt_; }
  /// The one of the last call where it fits.
  [[nodiscard]] Displacer& displacer(std::int64_t bytes);

 private:
  static constexpr std::size_t kMostInputSets = std::size_t{512} << 20;  ///< bytes

  Registry& registry_;
  FormatConverter converter_;
  Canary canary_;
  SmtWatch smt_;
  Displacer displacer_{0};
  InputSetCache input_sets_{kMostInputSets};
  std::string graph_stamp_;
  std::optional<LoadedGraph> graph_;
  std::string record_stamp_;
  std::optional<Record> record_;
};

}  // namespace collage
