// Keys and signatures against the first test of RFC 8032 (section 7.1) and against broken text.
#include "plan/signature/key.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

// The seed of the test, in the form in which OpenSSL writes it.
constexpr const char* kPrivate =
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
    "-----END PRIVATE KEY-----\n";
constexpr const char* kPublic = "ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
constexpr const char* kSignature =
    "5VZDAMNgrHKQhuLMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw==";

PrivateKey key() { return private_key_in(kPrivate, "test").value(); }

TEST(Key, SignsAsTheStandardSays) {
  const PublicKey half = public_half(key());
  EXPECT_EQ(name_of(half), kPublic);
  const Signature signature = sign(key(), "");
  EXPECT_EQ(to_base64(signature), kSignature);
  EXPECT_TRUE(is_signed(half, "", signature));
  EXPECT_FALSE(is_signed(half, "a", signature));
  EXPECT_FALSE(is_signed(public_half(make_key()), "", signature));
}

TEST(Key, IsWrittenAsItIsRead) {
  EXPECT_EQ(to_pem(key()), kPrivate);
  const PublicKey half = public_half(key());
  EXPECT_EQ(public_keys_in(to_pem(half), "test").value(), Signers{half});
  const PublicKey other = public_half(make_key());
  EXPECT_EQ(public_keys_in("release keys\n" + to_pem(half) + "old one:\n" + to_pem(other), "test").value(),
            (Signers{half, other}));
}

TEST(Key, WithAPassPhraseIsRefusedWithoutAsking) {
  const std::string locked =
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
      "MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAj8YDQQQ2+QwAICCAAw\n"
      "DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEMKcdBWE2afKHbvQuo7l+o0EQCdv\n"
      "nvukE/FXaQkgt7v/GTJlxXGb+9TOWpGSS/++7y82t9hQX97gP5I0Wn9EcdZ9RCZ2\n"
      "SUHTpNwcQzGNhlWZPgA=\n"
      "-----END ENCRYPTED PRIVATE KEY-----\n";
  const auto found = private_key_in(locked, "test");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "signature/bad-key");
  EXPECT_EQ(found.error().saw, "a key with a pass phrase");
}

TEST(Base64, TakesOnlyWhatIsWritten) {
  std::array<std::uint8_t, 2> two{};
  EXPECT_TRUE(read_base64("AQI=", two));
  EXPECT_EQ(two, (std::array<std::uint8_t, 2>{1, 2}));
  for (const char* other : {"AQJ=", "AQI", "AQI=\n", "AQ==", "AQID", " AQI", "A%I=", ""})
    EXPECT_FALSE(read_base64(other, two)) << other;
}

}  // namespace
}  // namespace collage
