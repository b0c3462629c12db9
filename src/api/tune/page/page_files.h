// The files of the page of a plan, as they were built in.
// Out: the template with names between @, the style, the script; the policy that lets these two run and nothing else.
#pragma once

#include <string_view>

namespace collage {

[[nodiscard]] std::string_view page_template();
[[nodiscard]] std::string_view page_style();
[[nodiscard]] std::string_view page_script();
/// Of Content-Security-Policy. Source: Content Security Policy Level 3 (W3C).
[[nodiscard]] std::string_view page_policy();

}  // namespace collage
