#include "plan/signature/plan_signature.h"

#include <openssl/evp.h>

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/file.h"
#include "base/shorten.h"
#include "plan/file/cases_file.h"

namespace collage {
namespace {

constexpr const char* kMember = "signature";
constexpr std::string_view kFirstLine = "collage-plan-signature 1\n";
constexpr std::string_view kLastLine = "signature ";
/// Of a name in an error.
constexpr std::size_t kLongestName = 128;
constexpr std::string_view kKeyLine = "key ed25519:";

std::unexpected<Error> refuse(const char* code, const std::string& path, std::string saw, std::string allowed) {
  return fail(ExitCode::kBadInput, code, path, std::move(saw), std::move(allowed));
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  std::array<std::uint8_t, 32> digest{};
  COLLAGE_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

/// Names with blanks or line ends could make the list of one set of members read as that of another.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return c > ' ' && c < '\x7f'; });
}

/// The line of one member.
std::string line_of(const ZipMember& member) {
  return fmt::format("member {} {} {}\n", member.name, member.data.size(), sha256_hex(member.data.bytes()));
}

std::string head_of(const PublicKey& key) { return fmt::format("{}key {}\n", kFirstLine, name_of(key)); }

Result<void> check_names(const PlanMembers& members) {
  for (const auto& [name, member] : members.by_name)
    if (!is_plain(name))
      return refuse("signature/changed", members.path, "a member with a name that no plan has",
                    "the members of a plan");
  return {};
}

/// The parts of a member "signature" that is whole.
struct Parts {
  std::string_view statement;  ///< what is signed
  PublicKey key;
  Signature signature = {};
};

std::optional<Parts> parts_of(std::string_view text) {
  if (!text.starts_with(kFirstLine) || !text.ends_with('\n')) return std::nullopt;
  const std::size_t last = text.rfind('\n', text.size() - 2) + 1;
  Parts parts{.statement = text.substr(0, last), .key = {}};
  std::string_view line = text.substr(last, text.size() - 1 - last);
  if (!line.starts_with(kLastLine) || !read_base64(line.substr(kLastLine.size()), parts.signature)) return std::nullopt;
  line = parts.statement.substr(kFirstLine.size());
  line = line.substr(0, line.find('\n'));
  if (!line.starts_with(kKeyLine) || !read_base64(line.substr(kKeyLine.size()), parts.key.bytes)) return std::nullopt;
  return parts;
}

/// "member NAME", whatever size and contents are.
std::string_view name_in(std::string_view line) { return line.substr(0, line.find(' ', line.find(' ') + 1)); }

/// Takes the next line from the text, its end included.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n') + 1);
  text.remove_prefix(line.size());
  return line;
}

/// Compares the members with the lines that were signed, both in the order of their names.
Result<void> compare(const PlanMembers& members, std::string_view lines) {
  constexpr const char* kAllowed = "the file as it was signed";
  for (const auto& [name, member] : members.by_name) {
    if (name == kMember) continue;
    const std::string line = line_of(member);
    const std::string_view said = take_line(lines);
    if (line == said) continue;
    const std::string_view ours = name_in(line);
    const std::string_view theirs = name_in(said);
    if (ours == theirs) return refuse("signature/changed", members.path, name + " that was changed", kAllowed);
    const bool is_added = said.empty() || ours < theirs;
    return refuse(
        "signature/changed", members.path,
        is_added ? name + " that was added" : fmt::format("no {}", shortened(std::string(theirs), kLongestName)),
        kAllowed);
  }
  if (lines.empty()) return {};
  return refuse("signature/changed", members.path,
                fmt::format("no {}", shortened(std::string(name_in(lines)), kLongestName)), kAllowed);
}

std::string listed(const Signers& signers) {
  std::vector<std::string> names;
  for (const PublicKey& key : signers) names.push_back(name_of(key));
  return fmt::format("a plan signed by {}", fmt::join(names, " or "));
}

Result<PlanSigner> check(const PlanMembers& members, const Signers& signers) {
  const ZipMember* const member = members.find(kMember);
  if (member == nullptr) return refuse("signature/missing", members.path, "no signature", listed(signers));
  const std::optional<Parts> parts = parts_of(member->data.text());
  if (!parts)
    return refuse("signature/damaged", members.path, "a signature that is not whole", "one that collage sign wrote");
  if (std::ranges::find(signers, parts->key) == signers.end())
    return refuse("signature/other-key", members.path, "a signature by " + name_of(parts->key), listed(signers));
  if (!is_signed(parts->key, parts->statement, parts->signature))
    return refuse("signature/forged", members.path, "a signature that " + name_of(parts->key) + " did not make",
                  "one that collage sign wrote");
  COLLAGE_TRY_VOID(check_names(members));
  COLLAGE_TRY_VOID(compare(members, parts->statement.substr(head_of(parts->key).size())));
  return PlanSigner{.key = parts->key, .is_checked = true};
}

/// Takes the signer into the members: checked, or as the file says.
Result<PlanMembers> with_signer(PlanMembers members, const Signers& signers) {
  if (!signers.empty()) {
    COLLAGE_TRY(members.signer, check(members, signers));
  } else if (const ZipMember* const member = members.find(kMember)) {
    if (const auto parts = parts_of(member->data.text())) members.signer = PlanSigner{.key = parts->key};
  }
  return members;
}

}  // namespace

Result<PlanMembers> open_signed_members(const std::string& path, const Signers& signers) {
  if (signers.empty()) {
    COLLAGE_TRY(PlanMembers members, open_members(path));
    return with_signer(std::move(members), signers);
  }
  COLLAGE_TRY(const Buffer file, read_file(path));
  return open_signed_members(file, path, signers);
}

Result<PlanMembers> open_signed_members(const Buffer& file, const std::string& label, const Signers& signers) {
  COLLAGE_TRY(PlanMembers members, open_members(file, label));
  return with_signer(std::move(members), signers);
}

Result<SignedPlan> sign_plan(const std::string& path, const PrivateKey& key, const std::string& output) {
  COLLAGE_TRY(const Buffer file, read_file(path));
  COLLAGE_TRY_VOID(load_cases(file, path));
  COLLAGE_TRY(PlanMembers members, open_members(file, path));
  members.by_name.erase(kMember);
  COLLAGE_TRY_VOID(check_names(members));
  SignedPlan made{.key = public_half(key), .members = members.by_name.size()};
  std::string text = head_of(made.key);
  for (const auto& [name, member] : members.by_name) {
    text += line_of(member);
    made.bytes += member.data.size();
  }
  text += fmt::format("{}{}\n", kLastLine, to_base64(sign(key, text)));
  std::vector<ZipSource> sources = sources_of(members);
  sources.push_back(small_member(kMember, std::as_bytes(std::span(text))));
  COLLAGE_TRY_VOID(write_members(output, sources));
  return made;
}

}  // namespace collage
