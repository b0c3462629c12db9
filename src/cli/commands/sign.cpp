// collage sign: makes keys, signs plans, checks signatures.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_numbers.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/program.h"
#include "plan/file/cases_file.h"
#include "plan/signature/plan_signature.h"

namespace collage::cli {
namespace {

struct SignCommand {
  CommonOptions common;
  std::string plan;
  std::string key;
  std::string output;   ///< empty = the plan itself
  std::string new_key;  ///< file to write
  std::vector<std::string> check;
};

/// What a command did, for people and for tools.
struct Said {
  std::string text;
  nlohmann::ordered_json json;
};

/// A private key is not written over another one, and nobody else may read it.
Result<void> write_new(const std::string& path, const std::string& text, mode_t mode) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (descriptor < 0)
    return fail(ExitCode::kIo, "io/cannot-write", path, std::strerror(errno), "a new file in an existing folder");
  const bool is_whole = ::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  const bool is_kept = ::fsync(descriptor) == 0;
  ::close(descriptor);
  if (is_whole && is_kept) return {};
  ::unlink(path.c_str());
  return fail(ExitCode::kIo, "io/cannot-write", path, std::strerror(is_whole ? errno : error), "a writable place");
}

/// KEY.pem -> KEY.pub.pem
std::string public_path(const std::string& path) {
  std::filesystem::path file(path);
  const std::string extension = file.extension().string();
  return file.replace_extension().string() + ".pub" + (extension.empty() ? ".pem" : extension);
}

Result<Said> make_keys(const SignCommand& options) {
  const PrivateKey key = make_key();
  const PublicKey half = public_half(key);
  const std::string beside = public_path(options.new_key);
  COLLAGE_TRY_VOID(write_new(options.new_key, to_pem(key), 0600));
  if (auto written = write_new(beside, to_pem(half), 0644); !written) {
    ::unlink(options.new_key.c_str());
    return std::unexpected(std::move(written).error());
  }
  return Said{
      .text = fmt::format("{}: private; keep it where nobody else reads it\n{}: public, {}\n", options.new_key, beside,
                          name_of(half)),
      .json = {{"action", "new-key"}, {"plan", nullptr}, {"signer", name_of(half)}, {"members", 0}, {"bytes", 0}}};
}

Result<Said> sign_file(const SignCommand& options) {
  COLLAGE_TRY(const Buffer text, read_file(options.key));
  COLLAGE_TRY(const PrivateKey key, private_key_in(text.text(), options.key));
  const std::string& output = options.output.empty() ? options.plan : options.output;
  COLLAGE_TRY(const SignedPlan made, sign_plan(options.plan, key, output));
  return Said{.text = fmt::format("{}: signed by {}\n", output, name_of(made.key)),
              .json = {{"action", "sign"},
                       {"plan", output},
                       {"signer", name_of(made.key)},
                       {"members", made.members},
                       {"bytes", made.bytes}}};
}

Result<Said> check_file(const SignCommand& options) {
  COLLAGE_TRY(const Signers signers, signers_from(options.check));
  COLLAGE_TRY(const Buffer file, read_file(options.plan));
  COLLAGE_TRY(const PlanMembers members, open_signed_members(file, options.plan, signers));
  COLLAGE_TRY_VOID(load_cases(file, options.plan));
  std::size_t bytes = 0;
  for (const auto& [name, member] : members.by_name) bytes += member.data.size();
  const std::string signer = name_of(members.signer->key);
  return Said{.text = fmt::format("{}: signed by {}; unchanged\n", options.plan, signer),
              .json = {{"action", "check"},
                       {"plan", options.plan},
                       {"signer", signer},
                       {"members", members.by_name.size() - 1},
                       {"bytes", bytes}}};
}

Result<Said> do_asked(const SignCommand& options) {
  const auto wrong = [](const char* option, const char* saw) {
    return fail(
        ExitCode::kUsage, "cli/bad-option", option, saw,
        "collage sign --new-key KEY.pem, collage sign PLAN --key KEY.pem, or collage sign PLAN --check KEY.pub.pem");
  };
  if (!options.new_key.empty())
    return options.plan.empty() ? make_keys(options) : wrong("plan", "a plan with --new-key");
  if (options.plan.empty()) return wrong("plan", "no plan");
  if (!options.check.empty()) return check_file(options);
  return options.key.empty() ? wrong("--key", "no key") : sign_file(options);
}

int run_sign(const SignCommand& options) {
  Console console(options.common);
  const auto shown = [&]() -> Result<void> {
    COLLAGE_TRY(const Said said, do_asked(options));
    nlohmann::ordered_json object = {{"schema", "collage.sign/1"}};
    object.update(said.json);
    return console.result(said.text, object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  }();
  return shown ? static_cast<int>(ExitCode::kGood) : console.failure(shown.error());
}

}  // namespace

void add_sign(CLI::App& app, Program& program) {
  auto options = std::make_shared<SignCommand>();
  CLI::App* command =
      add_command(app, program, "sign", "sign a plan, make a key for it, or check a signature", options, run_sign);
  command->add_option("plan", options->plan, "the plan file");
  auto* key =
      command->add_option("--key", options->key, "sign with this private key, Ed25519 in PEM")->type_name("FILE");
  command->add_option("-o,--output", options->output, "the signed plan to write; default: the plan itself")
      ->type_name("FILE")
      ->needs(key);
  auto* new_key = command
                      ->add_option("--new-key", options->new_key,
                                   "make a key: write the private one here, the public one beside it as NAME.pub.pem")
                      ->type_name("FILE")
                      ->excludes(key);
  command
      ->add_option("--check", options->check,
                   "check that this public key signed the plan and nothing was changed; repeatable: one of these keys")
      ->allow_extra_args(false)
      ->option_text("KEY.pem")
      ->excludes(key)
      ->excludes(new_key);
  command->footer(examples({"collage sign --new-key release.pem", "collage sign model.collage --key release.pem",
                            "collage sign model.collage --check release.pub.pem",
                            "collage run model.collage --require-signature release.pub.pem"}));
}

}  // namespace collage::cli
