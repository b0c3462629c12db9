// The values of a tune as text, which `tune --dump STAGE` prints instead of the report.
//   prepared   the simplified graph        pool     its candidates
//   priced     candidates with their costs (read back by `tune --resume`)
//   covers     the covers of the last search
//   contest    the plans that competed, with times    shipped  the plan
// In:  the requested stage, values as they are made. Out: one text.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace collage {

/// In the order in which a tune makes them.
inline constexpr std::array<std::string_view, 6> kTuneStages = {"prepared", "pool",    "priced",
                                                                "covers",   "contest", "shipped"};

/// One thread.
class StageDump {
 public:
  /// `stage`: one of kTuneStages; "" = none is kept.
  explicit StageDump(std::string stage) : stage_(std::move(stage)) {}

  /// Keeps this text when it is of the stage asked for; the last one counts.
  void keep(std::string_view stage, const std::function<std::string()>& text) {
    if (stage == stage_) text_ = text();
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string stage_;
  std::string text_;
};

}  // namespace collage
