// The signature of a plan file: its member "signature", a text that lists all other members with their SHA-256.
//     collage-plan-signature 1
//     key ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
//     member plan.json 5042 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
//     ...
//     signature BASE64
// The members are in the order of their names. The key signs the text before its last line, so that the bytes between
// members, which nobody reads, are the only part of the file that is not covered. What reads plans without asking for a
// signature passes over the member.
// In:  a plan file and a key. Out: the file with its signature; the members of a file whose signature was checked.
#pragma once

#include <string>

#include "plan/file/plan_members.h"
#include "plan/signature/key.h"

namespace collage {

/// Opens a plan file. Without signers it is mapped, and the members say who signed as the file states it. With signers
/// it is read into memory of this process, and the signature is checked over these bytes: nobody can change them
/// afterwards. Nothing else in the file is read before.
/// Errors: those of open_members(); signature/missing, signature/damaged; signature/other-key when somebody else
/// signed; signature/forged when the key that the file names did not sign; signature/changed, with the member that was
/// changed, added or removed after signing.
[[nodiscard]] Result<PlanMembers> open_signed_members(const std::string& path, const Signers& signers);
/// The same for a file that lies in memory, where it is used.
[[nodiscard]] Result<PlanMembers> open_signed_members(const Buffer& file, const std::string& label,
                                                      const Signers& signers);

/// What a command says of a signature that it made.
struct SignedPlan {
  PublicKey key;
  std::size_t members = 0;
  std::size_t bytes = 0;  ///< of all members
};

/// Writes the plan of `path`, which is checked first, to `output` with the signature of this key in place of the one it
/// may have. Errors: those of load_cases() and save_plan().
[[nodiscard]] Result<SignedPlan> sign_plan(const std::string& path, const PrivateKey& key, const std::string& output);

}  // namespace collage
