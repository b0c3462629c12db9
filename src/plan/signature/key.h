// Keys that sign plans: Ed25519 (RFC 8032), in PEM files as OpenSSL writes them.
// In:  the text of PEM files. Out: keys as values.
// Not here: what is signed (plan/signature/plan_signature.h).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace collage {

/// Who may have signed. Not secret.
struct PublicKey {
  std::array<std::uint8_t, 32> bytes = {};
  auto operator<=>(const PublicKey&) const = default;
};

/// Those of whom one must have signed; empty = no signature is asked for.
using Signers = std::vector<PublicKey>;

/// Who signed a plan file, as the file says.
struct PlanSigner {
  PublicKey key;
  bool is_checked = false;  ///< the signature fits all that the file contains
  bool operator==(const PlanSigner&) const = default;
};

/// Whoever has it can sign. Overwritten with zeros when it goes.
struct PrivateKey {
  std::array<std::uint8_t, 32> seed = {};

  PrivateKey() = default;
  PrivateKey(const PrivateKey&) = default;
  PrivateKey& operator=(const PrivateKey&) = default;
  ~PrivateKey();
};

using Signature = std::array<std::uint8_t, 64>;

/// Its bytes in base64, as they stand at the end of its PEM file:
/// "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".
[[nodiscard]] std::string name_of(const PublicKey& key);
[[nodiscard]] std::string to_base64(std::span<const std::uint8_t> bytes);
/// Whether `text` is the base64 of so many bytes, which it then writes.
[[nodiscard]] bool read_base64(std::string_view text, std::span<std::uint8_t> bytes);

/// The public keys in the text of a PEM file, one at least; all of the file is read. `label` names it in errors.
/// Error signature/bad-key.
[[nodiscard]] Result<std::vector<PublicKey>> public_keys_in(std::string_view pem, const std::string& label);
/// The private key in the text of a PEM file. Error signature/bad-key, also for a key with a pass phrase.
[[nodiscard]] Result<PrivateKey> private_key_in(std::string_view pem, const std::string& label);

[[nodiscard]] PublicKey public_half(const PrivateKey& key);
/// A key of the system's random numbers.
[[nodiscard]] PrivateKey make_key();
/// What the two functions above read.
[[nodiscard]] std::string to_pem(const PrivateKey& key);
[[nodiscard]] std::string to_pem(const PublicKey& key);

[[nodiscard]] Signature sign(const PrivateKey& key, std::string_view message);
[[nodiscard]] bool is_signed(const PublicKey& key, std::string_view message, const Signature& signature);

}  // namespace collage
