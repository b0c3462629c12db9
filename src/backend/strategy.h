// A backend's list of implementations for users, and their settings as a space that can be searched.
// How: a variant of a tunable implementation is named WAY/NAME=VALUE,NAME=VALUE with the names sorted, for example
//       "direct.nhwc/tile_c=2,tile_x=14". A space lists the legal values; the backend compiles any legal name.
// Source: operator strategies of TVM; knobs of AutoTVM (Chen et al., NeurIPS 2018).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace collage {

/// One way to compute one family of operators.
struct StrategyLine {
  std::string family;          ///< "convolution"
  std::string implementation;  ///< "direct": its variants are named "direct.LAYOUT/SETTINGS"
  std::string condition;       ///< when it applies: "always", "kernel == 3 and ..."
  int priority = 0;            ///< order of implementations that were never measured, highest first
  std::string operators;       ///< "MatMul|Gemm"
  std::string choices = {};    ///< "tile_c: 1..6, rows: 0|1"; empty: nothing to tune
  std::string source = {};     ///< file it comes from; empty: built in
};

/// One value for each choice of a space, in its order.
using Settings = std::vector<std::int64_t>;

/// All settings of one way to compute one region; support() offers a few of them.
struct TuningSpace {
  struct Choice {
    std::string name;
    std::vector<std::int64_t> values;  ///< ascending, at least one
  };
  std::string way;              ///< the variant's name without its settings
  std::vector<Choice> choices;  ///< sorted by name
  /// Which combinations exist; never empty.
  std::function<bool(const Settings&)> is_legal;
  std::vector<Settings> seeds;                ///< legal ones, best first by the backend's own model
  std::map<std::string, std::int64_t> shape;  ///< by which the similarity of two regions is judged
};

/// The variant's name for these settings.
[[nodiscard]] std::string name_of(const TuningSpace& space, const Settings& settings);
/// The settings in a variant's name; nothing for another implementation, or for settings that the space does not have.
[[nodiscard]] std::optional<Settings> settings_of(const TuningSpace& space, std::string_view name);
/// The name without its settings.
[[nodiscard]] inline std::string_view way_of(std::string_view name) { return name.substr(0, name.find('/')); }

}  // namespace collage
