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
COLLAGE_FILE("frame", "frame.html");
COLLAGE_FILE("plan_body", "plan.html");
COLLAGE_FILE("plan_script", "plan.js");
COLLAGE_FILE("list_body", "list.html");
COLLAGE_FILE("list_script", "list.js");
COLLAGE_FILE("diff_body", "diff.html");
COLLAGE_FILE("diff_script", "diff.js");
COLLAGE_FILE("live_body", "live.html");
COLLAGE_FILE("live_script", "live.js");

extern "C" {
#define COLLAGE_DECLARE(name)                                                            \
  extern const char collage_page_##name##_begin[] __attribute__((visibility("hidden"))); \
  extern const char collage_page_##name##_end[] __attribute__((visibility("hidden")))
COLLAGE_DECLARE(style);
COLLAGE_DECLARE(parts);
COLLAGE_DECLARE(frame);
COLLAGE_DECLARE(plan_body);
COLLAGE_DECLARE(plan_script);
COLLAGE_DECLARE(list_body);
COLLAGE_DECLARE(list_script);
COLLAGE_DECLARE(diff_body);
COLLAGE_DECLARE(diff_script);
COLLAGE_DECLARE(live_body);
COLLAGE_DECLARE(live_script);
}

#define COLLAGE_TEXT(name) std::string_view(collage_page_##name##_begin, collage_page_##name##_end)

namespace collage {
namespace {

PageFiles page_of(std::string_view title, std::string_view body, std::string_view script, std::string_view policy) {
  return {.frame = COLLAGE_TEXT(frame),
          .title = title,
          .style = COLLAGE_TEXT(style),
          .body = body,
          .parts = COLLAGE_TEXT(parts),
          .script = script,
          .policy = policy};
}

}  // namespace

PageFiles plan_page_files() {
  return page_of("Collage plan", COLLAGE_TEXT(plan_body), COLLAGE_TEXT(plan_script),
                 COLLAGE_POLICY(COLLAGE_PLAN_SCRIPT_HASH));
}

PageFiles list_page_files() {
  return page_of("Collage plans", COLLAGE_TEXT(list_body), COLLAGE_TEXT(list_script),
                 COLLAGE_POLICY(COLLAGE_LIST_SCRIPT_HASH));
}

PageFiles diff_page_files() {
  return page_of("Two Collage plans", COLLAGE_TEXT(diff_body), COLLAGE_TEXT(diff_script),
                 COLLAGE_POLICY(COLLAGE_DIFF_SCRIPT_HASH));
}

PageFiles live_page_files() {
  return page_of("Collage tune", COLLAGE_TEXT(live_body), COLLAGE_TEXT(live_script),
                 COLLAGE_POLICY(COLLAGE_LIVE_SCRIPT_HASH) "; connect-src 'self'; frame-src 'self'");
}

}  // namespace collage
