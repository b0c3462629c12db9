#include "tests/readers/plan_archive.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "plan/file/zip.h"
#include "plan/plan.h"
#include "tests/support/mutate/mutate_bytes.h"
#include "tests/support/mutate/mutate_json.h"
#include "tests/support/mutate/mutate_text.h"

namespace collage::test {
namespace {

constexpr std::string_view kArtifacts = "artifacts/";

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// What the plan says beside the hash of an artifact.
std::string compatibility_of(const ArchiveMembers& members, const std::string& hash) {
  for (const auto& [name, text] : members) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!name.ends_with(".json") || !json.is_object() || !json.contains("artifacts")) continue;
    for (const auto& artifact : json["artifacts"])
      if (artifact.is_object() && artifact.contains("hash") && artifact["hash"] == hash)
        return artifact.at("compatibility");  // an exception leaves the change to others
  }
  return {};
}

void change_members(ArchiveMembers& members, Dice& dice) {
  const std::size_t at = dice.below(members.size());
  switch (dice.below(5)) {
    case 0:
      members.erase(members.begin() + static_cast<std::ptrdiff_t>(at));
      return;
    case 1:
      members.push_back(members[at]);
      return;
    case 2:
      std::swap(members[at].second, members[dice.below(members.size())].second);
      return;
    case 3:
      members[at].first = mutated_text(members[at].first, members[dice.below(members.size())].first, dice);
      return;
    default:
      members[at].second = mutated_bytes(members[at].second, "", dice);
  }
}

/// What a backend wrote before the bytes of a library: a head of lines, JSON with its length before it, or JSON.
std::string changed_artifact(const std::string& bytes, Dice& dice) {
  if (bytes.starts_with("collage-engine/")) {
    const std::size_t end = bytes.find("\n\n");
    return mutated_text(bytes.substr(0, end), "", dice) + bytes.substr(std::min(end, bytes.size()));
  }
  std::uint64_t length = 0;
  if (bytes.size() > sizeof length) std::memcpy(&length, bytes.data(), sizeof length);
  if (length > 0 && length <= bytes.size() - std::min(bytes.size(), sizeof length) && bytes[sizeof length] == '{') {
    const std::string text = mutated_json_text(bytes.substr(sizeof length, length), dice);
    const std::uint64_t changed = text.size();
    std::string made(sizeof changed, '\0');
    std::memcpy(made.data(), &changed, sizeof changed);
    return made + text + bytes.substr(sizeof length + length);
  }
  return mutated_json_text(bytes, dice);
}

/// Another type, format or number of extents or bytes for a value: what an artifact is told of its ports.
void change_value(nlohmann::json& value, Dice& dice) {
  static const std::vector<std::string> kTypes = {"f32", "f16", "bf16", "u8", "bool", "i64", "c128", "string", "i4"};
  static const std::vector<std::string> kFormats = {
      "plain", "channels_last", "plain.bf16", "channels_last.bf16", "onednn:nChw16c", "onednn:nChw8c", "x"};
  nlohmann::json& shape = value.at("shape");
  switch (dice.below(6)) {
    case 0:
      value["type"] = dice.pick(kTypes);
      return;
    case 1:
      value["format"] = dice.pick(kFormats);
      return;
    case 2:
      value["bytes"] = dice.one_in(2) ? 0 : value.at("bytes").get<std::uint64_t>() / 2;
      return;
    case 3:
      if (!shape.is_array() || shape.empty()) return;
      shape[dice.below(shape.size())] = std::vector<std::int64_t>{0, 1, 2, 7, 1000}[dice.below(5)];
      return;
    case 4:
      if (shape.is_array()) shape.push_back(1);
      return;
    default:
      if (shape.is_array() && !shape.empty()) shape.erase(shape.begin());
  }
}

/// Of the values of plan.json, one to three changes.
void change_values(ArchiveMembers& members, Dice& dice) {
  for (auto& [name, text] : members) {
    if (name != "plan.json") continue;
    auto plan = nlohmann::json::parse(text, nullptr, false);
    if (!plan.is_object() || !plan.contains("values") || plan["values"].empty()) return;
    for (std::size_t changes = 1 + dice.below(3); changes > 0; --changes)
      change_value(plan["values"][dice.below(plan["values"].size())], dice);  // exceptions as above
    text = plan.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
}

}  // namespace

ArchiveMembers members_of(const std::string& archive) {
  ArchiveMembers members;
  const auto found = read_zip(Buffer::copy_of(std::as_bytes(std::span(archive))), "sample");
  if (!found) return members;
  for (const ZipMember& member : *found) members.emplace_back(member.name, member.data.text());
  return members;
}

std::string archive_of(const ArchiveMembers& members) {
  std::vector<ZipSource> sources;
  for (const auto& [name, bytes] : members)
    sources.push_back({.name = name.substr(0, 1000),
                       .parts = {std::as_bytes(std::span(bytes))},
                       .alignment = name == "weights.bin" ? std::size_t{4096} : std::size_t{64}});
  const int file = ::memfd_create("plan", MFD_CLOEXEC);
  const auto written = write_zip(file, sources, "mutant");
  std::string archive(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(file, 0, SEEK_END))), '\0');
  const ssize_t got = ::pread(file, archive.data(), archive.size(), 0);
  ::close(file);
  return written && got == static_cast<ssize_t>(archive.size()) ? archive : std::string();
}

std::string mutated_plan(const std::string& plan, const std::string& other, Dice& dice) {
  if (dice.one_in(8)) return mutated_bytes(plan, other, dice);
  ArchiveMembers members = members_of(plan);
  if (members.empty()) return mutated_bytes(plan, other, dice);
  if (dice.one_in(10)) {
    change_members(members, dice);
    return archive_of(members);
  }
  std::vector<std::string*> texts;
  for (auto& [name, bytes] : members)
    if (name.ends_with(".json")) texts.push_back(&bytes);
  if (texts.empty()) return mutated_bytes(plan, other, dice);
  std::string& text = *dice.pick(texts);
  text = mutated_json_text(text, dice);
  return archive_of(members);
}

std::string mutated_artifact(const std::string& plan, Dice& dice) {
  ArchiveMembers members = members_of(plan);
  if (dice.one_in(2)) change_values(members, dice);
  if (dice.one_in(4)) return archive_of(members);
  std::vector<std::size_t> artifacts;
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].first.starts_with(kArtifacts)) artifacts.push_back(i);
  if (artifacts.empty()) return plan;
  auto& [name, bytes] = members[dice.pick(artifacts)];
  const std::string old = name.substr(kArtifacts.size());
  bytes = changed_artifact(bytes, dice);
  const std::string now = artifact_hash(bytes, compatibility_of(members, old));
  name = std::string(kArtifacts) + now;
  for (auto& [other_name, text] : members)
    if (other_name.ends_with(".json")) replace_all(text, old, now);
  return archive_of(members);
}

}  // namespace collage::test
