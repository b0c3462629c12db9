// The files of the pages, as they were built in.
// Out: for each page the template with names between @, the style, the scripts; the policy that lets these run and
//       nothing else.
#pragma once

#include <string_view>

namespace collage {

struct PageFiles {
  std::string_view frame;  ///< HTML with @POLICY@, @TITLE@, @STYLE@, @BODY@, @DATA@, @PARTS@, @SCRIPT@
  std::string_view title;
  std::string_view style;
  std::string_view body;
  std::string_view parts;  ///< script that all pages share
  std::string_view script;
  std::string_view policy;  ///< Content-Security-Policy. Source: Content Security Policy Level 3 (W3C)
};

[[nodiscard]] PageFiles plan_page_files();
[[nodiscard]] PageFiles list_page_files();
[[nodiscard]] PageFiles diff_page_files();
[[nodiscard]] PageFiles live_page_files();

}  // namespace collage
