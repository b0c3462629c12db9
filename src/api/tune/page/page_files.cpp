#include "api/tune/page/page_files.h"

#define COLLAGE_FILE(name, file)                \
  asm(".section .rodata\n"                      \
      ".local collage_page_" name               \
      "_begin\n"                                \
      "collage_page_" name                      \
      "_begin:\n"                               \
      ".incbin \"" COLLAGE_PAGE_FOLDER "/" file \
      "\"\n"                                    \
      ".local collage_page_" name               \
      "_end\n"                                  \
      "collage_page_" name                      \
      "_end:\n"                                 \
      ".previous\n")

COLLAGE_FILE("template", "page.html");
COLLAGE_FILE("style", "page.css");
COLLAGE_FILE("script", "page.js");

extern "C" {
extern const char collage_page_template_begin[] __attribute__((visibility("hidden")));
extern const char collage_page_template_end[] __attribute__((visibility("hidden")));
extern const char collage_page_style_begin[] __attribute__((visibility("hidden")));
extern const char collage_page_style_end[] __attribute__((visibility("hidden")));
extern const char collage_page_script_begin[] __attribute__((visibility("hidden")));
extern const char collage_page_script_end[] __attribute__((visibility("hidden")));
}

namespace collage {

std::string_view page_template() { return {collage_page_template_begin, collage_page_template_end}; }
std::string_view page_style() { return {collage_page_style_begin, collage_page_style_end}; }
std::string_view page_script() { return {collage_page_script_begin, collage_page_script_end}; }

std::string_view page_policy() {
  return "default-src 'none'; script-src '" COLLAGE_PAGE_SCRIPT_HASH "'; style-src '" COLLAGE_PAGE_STYLE_HASH
         "'; base-uri 'none'; form-action 'none'";
}

}  // namespace collage
