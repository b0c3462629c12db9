#include "cli/wrap.h"

#include <algorithm>

namespace collage::cli {
namespace {

/// Bytes of UTF-8 that begin a character.
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }

/// How many bytes the first `columns` characters take.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (begins_character(text[at]) && columns-- == 0) break;
  return at;
}

/// Where the rest of a line begins that does not fit; its size when it fits or cannot be broken.
std::size_t break_in(std::string_view line, std::size_t indent, std::size_t columns) {
  const std::size_t fits = bytes_of(line, columns);
  if (fits == line.size()) return line.size();
  const std::size_t space = line.rfind(' ', fits);
  if (space != std::string_view::npos && space > indent) return space + 1;
  const std::size_t comma = line.rfind(',', fits - 1);
  if (comma != std::string_view::npos && comma > indent) return comma + 1;
  const std::size_t next = line.find(' ', fits);
  return next == std::string_view::npos ? line.size() : next + 1;
}

void add_wrapped(std::string_view line, std::size_t columns, std::string& out) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  // Tables may begin far to the right; at least half of the line is for words.
  const std::string hanging(std::min(indent + 2, columns / 2), ' ');
  std::size_t before = indent;
  std::string rest(line);
  for (;;) {
    const std::size_t end = break_in(rest, before, columns);
    out.append(rest, 0, std::min(rest.find_last_not_of(' ', end - 1) + 1, end));
    if (end == rest.size()) return;
    out += '\n';
    rest = hanging + rest.substr(std::min(rest.find_first_not_of(' ', end), rest.size()));
    before = hanging.size();
  }
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column > 0 && column + 1 + word.size() > width) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string with_wrapped_lines(std::string_view text, std::size_t columns) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (bytes_of(line, columns) == line.size())
      out += line;
    else
      add_wrapped(line, columns, out);
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

std::string on_one_line(std::string text) {
  for (char& character : text)
    if (static_cast<unsigned char>(character) < 0x20 || character == 0x7f) character = ' ';
  return text;
}

}  // namespace collage::cli
