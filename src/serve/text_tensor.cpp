#include "serve/text_tensor.h"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "base/utf8.h"

namespace collage {
namespace {

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

std::size_t length_at(const char* bytes) {
  std::uint32_t length = 0;
  std::memcpy(&length, bytes, sizeof length);
  return length;
}

}  // namespace

void append_text(std::string& bytes, std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += text;
}

Result<std::vector<std::string>> texts_in(std::span<const std::byte> bytes, const Extents& extents,
                                          const std::string& where) {
  const auto wanted = static_cast<std::size_t>(element_count(extents));
  const auto wrong = [&](std::string saw) {
    return fail(ExitCode::kBadInput, "serve/wrong-size", where, std::move(saw),
                fmt::format("{} strings, each behind its length in 4 bytes", wanted));
  };
  std::string_view left(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::vector<std::string> texts;
  if (wanted > left.size() / kLengthBytes) return wrong(fmt::format("{} bytes", left.size()));
  texts.reserve(wanted);
  while (texts.size() < wanted) {
    if (left.size() < kLengthBytes) return wrong(fmt::format("the end after {} strings", texts.size()));
    const std::size_t length = length_at(left.data());
    left.remove_prefix(kLengthBytes);
    if (length > left.size()) return wrong(fmt::format("string {} of {} bytes past the end", texts.size(), length));
    texts.emplace_back(left.substr(0, length));
    if (!is_utf8(texts.back()))
      return fail(ExitCode::kBadInput, "input/not-utf8", fmt::format("{}, string {}", where, texts.size() - 1),
                  "bytes that are no text", "text in UTF-8");
    left.remove_prefix(length);
  }
  if (!left.empty()) return wrong(fmt::format("{} bytes behind the last string", left.size()));
  return texts;
}

}  // namespace collage
