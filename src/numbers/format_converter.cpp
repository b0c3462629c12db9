#include "numbers/format_converter.h"

#include <cstring>

#include "backend/extensions/format_extension.h"

namespace collage {
namespace {

std::unexpected<Error> unknown_format(const ValueType& type, const Format& format, std::string saw) {
  return fail(ExitCode::kUnsupported, "format/unknown", to_string(type) + " as " + format.name, std::move(saw),
              "a format of the type");
}

std::string failed_text(const std::string& message) { return "an exception: " + message; }

}  // namespace

Result<Backend*> FormatConverter::owner_of(const Format& format) { return registry_.get(format.owner()); }

Result<std::size_t> FormatConverter::bytes_of(const ValueType& type, const Format& format) {
  if (!type.is_static()) return unknown_format(type, format, "open extents");
  if (is_common(format)) {
    if (const auto bytes = common_format_bytes(type, format)) return *bytes;
    return unknown_format(type, format, "a type without channels, or narrow elements of another type than f32");
  }
  COLLAGE_TRY(const Backend* owner, owner_of(format));
  const auto bytes = guard([&] { return format_bytes(*owner, type, format); });
  if (!bytes) return unknown_format(type, format, failed_text(bytes.error()));
  if (!*bytes) return unknown_format(type, format, "a format its owner does not take");
  return **bytes;
}

Result<const FormatConverter::Loaded*> FormatConverter::kernel_for(const Conversion& conversion, int threads) {
  const Format& from = conversion.from.format;
  const Format& to = conversion.to.format;
  const std::string key = to_string(conversion.type) + ' ' + from.name + ' ' + to.name + ' ' + std::to_string(threads);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return &found->second;
  COLLAGE_TRY(Backend * owner, owner_of(from.is_plain() ? to : from));
  if (owner->info().location != kHome) return unknown_format(conversion.type, to, "a format of memory elsewhere");
  auto made = guard([&]() -> Result<Loaded> {
    auto artifact = compile_conversion(*owner, conversion, {.threads = threads, .accuracy = Accuracy::kStrict});
    if (!artifact) return unknown_format(conversion.type, to, artifact.error().detail);
    LoadRequest request{.artifact = *artifact, .threads = threads};
    request.inputs.push_back({.name = "in", .type = conversion.type, .place = conversion.from});
    request.outputs.push_back({.name = "out", .type = conversion.type, .place = conversion.to});
    COLLAGE_TRY(std::unique_ptr<Kernel> kernel, owner->load(request));
    return Loaded{.kernel = std::move(kernel), .workspace_bytes = artifact->workspace_bytes};
  });
  if (!made) return unknown_format(conversion.type, to, failed_text(made.error()));
  if (!*made) return std::unexpected(made->error());
  return &kernels_.emplace(key, std::move(**made)).first->second;
}

Result<void> FormatConverter::convert(const ValueType& type, const Format& from, std::span<const std::byte> in,
                                      const Format& to, std::span<std::byte> out, int threads) {
  COLLAGE_CHECK(from.is_plain() || to.is_plain(), "a conversion between two formats that are not plain");
  if (from == to) {
    if (!in.empty()) std::memcpy(out.data(), in.data(), in.size());
    return {};
  }
  if (from.owner().empty() && to.owner().empty()) {
    for (const Format& format : {from, to})
      if (!can_have_common_format(type, format)) return unknown_format(type, format, "a type that cannot have it");
    convert_common_format(type, from, in.data(), to, out.data());
    return {};
  }
  COLLAGE_TRY(const Loaded* loaded,
              kernel_for({.type = type, .from = {.format = from}, .to = {.format = to}}, threads));
  Result<void> outcome;
  const Buffer workspace = Buffer::make(loaded->workspace_bytes, [&](std::span<std::byte> scratch) {
    const Buffers buffers{.inputs = {in.data()}, .outputs = {out.data()}, .workspace = scratch.data()};
    const auto ran = guard([&]() -> Result<void> {
      COLLAGE_TRY(const std::unique_ptr<Call> call, loaded->kernel->bind(buffers));
      return call->run();
    });
    outcome = ran ? *ran : Result<void>(unknown_format(type, to, failed_text(ran.error())));
  });
  return outcome;
}

}  // namespace collage
