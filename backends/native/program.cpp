#include "program.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backend/backend.h"
#include "base/hash.h"
#include "kernel_set_json.h"

namespace collage::native {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "native/2";
constexpr std::string_view kWith = "with";

std::uint64_t hash_of(std::string_view bytes) { return hash_bytes(bytes.data(), bytes.size(), 0); }

std::unexpected<Error> broken(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", std::move(saw), "an artifact of this backend");
}

json to_json(const ConstantPart& part) {
  return {{"source", part.source},
          {"packing", name_of(part.packing.kind)},
          {"numbers", part.packing.numbers},
          {"packed", part.is_packed}};
}

ConstantPart constant_of(const json& from) {
  const auto kind = packing_kind_of(from.at("packing").get<std::string>());
  if (!kind) throw std::runtime_error("a packing of unknown kind");
  return {.source = from.at("source").get<std::uint32_t>(),
          .packing = {.kind = *kind, .numbers = from.at("numbers").get<Extents>()},
          .is_packed = from.at("packed").get<bool>()};
}

json to_json(const Code& code, std::string_view object) {
  return {{"instruction_set", code.instruction_set},
          {"serial_bytes", code.serial_bytes},
          {"per_thread_bytes", code.per_thread_bytes},
          {"bytes", object.size()},
          {"hash", hash_of(object)}};
}

Code code_of(const json& from) {
  return {.instruction_set = from.at("instruction_set").get<std::string>(),
          .serial_bytes = from.at("serial_bytes").get<std::size_t>(),
          .per_thread_bytes = from.at("per_thread_bytes").get<std::size_t>()};
}

/// What a shared object must be.
struct ObjectPrint {
  std::size_t bytes = 0;
  std::uint64_t hash = 0;
};

struct Text {
  Program program;
  std::vector<ObjectPrint> objects;  ///< one for each code
};

Text from_json(const json& from) {
  Text text{.program = {.symbol = from.at("symbol").get<std::string>(),
                        .threads = from.at("threads").get<int>(),
                        .library = from.at("library").get<std::string>()},
            .objects = {}};
  for (const json& argument : from.at("arguments")) text.program.arguments.push_back(argument_of(argument));
  for (const json& part : from.at("constants")) text.program.constants.push_back(constant_of(part));
  for (const json& code : from.at("codes")) {
    text.program.codes.push_back(code_of(code));
    text.objects.push_back({code.at("bytes").get<std::size_t>(), code.at("hash").get<std::uint64_t>()});
  }
  if (from.contains("set")) text.program.set = kernel_set_of(from["set"]);
  return text;
}

/// The dynamic loader trusts what it maps: bytes that are not the ones that were written must not reach it.
Result<std::vector<std::string_view>> objects_of(const std::vector<ObjectPrint>& prints, std::string_view bytes) {
  std::vector<std::string_view> objects;
  for (const ObjectPrint& print : prints) {
    const std::string_view object = bytes.substr(0, print.bytes);
    if (object.size() != print.bytes || hash_of(object) != print.hash)
      return broken("a shared object of " + std::to_string(object.size()) + " bytes that is not the one compiled");
    objects.push_back(object);
    bytes.remove_prefix(object.size());
  }
  if (!bytes.empty()) return broken(std::to_string(bytes.size()) + " bytes after the last shared object");
  return objects;
}

}  // namespace

std::size_t Program::workspace_bytes() const {
  std::size_t most = 0;
  for (const Code& code : codes)
    most = std::max(most, code.serial_bytes + code.per_thread_bytes * static_cast<std::size_t>(threads));
  return most;
}

std::string to_bytes(const Program& program, std::span<const std::string_view> shared_objects) {
  COLLAGE_CHECK(program.codes.size() == shared_objects.size(), "one shared object for each code");
  json text = {{"symbol", program.symbol},   {"threads", program.threads}, {"library", program.library},
               {"arguments", json::array()}, {"constants", json::array()}, {"codes", json::array()}};
  for (const Argument& argument : program.arguments) text["arguments"].push_back(to_json(argument));
  for (const ConstantPart& part : program.constants) text["constants"].push_back(to_json(part));
  for (std::size_t i = 0; i < program.codes.size(); ++i)
    text["codes"].push_back(to_json(program.codes[i], shared_objects[i]));
  if (program.set) text["set"] = to_json(*program.set);
  const std::string head = text.dump();
  const std::uint64_t length = head.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  bytes += head;
  for (const std::string_view object : shared_objects) bytes += object;
  return bytes;
}

std::string compatibility_of(const Program& program) {
  std::string text(kFormat);
  for (const Code& code : program.codes) text += ' ' + code.instruction_set;
  return program.library.empty() ? text : text + ' ' + std::string(kWith) + ' ' + program.library;
}

Result<Needs> needs_of(std::string_view compatibility) {
  std::istringstream words{std::string(compatibility)};
  std::string word;
  words >> word;
  bool is_ours = word == kFormat;
  Needs needs;
  while (words >> word && word != kWith) {
    needs.sets.push_back(instruction_set_of(word));
    is_ours &= needs.sets.back() != nullptr;
  }
  if (words) is_ours &= static_cast<bool>(words >> needs.library);
  if (is_ours && !needs.sets.empty()) return needs;
  return fail(ExitCode::kUnsupported, "backend/incompatible-artifact", "native", std::string(compatibility),
              "an artifact of this build");
}

Result<StoredProgram> program_of(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return broken(std::to_string(bytes.size()) + " bytes");
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::string_view rest = bytes.substr(sizeof length);
  if (length > rest.size()) return broken("a text longer than the artifact");
  auto text = guard([&] { return from_json(json::parse(rest.substr(0, length))); });
  if (!text) return broken(text.error());
  if (text->program.set)
    if (const std::string fault = fault_of(*text->program.set); !fault.empty()) return broken(fault);
  COLLAGE_TRY(auto objects, objects_of(text->objects, rest.substr(length)));
  return StoredProgram{.program = std::move(text->program), .shared_objects = std::move(objects)};
}

}  // namespace collage::native
