#include "onnx/limits.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/number_text.h"
#include "base/suggest.h"

namespace collage {
namespace {

constexpr std::uint64_t kAnyCount = std::numeric_limits<std::int32_t>::max();
/// Parsing and inference call themselves once for each level; their stacks end some way beyond this.
constexpr std::uint64_t kDeepestBodies = 256;

constexpr std::array kLimits = {
    ImportLimit{"parse-memory", &ImportLimits::parse_memory, std::uint64_t{1} << 40,
                "bytes that the parsed file needs beyond its own size, estimated"},
    ImportLimit{"nodes", &ImportLimits::nodes, kAnyCount, "nodes in the file, with those of bodies and functions"},
    ImportLimit{"attributes", &ImportLimits::attributes, kAnyCount, "attributes of all nodes"},
    ImportLimit{"values", &ImportLimits::values, kAnyCount, "values: results of nodes, and all that are declared"},
    ImportLimit{"tensors", &ImportLimits::tensors, kAnyCount, "tensors: initialisers and attributes"},
    ImportLimit{"functions", &ImportLimits::functions, kAnyCount, "functions of the model"},
    ImportLimit{"body-names", &ImportLimits::body_names, std::uint64_t{1} << 50, "bodies times values"},
    ImportLimit{"depth", &ImportLimits::depth, kDeepestBodies, "bodies inside each other"},
    ImportLimit{"function-depth", &ImportLimits::function_depth, 1000, "functions that call each other in a chain"},
    ImportLimit{"inlined-nodes", &ImportLimits::inlined_nodes, kAnyCount, "nodes once functions are inlined"},
    ImportLimit{"rank", &ImportLimits::rank, 1024, "dimensions of a tensor"},
    ImportLimit{"name", &ImportLimits::name, kAnyCount, "bytes of a name"},
    ImportLimit{"elements", &ImportLimits::elements, std::uint64_t{1} << 56, "elements of a tensor"},
    ImportLimit{"import-memory", &ImportLimits::import_memory, std::uint64_t{1} << 50,
                "bytes of memory of the process that reads the model"},
    ImportLimit{"import-seconds", &ImportLimits::import_seconds, 86400, "seconds for reading the model"}};

}  // namespace

std::span<const ImportLimit> import_limits() { return kLimits; }

Result<void> set_limit(ImportLimits& limits, const std::string& text) {
  const auto bad = [&](std::string saw, std::string allowed) {
    return fail(ExitCode::kUsage, "cli/bad-option", "--limit", std::move(saw), std::move(allowed));
  };
  const std::size_t split = text.find('=');
  const std::string name = text.substr(0, split);
  const auto* const found = std::ranges::find(kLimits, name, &ImportLimit::name);
  if (found == kLimits.end()) {
    std::vector<std::string> names;
    for (const ImportLimit& one : kLimits) names.emplace_back(one.name);
    return bad("'" + name + "'" + did_you_mean(name, names), "a limit that `collage limits` lists");
  }
  const auto value =
      split == std::string::npos ? std::nullopt : number_in<std::uint64_t>(std::string_view(text).substr(split + 1));
  if (!value || *value == 0 || *value > found->most)
    return bad("'" + text + "'", name + "= and a number from 1 to " + std::to_string(found->most));
  limits.*found->value = *value;
  return {};
}

std::unexpected<Error> over_limit(const ImportLimits& limits, std::uint64_t ImportLimits::*limit, std::string where,
                                  std::string seen) {
  const auto* const found = std::ranges::find(kLimits, limit, &ImportLimit::value);
  COLLAGE_CHECK(found != kLimits.end());
  return fail(ExitCode::kLimit, "import/limit", std::move(where), std::move(seen),
              "at most " + std::to_string(limits.*limit) + " " + std::string(found->counted) + " (--limit " +
                  std::string(found->name) + "=N)");
}

}  // namespace collage
