#include "region/weight_bytes.h"

namespace collage {
namespace {

std::int64_t bytes_of(const Value& value) {
  return value.constant ? static_cast<std::int64_t>(value.constant->data.size()) : 0;
}

}  // namespace

std::int64_t weight_bytes(const Graph& graph) {
  std::int64_t bytes = 0;
  for (const Value& value : graph.values) bytes += bytes_of(value);
  return bytes;
}

std::int64_t weight_bytes(const Graph& graph, const Region& region) {
  std::int64_t bytes = 0;
  for (const ValueId id : region.constants) bytes += bytes_of(graph.value(id));
  return bytes;
}

}  // namespace collage
