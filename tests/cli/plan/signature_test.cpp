// Plans that somebody signed, through every command that takes a plan: what must be refused is, whatever was done to
// the file.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "plan/file/plan_file.h"
#include "plan/file/plan_members.h"
#include "plan/signature/plan_signature.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;
using Contents = std::map<std::string, std::string>;  // member -> bytes

class SignatureTest : public CliTest {
 protected:
  SignatureTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {
    expect_good(tuned_once(model_, plan_, {"--only", "onednn"}));
  }

  /// NAME.pem, and the path of NAME.pub.pem.
  std::string key(const std::string& name) const {
    const std::string half = file(name + ".pub.pem");
    if (!std::filesystem::exists(half)) expect_good(run({"sign", "--new-key", file(name + ".pem")}));
    return half;
  }
  std::string sign(const std::string& plan, const std::string& name) const {
    (void)key(name);
    expect_good(run({"sign", plan, "--key", file(name + ".pem")}));
    return plan;
  }
  /// Every command that loads a plan's code or tells of it.
  std::vector<Words> commands(const std::string& plan, const std::string& half) const {
    const Words ask = {"--require-signature", half};
    std::vector<Words> all = {{"run", plan},
                              {"bench", plan, "--seconds", "0.05"},
                              {"verify", plan},
                              {"explain", plan},
                              {"recheck", plan, "--force"},
                              {"export", plan, "-o", file("libx.so"), "--header", file("x.h")},
                              {"serve", plan, "--port", "0"}};
    for (Words& words : all) words.insert(words.end(), ask.begin(), ask.end());
    all.push_back({"sign", plan, "--check", half});
    return all;
  }
  void expect_refused(const std::string& plan, const std::string& half, const std::string& code,
                      const std::string& about) const {
    for (const Words& words : commands(plan, half)) {
      SCOPED_TRACE(words.front());
      expect_error(run(words), 3, code, about);
    }
  }

  static Contents contents_of(const std::string& plan) {
    Contents contents;
    const PlanMembers members = open_members(plan).value();
    for (const auto& [name, member] : members.by_name) contents[name] = std::string(member.data.text());
    return contents;
  }
  /// An archive of these members with checksums that fit.
  std::string packed(const std::string& name, const Contents& contents) const {
    std::vector<ZipSource> sources;
    for (const auto& [member, bytes] : contents)
      sources.push_back({.name = member, .parts = {std::as_bytes(std::span(bytes))}, .alignment = 4096});
    EXPECT_TRUE(write_members(file(name), sources));
    return file(name);
  }
  /// The signed plan with something done to its members.
  std::string changed(const std::function<void(Contents&)>& change) const {
    Contents contents = contents_of(plan_);
    change(contents);
    return packed("changed.collage", contents);
  }

  std::string model_;
  std::string plan_;
};

TEST_F(SignatureTest, OfTheRightKeyIsAcceptedByEveryCommand) {
  const std::string half = key("release");
  sign(plan_, "release");
  for (const Words& words : commands(plan_, half)) {
    SCOPED_TRACE(words.front());
    if (words.front() == "serve") continue;  // it would wait for requests: SERVE's tests
    const Ended ended = run(words);
    // Whose steps no library can have.
    if (words.front() == "export") {
      expect_error(ended, 4, "export/backend", plan_);
    } else if (words.front() == "recheck") {
      EXPECT_LE(ended.exit_code, 1) << "1: the times differ, as on a busy machine\n" << describe(ended);
    } else {
      EXPECT_EQ(ended.exit_code, 0) << describe(ended);
    }
  }
  EXPECT_EQ(run({"run", plan_}).exit_code, 0) << "nobody has to ask for it";
}

TEST_F(SignatureTest, OfNobodyOrAnotherKeyIsRefusedByEveryCommand) {
  const std::string half = key("release");
  expect_refused(plan_, half, "signature/missing", plan_);
  sign(plan_, "other");
  expect_refused(plan_, half, "signature/other-key", "ed25519:");
  expect_error(run({"run", model_, "--require-signature", half}), 3, "signature/missing", "a model");
  expect_error(run({"bench", model_, "--require-signature", half}), 3, "signature/missing", "a model");
}

TEST_F(SignatureTest, OfOneOfSeveralKeysIsEnough) {
  const std::string first = key("first");
  const std::string second = key("second");
  sign(plan_, "second");
  expect_good(run({"run", plan_, "--require-signature", first, "--require-signature", second}));
  const std::string both = given("both.pem", read_all(first) + read_all(second));
  expect_good(run({"run", plan_, "--require-signature", both}));
}

TEST_F(SignatureTest, IsReplacedByThatOfAnotherKey) {
  sign(plan_, "first");
  const Contents before = contents_of(plan_);
  sign(plan_, "second");
  Contents after = contents_of(plan_);
  EXPECT_NE(before.at("signature"), after.at("signature"));
  EXPECT_EQ(before.size(), after.size());
  expect_good(run({"run", plan_, "--require-signature", key("second")}));
  sign(plan_, "first");
  EXPECT_EQ(contents_of(plan_), before) << "Ed25519 has no chance in it";
}

TEST_F(SignatureTest, DoesNotFitAMemberThatWasChanged) {
  const std::string half = key("release");
  sign(plan_, "release");
  std::size_t changes = 0;
  for (const auto& [name, bytes] : contents_of(plan_)) {
    if (name == "signature") continue;
    SCOPED_TRACE(name);
    for (const std::size_t at : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
      const std::string other = changed([&](Contents& contents) { contents[name][at] ^= 1; });
      expect_error(run({"run", other, "--require-signature", half}), 3, "signature/changed",
                   name + " that was changed");
      ++changes;
    }
    const std::string longer = changed([&](Contents& contents) { contents[name] += ' '; });
    expect_refused(longer, half, "signature/changed", name + " that was changed");
    const std::string without = changed([&](Contents& contents) { contents.erase(name); });
    expect_error(run({"run", without, "--require-signature", half}), 3, "signature/changed", "no member " + name);
  }
  EXPECT_GE(changes, 9U) << "plan.json, plan.onnx, weights.bin, artifacts";
}

TEST_F(SignatureTest, DoesNotFitAMemberThatWasAdded) {
  const std::string half = key("release");
  sign(plan_, "release");
  for (const char* name : {"artifacts/zzz", "a", "plan.json2", "zzz", "cases/0.json"}) {
    const std::string other = changed([&](Contents& contents) { contents[name] = "x"; });
    expect_refused(other, half, "signature/changed", std::string(name) + " that was added");
  }
  // A name that reads as two lines of the list.
  const std::string odd = changed([&](Contents& contents) { contents["a 1 0\nmember b"] = "x"; });
  expect_refused(odd, half, "signature/changed", "a name that no plan has");
}

TEST_F(SignatureTest, OfAnotherPlanDoesNotFit) {
  const std::string half = key("release");
  const std::string second = file("second.collage");
  expect_good(tuned_once(given("doubling.onnx", doubling()), second, {"--only", "onednn"}));
  sign(second, "release");
  const std::string taken = contents_of(second).at("signature");
  const std::string other = changed([&](Contents& contents) { contents["signature"] = taken; });
  expect_refused(other, half, "signature/changed", other);
}

TEST_F(SignatureTest, ThatIsForgedIsRefused) {
  const std::string half = key("release");
  sign(plan_, "release");
  const std::string good = contents_of(plan_).at("signature");
  // Another key signed, and the name of the right one stands in the text.
  sign(plan_, "other");
  const std::string theirs = contents_of(plan_).at("signature");
  const std::size_t line = good.find("\nkey ") + 1;
  const std::size_t end = good.find('\n', line);
  const std::string renamed = changed([&](Contents& contents) {
    contents["signature"] = theirs.substr(0, line) + good.substr(line, end - line) + theirs.substr(end);
  });
  expect_refused(renamed, half, "signature/forged", renamed);
  // The list was rewritten to fit members that were changed.
  const std::string rewritten = changed([&](Contents& contents) {
    std::string text = good;
    const std::size_t hash = text.find("\nmember plan.json ") + 30;
    text[hash] = text[hash] == '0' ? '1' : '0';
    contents["signature"] = text;
  });
  expect_refused(rewritten, half, "signature/forged", rewritten);
}

TEST_F(SignatureTest, ThatIsNotWholeIsRefused) {
  const std::string half = key("release");
  sign(plan_, "release");
  const std::string good = contents_of(plan_).at("signature");
  const PublicKey signer = public_keys_in(read_all(half), half).value().front();
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    const std::string cut = changed([&](Contents& contents) { contents["signature"] = good.substr(0, bytes); });
    const auto opened = open_signed_members(cut, {signer});
    ASSERT_FALSE(opened) << bytes;
    EXPECT_THAT(opened.error().code, StartsWith("signature/")) << bytes;
  }
  const std::string empty = changed([&](Contents& contents) { contents["signature"] = ""; });
  expect_refused(empty, half, "signature/damaged", empty);
  for (std::size_t at = 0; at < good.size(); ++at)
    for (const int bit : {1, 32}) {
      const std::string flipped = changed([&](Contents& contents) {
        contents["signature"] = good;
        contents["signature"][at] = static_cast<char>(good[at] ^ bit);
      });
      const auto opened = open_signed_members(flipped, {signer});
      ASSERT_FALSE(opened) << at;
      EXPECT_THAT(opened.error().code, StartsWith("signature/")) << at;
    }
}

TEST_F(SignatureTest, KeysAreWrittenOnceAndPrivately) {
  (void)key("release");
  struct stat status {};
  ASSERT_EQ(::stat(file("release.pem").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const std::string before = read_all(file("release.pem"));
  expect_error(run({"sign", "--new-key", file("release.pem")}), 6, "io/cannot-write", "release.pem");
  EXPECT_EQ(read_all(file("release.pem")), before);
  std::filesystem::remove(file("release.pem"));
  expect_error(run({"sign", "--new-key", file("release.pem")}), 6, "io/cannot-write", "release.pub.pem");
  EXPECT_FALSE(std::filesystem::exists(file("release.pem"))) << "half a pair is of no use";
}

TEST_F(SignatureTest, KeysThatAreNoneAreRefused) {
  const std::string half = key("release");
  const std::string whole = file("release.pem");
  const std::string rsa = given("rsa.pem",
                                "-----BEGIN PUBLIC KEY-----\n"
                                "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQCqwSw37oip32CEvg7sieoSMUY9\n"
                                "VUGcxn7IJoDxYuybcUy47adCNn8hqmYaQbk0ucry65bhpMajsauyyxLcZCgXgtQi\n"
                                "p4sBoOmncmKWz4FXcKdU08GOFOAjJ2cuk/RvDpI78dzCRZ/fri/eJm+sxolcRMSa\n"
                                "A9mUsHosGcV4DSTcqwIDAQAB\n"
                                "-----END PUBLIC KEY-----\n");
  const std::string cut = given("cut.pem", read_all(half).substr(0, 60));
  const std::string after = given("after.pem", read_all(half) + "-----BEGIN PUBLIC KEY-----\nMCow\n");
  for (const std::string& bad : {whole, rsa, cut, after, model_, given("empty.pem", "")}) {
    SCOPED_TRACE(bad);
    expect_error(run({"run", plan_, "--require-signature", bad}), 3, "signature/bad-key", bad);
  }
  for (const std::string& bad : {half, rsa, cut, model_, file("empty.pem")}) {
    SCOPED_TRACE(bad);
    expect_error(run({"sign", plan_, "--key", bad}), 3, "signature/bad-key", bad);
  }
  expect_error(run({"run", plan_, "--require-signature", file("nowhere.pem")}), 6, "io/cannot-read", "nowhere.pem");
  expect_error(run({"sign", model_, "--key", whole}), 3, "plan/is-a-model", model_);
}

TEST_F(SignatureTest, AsksForWhatItNeeds) {
  expect_error(run({"sign"}), 2, "cli/bad-option", "no plan");
  expect_error(run({"sign", plan_}), 2, "cli/bad-option", "no key");
  expect_error(run({"sign", plan_, "--new-key", file("k.pem")}), 2, "cli/bad-option", "a plan with --new-key");
}

TEST_F(SignatureTest, OriginIsTold) {
  const Ended mine = run({"explain", plan_});
  EXPECT_THAT(mine.out, HasSubstr("\nnot signed; made on this kind of machine\n"));
  RealisedPlan elsewhere = load_plan(plan_).value();
  elsewhere.plan.machine = "Some Other Processor; flags 0123456789ab; 64 cores; 512 GiB; x86_64";
  const std::string other = file("elsewhere.collage");
  ASSERT_TRUE(save_plan(elsewhere, other));
  const Ended told = run({"explain", other});
  EXPECT_THAT(told.out, HasSubstr("\nnot signed; made on another machine: Some Other Processor"));
  const std::string note = "is code from elsewhere, not signed; made on another machine: Some Other Processor";
  EXPECT_THAT(run({"run", other}).err, HasSubstr(note));
  EXPECT_THAT(run({"bench", other, "--seconds", "0.05"}).err, HasSubstr(note));
  EXPECT_THAT(run({"run", plan_}).err, Not(HasSubstr("code from elsewhere")));
  const std::string half = key("release");
  sign(other, "release");
  EXPECT_THAT(run({"run", other}).err, HasSubstr("is code from elsewhere, signed by ed25519:"));
  EXPECT_THAT(run({"run", other, "--require-signature", half}).err, Not(HasSubstr("code from elsewhere")));
  EXPECT_THAT(run({"explain", other}).out, HasSubstr(", not checked; made on another machine"));
  const nlohmann::json json = parsed(run({"explain", other, "--require-signature", half, "--json", "-"}).out);
  EXPECT_EQ(json["origin"]["checked"], true);
  EXPECT_THAT(json["origin"]["signer"].get<std::string>(), StartsWith("ed25519:"));
  EXPECT_EQ(json["origin"]["is_this_machine"], false);
}

}  // namespace
}  // namespace collage::testing
