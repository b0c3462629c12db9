#include "backends/tvm/program.h"

#include <algorithm>
#include <array>

#include "backends/common/engine/engine_artifact.h"
#include "base/hash.h"

namespace collage::tvm {
namespace {

constexpr std::array<std::pair<std::string_view, Home>, 5> kHomes = {{{"input", Home::kInput},
                                                                      {"output", Home::kOutput},
                                                                      {"constant", Home::kConstant},
                                                                      {"prepared", Home::kPrepared},
                                                                      {"scratch", Home::kScratch}}};

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40;

std::string_view name_of(Home home) {
  for (const auto& [name, one] : kHomes)
    if (one == home) return name;
  return {};
}

Home home_named(const std::string& name) {
  for (const auto& [known, home] : kHomes)
    if (known == name) return home;
  throw JsonFault{"a tensor", "a place named " + name};
}

Json to_json(const std::vector<KernelCall>& calls) {
  Json list = Json::array();
  for (const KernelCall& call : calls) {
    Json arguments = Json::array();
    for (const Argument& one : call.arguments)
      arguments.push_back({{"at", Json::array({name_of(one.home), one.at})}, {"extents", one.extents}});
    list.push_back({{"kernel", call.kernel}, {"arguments", std::move(arguments)}});
  }
  return list;
}

std::vector<KernelCall> calls_from(const Json& list) {
  std::vector<KernelCall> calls;
  for (const Json& one : list) {
    KernelCall call{.kernel = one.at("kernel").get<std::string>(), .arguments = {}};
    for (const Json& argument : one.at("arguments"))
      call.arguments.push_back({.home = home_named(argument.at("at").at(0).get<std::string>()),
                                .at = argument.at("at").at(1).get<std::uint64_t>(),
                                .extents = argument.at("extents").get<Extents>()});
    calls.push_back(std::move(call));
  }
  return calls;
}

Json to_json(const std::vector<ConstantRead>& constants) {
  Json list = Json::array();
  for (const ConstantRead& one : constants)
    list.push_back({{"index", one.index}, {"extents", one.extents}, {"steps", one.steps}});
  return list;
}

std::vector<ConstantRead> constants_from(const Json& list) {
  std::vector<ConstantRead> constants;
  for (const Json& one : list)
    constants.push_back({.index = one.at("index").get<std::uint32_t>(),
                         .extents = one.at("extents").get<Extents>(),
                         .steps = one.at("steps").get<Extents>()});
  return constants;
}

/// Where a tensor lies is checked with the ports, when they are known; here what the program itself says.
bool is_inside(const Program& program, const Argument& argument) {
  const auto bytes = bytes_of(argument.extents);
  if (!bytes || argument.at > kMostBytes) return false;
  switch (argument.home) {
    case Home::kInput:
    case Home::kOutput:
      return true;
    case Home::kConstant:
      return argument.at < program.constants.size() && bytes == bytes_of(program.constants[argument.at].extents);
    case Home::kPrepared:
      return argument.at < program.prepared_bytes.size() && bytes == program.prepared_bytes[argument.at];
    case Home::kScratch:
      return argument.at % 64 == 0 && argument.at + *bytes <= program.scratch_bytes;
  }
  return false;
}

Result<void> check(const Program& program) {
  for (const ConstantRead& constant : program.constants)
    if (constant.steps.size() != constant.extents.size() || !bytes_of(constant.extents))
      return bad_artifact("a constant of other form");
  for (const std::uint64_t bytes : program.prepared_bytes)
    if (bytes > kMostBytes) return bad_artifact("a constant of too many bytes");
  if (program.scratch_bytes > kMostBytes) return bad_artifact("scratch of too many bytes");
  for (const auto* calls : {&program.prepare, &program.calls})
    for (const KernelCall& call : *calls)
      for (const Argument& argument : call.arguments) {
        const bool needs_run = argument.home != Home::kConstant && argument.home != Home::kPrepared;
        if ((calls == &program.prepare && needs_run) || !is_inside(program, argument))
          return bad_artifact("a tensor outside of its place");
      }
  return {};
}

}  // namespace

std::unexpected<Error> bad_artifact(std::string saw) {
  return fail(ExitCode::kBadInput, "backend/bad-artifact", "tvm", std::move(saw), "kernels of this backend");
}

std::optional<std::uint64_t> bytes_of(const Extents& extents) {
  std::uint64_t bytes = sizeof(float);
  for (const std::int64_t extent : extents) {
    if (extent < 1 || static_cast<std::uint64_t>(extent) > kMostBytes / bytes) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(extent);
  }
  return bytes;
}

Result<Program> program_of(const Json& plan, std::vector<ConstantRead> constants, int threads) {
  const auto refuse = [](const std::string&, std::string saw) { return bad_artifact(std::move(saw)); };
  COLLAGE_TRY(Program program, read_json(
                                   [&] {
                                     return Program{
                                         .constants = std::move(constants),
                                         .prepare = calls_from(plan.at("prepare")),
                                         .prepared_bytes = plan.at("prepared").get<std::vector<std::uint64_t>>(),
                                         .calls = calls_from(plan.at("calls")),
                                         .scratch_bytes = plan.at("scratch").get<std::uint64_t>(),
                                         .is_prepared = false,
                                         .threads = threads};
                                   },
                                   refuse));
  COLLAGE_TRY_VOID(check(program));
  return program;
}

std::string to_bytes(const Program& program, std::string_view object) {
  const Json json = {{"constants", to_json(program.constants)},
                     {"prepare", to_json(program.prepare)},
                     {"prepared", program.prepared_bytes},
                     {"calls", to_json(program.calls)},
                     {"scratch", program.scratch_bytes},
                     {"is_prepared", program.is_prepared},
                     {"threads", program.threads},
                     {"object", hash_hex(object)}};
  return pack_artifact({.fields = {{"program", to_line(json)}}, .payload = object});
}

Result<StoredProgram> parse_program(std::string_view bytes) {
  COLLAGE_TRY(const EngineArtifact artifact, unpack_artifact(bytes, "tvm"));
  const auto json = parse_json(field_or_empty(artifact, "program"), "tvm");
  if (!json) return bad_artifact("bytes that hold no program");
  const auto refuse = [](const std::string&, std::string saw) { return bad_artifact(std::move(saw)); };
  // The dynamic loader trusts what it maps.
  COLLAGE_TRY(const std::string hash, read_json([&] { return json->at("object").get<std::string>(); }, refuse));
  if (hash != hash_hex(artifact.payload)) return bad_artifact("a damaged shared object");
  COLLAGE_TRY(Program program, read_json(
                                   [&] {
                                     return Program{
                                         .constants = constants_from(json->at("constants")),
                                         .prepare = calls_from(json->at("prepare")),
                                         .prepared_bytes = json->at("prepared").get<std::vector<std::uint64_t>>(),
                                         .calls = calls_from(json->at("calls")),
                                         .scratch_bytes = json->at("scratch").get<std::uint64_t>(),
                                         .is_prepared = json->at("is_prepared").get<bool>(),
                                         .threads = json->at("threads").get<int>()};
                                   },
                                   refuse));
  if (program.threads < 1) return bad_artifact("a program for no threads");
  COLLAGE_TRY_VOID(check(program));
  return StoredProgram{.program = std::move(program), .object = artifact.payload};
}

}  // namespace collage::tvm
