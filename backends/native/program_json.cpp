
#include "backend/backend.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_numbers.h"
#include "kernel_set_json.h"
#include "program.h"

namespace collage::native {
namespace {

using nlohmann::json;

std::uint64_t hash_of(std::string_view bytes) { return hash_bytes(bytes.data(), bytes.size(), 0); }

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

json to_json(const Code& code) {
  return {{"instruction_set", code.instruction_set},
          {"serial_bytes", code.serial_bytes},
          {"per_thread_bytes", code.per_thread_bytes}};
}

Code code_of(const json& from) {
  return {.instruction_set = from.at("instruction_set").get<std::string>(),
          .serial_bytes = from.at("serial_bytes").get<std::size_t>(),
          .per_thread_bytes = from.at("per_thread_bytes").get<std::size_t>()};
}

/// All but the codes.
json to_json(const Program& program) {
  json text = {{"symbol", program.symbol},
               {"threads", program.threads},
               {"library", program.library},
               {"arguments", json::array()},
               {"constants", json::array()}};
  for (const Argument& argument : program.arguments) text["arguments"].push_back(native::to_json(argument));
  for (const ConstantPart& part : program.constants) text["constants"].push_back(to_json(part));
  if (program.set) text["set"] = native::to_json(*program.set);
  return text;
}

Program program_from(const json& from) {
  Program program{.symbol = from.at("symbol").get<std::string>(),
                  .threads = from.at("threads").get<int>(),
                  .library = from.at("library").get<std::string>()};
  for (const json& argument : from.at("arguments")) program.arguments.push_back(argument_of(argument));
  for (const json& part : from.at("constants")) program.constants.push_back(constant_of(part));
  for (const json& code : from.at("codes")) program.codes.push_back(code_of(code));
  if (from.contains("set")) program.set = kernel_set_of(from["set"]);
  if (program.set)
    if (const std::string fault = fault_of(*program.set); !fault.empty()) throw std::runtime_error(fault);
  return program;
}

/// How an artifact's text refers to the ELF files behind it, in their order.
json print_of(std::string_view file) { return {{"bytes", file.size()}, {"hash", hash_of(file)}}; }

/// The same for a code's files, which become the next of `files`.
json print_of(const CodeBytes& code, std::vector<std::string_view>& files) {
  json print = print_of(code.shared_object);
  files.push_back(code.shared_object);
  for (const std::string_view object : code.objects) {
    print["objects"].push_back(print_of(object));
    files.push_back(object);
  }
  return print;
}

/// Takes the files behind an artifact's text one after the other. The dynamic loader trusts what it maps: bytes that
/// are not the ones that were written must not reach it.
class Files {
 public:
  explicit Files(std::string_view bytes) : left_(bytes) {}
  std::string_view take(const json& print) {
    const auto size = print.at("bytes").get<std::size_t>();
    const std::string_view file = left_.substr(0, size);
    if (file.size() != size || hash_of(file) != print.at("hash").get<std::uint64_t>())
      throw std::runtime_error("machine code of " + std::to_string(file.size()) + " bytes, not what was compiled");
    left_.remove_prefix(size);
    return file;
  }
  CodeBytes take_code(const json& print) {
    CodeBytes code{.shared_object = take(print), .objects = {}};
    if (const auto objects = print.find("objects"); objects != print.end())
      for (const json& object : *objects) code.objects.push_back(take(object));
    return code;
  }
  void end() const {
    if (!left_.empty()) throw std::runtime_error(std::to_string(left_.size()) + " bytes after the machine code");
  }

 private:
  std::string_view left_;
};

std::string artifact_bytes(const json& text, std::span<const std::string_view> files) {
  std::string bytes = with_length(text.dump());
  for (const std::string_view file : files) bytes += file;
  return bytes;
}

/// What `read` makes of an artifact's text and the files behind it.
template <class Read>
auto parsed(std::string_view bytes, Read&& read) -> Result<decltype(read(json(), std::declval<Files&>()))> {
  COLLAGE_TRY(const std::string_view text, text_of(bytes));
  auto made = guard([&] {
    Files files(bytes.substr(sizeof(std::uint64_t) + text.size()));
    auto result = read(parsed_json(text), files);
    files.end();
    return result;
  });
  if (!made) return broken_artifact(made.error());
  return *std::move(made);
}

}  // namespace

std::string to_bytes(const Program& program, std::span<const CodeBytes> codes) {
  COLLAGE_CHECK(program.codes.size() == codes.size(), "machine code for each code");
  json text = to_json(program);
  text["codes"] = json::array();
  std::vector<std::string_view> files;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    json code = to_json(program.codes[i]);
    code.update(print_of(codes[i], files));
    text["codes"].push_back(std::move(code));
  }
  return artifact_bytes(text, files);
}

std::string unit_to_bytes(const Programs& programs, std::span<const CodeBytes> codes) {
  json text = {{"kernels", json::object()}, {"objects", json::array()}};
  for (const auto& [entry, program] : programs) {
    COLLAGE_CHECK(program.codes.size() == codes.size(), "machine code for each code");
    json& kernel = text["kernels"][entry] = to_json(program);
    for (const Code& code : program.codes) kernel["codes"].push_back(to_json(code));
  }
  std::vector<std::string_view> files;
  for (const CodeBytes& code : codes) text["objects"].push_back(print_of(code, files));
  return artifact_bytes(text, files);
}

Result<StoredProgram> program_of(std::string_view bytes) {
  return parsed(bytes, [](const json& text, Files& files) {
    StoredProgram stored{.program = program_from(text), .codes = {}};
    for (const json& code : text.at("codes")) stored.codes.push_back(files.take_code(code));
    return stored;
  });
}

Result<StoredUnit> unit_of(std::string_view bytes) {
  return parsed(bytes, [](const json& text, Files& files) {
    StoredUnit unit;
    for (const json& code : text.at("objects")) unit.codes.push_back(files.take_code(code));
    for (const auto& [entry, kernel] : text.at("kernels").items()) {
      const Program& program = unit.programs.emplace(entry, program_from(kernel)).first->second;
      if (program.codes.size() != unit.codes.size()) throw std::runtime_error("codes without machine code");
    }
    return unit;
  });
}

}  // namespace collage::native
