// Manual pages in roff.
// In:  a command. Out: the text of its page.
// Source: man-pages(7), groff_man(7).
#pragma once

#include <string>

#include "cli/manual/command_facts.h"

namespace collage::cli {

/// "collage-db-list", without the section.
[[nodiscard]] std::string page_name(const CommandFacts& command);
[[nodiscard]] std::string man_page(const CommandFacts& command, const std::string& version);

}  // namespace collage::cli
