#include "api/tune/plan_origin.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/json_numbers.h"
#include "timing/machine.h"

namespace collage {
namespace {

/// A machine print without what differs between two processes of one machine.
std::string processor_of(std::string_view print) {
  std::string kept;
  while (!print.empty()) {
    const std::size_t end = std::min(print.find("; "), print.size());
    const std::string_view field = print.substr(0, end);
    if (!field.ends_with(" cores") && !field.ends_with(" GiB")) kept += std::string(field) + ";";
    print.remove_prefix(std::min(end + 2, print.size()));
  }
  return kept;
}

std::string name_of_user(uid_t user) {
  std::array<char, 4096> space{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(user, &entry, space.data(), space.size(), &found) == 0 && found != nullptr) return found->pw_name;
  return std::to_string(user);
}

/// Whose file it is, when whoever runs this did not write it and did not install it.
std::string other_owner(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return status.st_uid == ::geteuid() || status.st_uid == 0 ? "" : name_of_user(status.st_uid);
}

std::string signer_text(const PlanOrigin& origin) {
  if (!origin.signer) return "not signed";
  return fmt::format("signed by {}{}", name_of(origin.signer->key), origin.signer->is_checked ? "" : ", not checked");
}

std::string place_text(const PlanOrigin& origin) {
  std::string text = origin.is_this_machine   ? "made on this kind of machine"
                     : origin.machine.empty() ? "made on a machine that it does not name"
                                              : "made on another machine: " + origin.machine;
  if (!origin.owner.empty()) text += "; a file of user " + origin.owner;
  return text;
}

}  // namespace

PlanOrigin origin_of(const std::string& path, const PlanCases& cases) {
  const std::string& machine = any_plan(cases).plan.machine;
  return {.signer = cases.signer,
          .machine = machine,
          .is_this_machine = processor_of(machine) == processor_of(machine_print()),
          .owner = other_owner(path)};
}

std::string to_text(const PlanOrigin& origin) { return signer_text(origin) + "; " + place_text(origin); }

nlohmann::ordered_json to_json(const PlanOrigin& origin) {
  nlohmann::ordered_json object = {{"signer", nullptr}, {"checked", false}};
  if (origin.signer) object = {{"signer", name_of(origin.signer->key)}, {"checked", origin.signer->is_checked}};
  object["machine"] = origin.machine;
  object["is_this_machine"] = origin.is_this_machine;
  object["owner"] = origin.owner.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(origin.owner);
  return object;
}

std::string origin_note(const std::string& path, const PlanCases& cases) {
  const PlanOrigin origin = origin_of(path, cases);
  if (origin.signer && origin.signer->is_checked) return {};
  if (origin.is_this_machine && origin.owner.empty()) return {};
  return fmt::format("note: {} is code from elsewhere, {}; --require-signature KEY.pem asks for its maker's signature",
                     path, to_text(origin));
}

Result<void> refuse_model(const std::string& path, const Signers& signers) {
  if (signers.empty()) return {};
  return fail(ExitCode::kBadInput, "signature/missing", path, "a model, which has no signature", "a signed plan");
}

}  // namespace collage
