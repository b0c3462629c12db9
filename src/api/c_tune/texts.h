// Reads the texts and numbers of structs that C passes in.
// In: pointers, numbers. Out: copies, or an error that names the member.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/c_tune/collage_tune.h"
#include "api/tune/option_texts.h"
#include "base/error.h"
#include "plan/plan.h"

namespace collage::c_api {

/// "" for null.
[[nodiscard]] inline std::string text_of(const char* given) { return given == nullptr ? "" : given; }

/// Error api/null-argument for a null list or item; `name` is the member's, with its struct.
[[nodiscard]] Result<std::vector<std::string>> texts_of(const collage_texts& given, const std::string& name);

/// How errors call an option: code api/wrong-option, STRUCT.MEMBER.
[[nodiscard]] OptionLabel option_label(const std::string& name);

/// A count within 1 and `most`; `otherwise` for 0. Error api/wrong-option.
[[nodiscard]] Result<int> count_of(std::int64_t given, int otherwise, int most, const std::string& name);

/// 0 stands for the default.
[[nodiscard]] constexpr std::uint64_t seed_of(std::uint64_t given) { return given == 0 ? 1 : given; }

/// Finite seconds; `otherwise` for 0. Error api/wrong-option.
[[nodiscard]] Result<double> seconds_of(double given, double otherwise, const std::string& name);

/// A path that must be given. Error api/null-argument.
[[nodiscard]] Result<std::string> path_of(const char* given, const std::string& name);

}  // namespace collage::c_api
