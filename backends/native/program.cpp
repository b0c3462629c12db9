#include "program.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "backend/backend.h"
#include "base/hash.h"

namespace collage::native {
namespace {

using nlohmann::json;

std::uint64_t hash_of(std::string_view bytes) { return hash_bytes(bytes.data(), bytes.size(), 0); }

std::unexpected<Error> broken(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", std::move(saw), "an artifact of this backend");
}

json to_json(const Argument& argument) {
  return {{"kind", static_cast<int>(argument.kind)},
          {"index", argument.index},
          {"type", name_of(argument.type)},
          {"extents", argument.extents},
          {"strides", argument.strides}};
}

Argument argument_of(const json& from) {
  const auto type = element_type_of(from.at("type").get<std::string>());
  const int kind = from.at("kind").get<int>();
  if (!type || kind < 0 || kind > 2) throw std::runtime_error("an argument of unknown kind");
  return {.kind = static_cast<ArgumentKind>(kind),
          .index = from.at("index").get<std::uint32_t>(),
          .type = *type,
          .extents = from.at("extents").get<Extents>(),
          .strides = from.at("strides").get<Extents>()};
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

/// A program and what its shared object must be.
struct Text {
  Program program;
  std::size_t object_bytes = 0;
  std::uint64_t object_hash = 0;
};

Text from_json(const json& from) {
  Program program{.symbol = from.at("symbol").get<std::string>(),
                  .instruction_set = from.at("instruction_set").get<std::string>(),
                  .threads = from.at("threads").get<int>(),
                  .serial_bytes = from.at("serial_bytes").get<std::size_t>(),
                  .per_thread_bytes = from.at("per_thread_bytes").get<std::size_t>()};
  for (const json& argument : from.at("arguments")) program.arguments.push_back(argument_of(argument));
  for (const json& part : from.at("constants")) program.constants.push_back(constant_of(part));
  return {.program = std::move(program),
          .object_bytes = from.at("object_bytes").get<std::size_t>(),
          .object_hash = from.at("object_hash").get<std::uint64_t>()};
}

}  // namespace

std::string to_bytes(const Program& program, std::string_view shared_object) {
  json text = {{"symbol", program.symbol},
               {"instruction_set", program.instruction_set},
               {"threads", program.threads},
               {"serial_bytes", program.serial_bytes},
               {"per_thread_bytes", program.per_thread_bytes},
               {"object_bytes", shared_object.size()},
               {"object_hash", hash_of(shared_object)},
               {"arguments", json::array()},
               {"constants", json::array()}};
  for (const Argument& argument : program.arguments) text["arguments"].push_back(to_json(argument));
  for (const ConstantPart& part : program.constants) text["constants"].push_back(to_json(part));
  const std::string head = text.dump();
  const std::uint64_t length = head.size();
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes.append(head).append(shared_object);
}

Result<StoredProgram> program_of(std::string_view bytes) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) return broken(std::to_string(bytes.size()) + " bytes");
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::string_view rest = bytes.substr(sizeof length);
  if (length > rest.size()) return broken("a text longer than the artifact");
  auto program = guard([&] { return from_json(json::parse(rest.substr(0, length))); });
  if (!program) return broken(program.error());
  // The dynamic loader trusts what it maps: bytes that are not the ones that were written must not reach it.
  const std::string_view object = rest.substr(length);
  if (object.size() != program->object_bytes || hash_of(object) != program->object_hash)
    return broken("a shared object of " + std::to_string(object.size()) + " bytes that is not the one compiled");
  return StoredProgram{.program = std::move(program->program), .shared_object = object};
}

}  // namespace collage::native
