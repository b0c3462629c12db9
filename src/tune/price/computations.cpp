#include "tune/price/computations.h"

#include <map>
#include <string>

#include "store/keys.h"

namespace collage {
namespace {

std::string class_name(const std::string& structure, const Candidate& candidate) {
  const Variant& variant = candidate.variant;
  return structure + "|" + candidate.backend + "|" + variant.name + "|" + names_of(variant.input_formats) + "|" +
         names_of(variant.output_formats);
}

}  // namespace

std::vector<std::uint32_t> computation_classes(const Graph& graph, const CandidatePool& pool) {
  std::vector<std::string> structures;
  structures.reserve(pool.regions.size());
  for (const Region& region : pool.regions) structures.push_back(measured_key(graph, region));
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> classes;
  classes.reserve(pool.candidates.size());
  for (const Candidate& candidate : pool.candidates) {
    const auto next = static_cast<std::uint32_t>(known.size());
    classes.push_back(known.emplace(class_name(structures[candidate.region], candidate), next).first->second);
  }
  return classes;
}

}  // namespace collage
