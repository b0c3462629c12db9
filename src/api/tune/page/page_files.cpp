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

#define COLLAGE_POLICY(script_hash)                                              \
  "default-src 'none'; script-src '" COLLAGE_PARTS_SCRIPT_HASH "' '" script_hash \
  "'; style-src '" COLLAGE_PAGE_STYLE_HASH "'; base-uri 'none'; form-action 'none'"

COLLAGE_FILE("style", "page.css");
COLLAGE_FILE("parts", "parts.js");
COLLAGE_FILE("plan_frame", "page.html");
COLLAGE_FILE("plan_script", "page.js");
COLLAGE_FILE("list_frame", "list.html");
COLLAGE_FILE("list_script", "list.js");

extern "C" {
#define COLLAGE_DECLARE(name)                                                            \
  extern const char collage_page_##name##_begin[] __attribute__((visibility("hidden"))); \
  extern const char collage_page_##name##_end[] __attribute__((visibility("hidden")))
COLLAGE_DECLARE(style);
COLLAGE_DECLARE(parts);
COLLAGE_DECLARE(plan_frame);
COLLAGE_DECLARE(plan_script);
COLLAGE_DECLARE(list_frame);
COLLAGE_DECLARE(list_script);
}

#define COLLAGE_TEXT(name) std::string_view(collage_page_##name##_begin, collage_page_##name##_end)

namespace collage {

PageFiles plan_page_files() {
  return {.frame = COLLAGE_TEXT(plan_frame),
          .style = COLLAGE_TEXT(style),
          .parts = COLLAGE_TEXT(parts),
          .script = COLLAGE_TEXT(plan_script),
          .policy = COLLAGE_POLICY(COLLAGE_PAGE_SCRIPT_HASH)};
}

PageFiles list_page_files() {
  return {.frame = COLLAGE_TEXT(list_frame),
          .style = COLLAGE_TEXT(style),
          .parts = COLLAGE_TEXT(parts),
          .script = COLLAGE_TEXT(list_script),
          .policy = COLLAGE_POLICY(COLLAGE_LIST_SCRIPT_HASH)};
}

}  // namespace collage
