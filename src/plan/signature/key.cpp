#include "plan/signature/key.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <memory>
#include <span>

#include <fmt/format.h>

namespace collage {
namespace {

struct FreeOpenSsl {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using OpenSslKey = std::unique_ptr<EVP_PKEY, FreeOpenSsl>;
using OpenSslContext = std::unique_ptr<EVP_MD_CTX, FreeOpenSsl>;
using OpenSslText = std::unique_ptr<BIO, FreeOpenSsl>;

/// libcrypto fails at these calls when memory ends, or when it was built without Ed25519.
template <class Pointer>
Pointer made(Pointer pointer) {
  COLLAGE_CHECK(pointer != nullptr, "libcrypto refuses");
  return pointer;
}

OpenSslKey open_key(const PublicKey& key) {
  return made(OpenSslKey(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size())));
}

OpenSslKey open_key(const PrivateKey& key) {
  return made(OpenSslKey(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, key.seed.data(), key.seed.size())));
}

OpenSslText reader_of(std::string_view text) {
  return made(OpenSslText(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))));
}

std::string text_of(BIO* bio) {
  char* start = nullptr;
  const long bytes = BIO_get_mem_data(bio, &start);
  return {start, static_cast<std::size_t>(bytes)};
}

const std::uint8_t* bytes_of(std::string_view text) { return reinterpret_cast<const std::uint8_t*>(text.data()); }

/// A pass phrase would be asked for at the terminal, where nobody may be.
int no_pass_phrase(char* /*unused*/, int /*unused*/, int /*unused*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

std::unexpected<Error> bad_key(const std::string& label, std::string saw, std::string allowed) {
  ERR_clear_error();
  return fail(ExitCode::kBadInput, "signature/bad-key", label, std::move(saw), std::move(allowed));
}

constexpr std::string_view kBegin = "-----BEGIN PUBLIC KEY-----";
constexpr std::string_view kEnd = "-----END PUBLIC KEY-----";

/// Key files are small; a plan or a model given in their place is not read to its end.
constexpr std::size_t kLongestKeyFile = std::size_t{1} << 20;

}  // namespace

PrivateKey::~PrivateKey() { OPENSSL_cleanse(seed.data(), seed.size()); }

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<std::uint8_t*>(text.data()), bytes.data(), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

bool read_base64(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != (bytes.size() + 2) / 3 * 4) return false;
  std::vector<std::uint8_t> decoded(text.size() / 4 * 3);
  if (EVP_DecodeBlock(decoded.data(), bytes_of(text), static_cast<int>(text.size())) < 0) return false;
  // The decoder skips blanks and ignores bits behind the end: only what the encoder writes is taken.
  std::copy_n(decoded.begin(), bytes.size(), bytes.begin());
  return to_base64(bytes) == text;
}

std::string name_of(const PublicKey& key) { return "ed25519:" + to_base64(key.bytes); }

Result<std::vector<PublicKey>> public_keys_in(std::string_view pem, const std::string& label) {
  constexpr const char* kAllowed = "public Ed25519 keys as collage sign --new-key writes them (PEM)";
  if (pem.size() > kLongestKeyFile) return bad_key(label, fmt::format("{} bytes", pem.size()), kAllowed);
  if (pem.contains("PRIVATE KEY-----")) return bad_key(label, "a private key", kAllowed);
  std::vector<PublicKey> keys;
  for (std::size_t start = pem.find(kBegin); start != std::string_view::npos; start = pem.find(kBegin, start)) {
    const std::size_t end = pem.find(kEnd, start);
    if (end == std::string_view::npos) return bad_key(label, "a key without its end", kAllowed);
    const std::string block = std::string(pem.substr(start, end + kEnd.size() - start)) + "\n";
    const OpenSslText reader = reader_of(block);
    start = end;
    bool asked = false;
    const OpenSslKey key{PEM_read_bio_PUBKEY(reader.get(), nullptr, no_pass_phrase, &asked)};
    if (!key) return bad_key(label, "a damaged key", kAllowed);
    PublicKey found;
    std::size_t bytes = found.bytes.size();
    if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_public_key(key.get(), found.bytes.data(), &bytes) != 1)
      return bad_key(label, fmt::format("a key of type {}", EVP_PKEY_get0_type_name(key.get())), kAllowed);
    keys.push_back(found);
  }
  if (keys.empty()) return bad_key(label, "no public key", kAllowed);
  return keys;
}

Result<PrivateKey> private_key_in(std::string_view pem, const std::string& label) {
  constexpr const char* kAllowed = "a private Ed25519 key as collage sign --new-key writes it (PEM)";
  if (pem.size() > kLongestKeyFile) return bad_key(label, fmt::format("{} bytes", pem.size()), kAllowed);
  const OpenSslText reader = reader_of(pem);
  bool asked = false;
  const OpenSslKey key{PEM_read_bio_PrivateKey(reader.get(), nullptr, no_pass_phrase, &asked)};
  if (asked) return bad_key(label, "a key with a pass phrase", "openssl pkey -in KEY -out PLAIN makes one without");
  if (!key) return bad_key(label, "no private key", kAllowed);
  PrivateKey found;
  std::size_t bytes = found.seed.size();
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_private_key(key.get(), found.seed.data(), &bytes) != 1)
    return bad_key(label, fmt::format("a key of type {}", EVP_PKEY_get0_type_name(key.get())), kAllowed);
  return found;
}

PublicKey public_half(const PrivateKey& key) {
  PublicKey half;
  std::size_t bytes = half.bytes.size();
  COLLAGE_CHECK(EVP_PKEY_get_raw_public_key(open_key(key).get(), half.bytes.data(), &bytes) == 1);
  return half;
}

PrivateKey make_key() {
  const OpenSslKey key = made(OpenSslKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")));
  PrivateKey found;
  std::size_t bytes = found.seed.size();
  COLLAGE_CHECK(EVP_PKEY_get_raw_private_key(key.get(), found.seed.data(), &bytes) == 1);
  return found;
}

std::string to_pem(const PrivateKey& key) {
  const OpenSslText writer = made(OpenSslText(BIO_new(BIO_s_secmem())));
  COLLAGE_CHECK(
      PEM_write_bio_PKCS8PrivateKey(writer.get(), open_key(key).get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(writer.get());
}

std::string to_pem(const PublicKey& key) {
  const OpenSslText writer = made(OpenSslText(BIO_new(BIO_s_mem())));
  COLLAGE_CHECK(PEM_write_bio_PUBKEY(writer.get(), open_key(key).get()) == 1);
  return text_of(writer.get());
}

Signature sign(const PrivateKey& key, std::string_view message) {
  const OpenSslContext context = made(OpenSslContext(EVP_MD_CTX_new()));
  Signature signature{};
  std::size_t bytes = signature.size();
  COLLAGE_CHECK(EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, open_key(key).get()) == 1 &&
                EVP_DigestSign(context.get(), signature.data(), &bytes, bytes_of(message), message.size()) == 1);
  return signature;
}

bool is_signed(const PublicKey& key, std::string_view message, const Signature& signature) {
  const OpenSslContext context = made(OpenSslContext(EVP_MD_CTX_new()));
  const bool is_good =
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, open_key(key).get()) == 1 &&
      EVP_DigestVerify(context.get(), signature.data(), signature.size(), bytes_of(message), message.size()) == 1;
  ERR_clear_error();
  return is_good;
}

}  // namespace collage
