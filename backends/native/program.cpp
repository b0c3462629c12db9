#include "program.h"

#include <algorithm>
#include <cstring>
#include <ranges>

#include "backend/backend.h"

namespace collage::native {
namespace {

constexpr std::string_view kFormat = "native/2";
constexpr std::string_view kWith = "with";

}  // namespace

std::size_t Program::workspace_bytes() const {
  std::size_t most = 0;
  for (const Code& code : codes)
    most = std::max(most, code.serial_bytes + code.per_thread_bytes * static_cast<std::size_t>(threads));
  return most;
}

std::string compatibility_of(const Program& program) {
  std::string text(kFormat);
  for (const Code& code : program.codes) text += ' ' + code.instruction_set;
  return program.library.empty() ? text : text + ' ' + std::string(kWith) + ' ' + program.library;
}

Result<Needs> needs_of(std::string_view compatibility) {
  // Without streams: they bring much of the C++ library into an exported library.
  std::vector<std::string> words;
  for (const auto word : std::views::split(compatibility, ' ')) words.emplace_back(word.begin(), word.end());
  bool is_ours = !words.empty() && words.front() == kFormat;
  Needs needs;
  std::size_t at = 1;
  for (; at < words.size() && words[at] != kWith; ++at) {
    needs.sets.push_back(instruction_set_of(words[at]));
    is_ours &= needs.sets.back() != nullptr;
  }
  if (at < words.size()) {
    is_ours &= at + 2 == words.size() && !words[at + 1].empty();
    if (is_ours) needs.library = words[at + 1];
  }
  if (is_ours && !needs.sets.empty()) return needs;
  return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", "native", std::string(compatibility),
              "an artifact of this build");
}

Result<std::string_view> text_of(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return broken_artifact(std::to_string(bytes.size()) + " bytes");
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > bytes.size() - sizeof length) return broken_artifact("a text longer than the artifact");
  return bytes.substr(sizeof length, length);
}

std::string with_length(std::string_view text) {
  const std::uint64_t length = text.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(text);
}

std::unexpected<Error> broken_artifact(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", std::move(saw), "an artifact of this backend");
}

}  // namespace collage::native
