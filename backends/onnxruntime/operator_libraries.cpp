#include "backends/onnxruntime/operator_libraries.h"

#include <algorithm>
#include <filesystem>

#include "backends/onnxruntime/operators.h"

namespace collage {
namespace {

/// Fields "operators0", "operators1"...: HASH PATH.
std::string field_name(std::size_t i) { return "operators" + std::to_string(i); }

bool has_vendor_node(const Node& node) {
  if (is_vendor_domain(node.domain)) return true;
  return std::ranges::any_of(bodies_of(node),
                             [](const Graph* body) { return std::ranges::any_of(body->nodes, has_vendor_node); });
}

Result<OperatorLibrary> find_library(const OperatorLibrary& wanted, std::span<const OperatorLibrary> given) {
  if (const auto found = std::ranges::find(given, wanted.hash, &OperatorLibrary::hash); found != given.end())
    return *found;
  const std::string allowed = "the library of hash " + wanted.hash + ", here or named by --custom-ops";
  if (!std::filesystem::path(wanted.path).is_absolute())
    return fail(ExitCode::kBadInput, "operators/changed", wanted.path, "a relative path", allowed);
  auto there = read_operator_library(wanted.path);
  if (!there) {
    Error error = std::move(there).error();
    error.allowed = allowed;
    return std::unexpected(std::move(error));
  }
  if (there->hash != wanted.hash)
    return fail(ExitCode::kBadInput, "operators/changed", wanted.path, "hash " + there->hash, allowed);
  return there;
}

}  // namespace

std::vector<std::string> paths_of(std::span<const OperatorLibrary> libraries) {
  std::vector<std::string> paths;
  for (const OperatorLibrary& library : libraries) paths.push_back(library.path);
  return paths;
}

bool has_vendor_operators(const CompileRequest& request) {
  return std::ranges::any_of(request.region.nodes.members(),
                             [&](std::size_t n) { return has_vendor_node(request.graph->nodes[n]); });
}

void add_libraries(std::span<const OperatorLibrary> libraries, EngineArtifact& artifact) {
  for (std::size_t i = 0; i < libraries.size(); ++i)
    artifact.fields[field_name(i)] = libraries[i].hash + ' ' + libraries[i].path;
}

Result<std::vector<OperatorLibrary>> libraries_of(const EngineArtifact& artifact,
                                                  std::span<const OperatorLibrary> given, const std::string& where) {
  std::vector<OperatorLibrary> libraries;
  for (std::size_t i = 0; artifact.fields.contains(field_name(i)); ++i) {
    const std::string& field = artifact.fields.at(field_name(i));
    const std::size_t blank = field.find(' ');
    if (blank == std::string::npos)
      return fail(ExitCode::kBadInput, "backend/bad-artifact", where, field, "HASH PATH of a library of operators");
    COLLAGE_TRY(OperatorLibrary found,
                find_library({.path = field.substr(blank + 1), .hash = field.substr(0, blank)}, given));
    libraries.push_back(std::move(found));
  }
  return libraries;
}

}  // namespace collage
