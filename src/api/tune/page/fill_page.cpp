#include "api/tune/page/fill_page.h"

#include <utility>

#include "base/error.h"

namespace collage {
namespace {

/// Nothing in it ends the element around it, or begins another.
std::string inert(const nlohmann::ordered_json& facts) {
  std::string text;
  for (const char c : facts.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
    text += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return text;
}

}  // namespace

std::string filled_page(const PageFiles& files, const nlohmann::ordered_json& facts) {
  std::string page;
  std::string_view rest = files.frame;
  const auto copy_until = [&](std::string_view mark) {
    const std::size_t at = rest.find(mark);
    COLLAGE_CHECK(at != std::string_view::npos, std::string(mark));
    page += rest.substr(0, at);
    rest.remove_prefix(at + mark.size());
  };
  // One pass: what is put in is not searched for marks.
  const std::string data = inert(facts);
  for (const auto& [mark, text] : {std::pair<std::string_view, std::string_view>{"@POLICY@", files.policy},
                                   {"@TITLE@", files.title},
                                   {"@STYLE@", files.style},
                                   {"@BODY@", files.body},
                                   {"@DATA@", data},
                                   {"@PARTS@", files.parts},
                                   {"@SCRIPT@", files.script}}) {
    copy_until(mark);
    page += text;
  }
  return page.append(rest);
}

}  // namespace collage
