#include "measure/workbench.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "numbers/graph_file.h"

namespace collage {
namespace {

/// Tells one content of a path from another: inode, size, time of change. Never equal for a file that is not there.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return fmt::format("{} {} {} {}.{:09}", path, status.st_ino, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

}  // namespace

Result<const Workbench::LoadedGraph*> Workbench::graph(const std::string& path) {
  const std::string stamp = stamp_of(path);
  if (graph_ && !stamp.empty() && stamp == graph_stamp_) return &*graph_;
  input_sets_.clear();
  COLLAGE_TRY(Graph graph, read_graph_file(path));
  Uses uses = uses_of(graph);
  graph_ = LoadedGraph{.graph = std::move(graph), .uses = std::move(uses)};
  graph_stamp_ = stamp;
  return &*graph_;
}

Result<const Record*> Workbench::record(const std::string& path) {
  const std::string stamp = stamp_of(path + ".json");
  if (record_ && !stamp.empty() && stamp == record_stamp_) return &*record_;
  input_sets_.clear();
  COLLAGE_TRY(record_, Record::open(path));
  record_stamp_ = stamp;
  return &*record_;
}

Displacer& Workbench::displacer(std::int64_t bytes) {
  if (displacer_.bytes() != bytes) displacer_ = Displacer(bytes);
  return displacer_;
}

}  // namespace collage
