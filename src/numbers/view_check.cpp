#include "numbers/view_check.h"

#include <algorithm>

#include "region/containment.h"

namespace collage {
namespace {

class Judge {
 public:
  Judge(const ViewPorts& view, FormatConverter& converter, int threads)
      : view_(view), converter_(converter), threads_(threads) {}

  std::optional<Refusal> run() {
    if (view_.inputs.empty() || view_.outputs.empty())
      return Refusal{RefusalReason::kStructure, "a view has inputs and outputs"};
    const std::size_t node = view_.region.nodes.next();
    if (view_.region.nodes.count() == 1)
      if (const auto parts = containment_of(view_.graph, view_.graph.nodes[node], view_.variant.output_formats.front()))
        return compare_parts(*parts);
    if (view_.outputs.size() != 1) return Refusal{RefusalReason::kStructure, "a view of everything has one output"};
    const auto in = bytes_of(view_.region.inputs.front());
    const auto out = bytes_of(view_.region.outputs.front());
    if (in && out && in->size() != out->size()) return wrong();
    return compare(in, out, 0);
  }

 private:
  std::optional<Refusal> compare_parts(const Containment& containment) {
    const auto whole = bytes_of(containment.whole);
    for (const ContainedPart& part : containment.parts) {
      const bool is_read = is_port(part.value) || view_.graph.value(part.value).constant;
      if (!is_read) continue;  // a part of a Split
      if (auto refusal = compare(whole, bytes_of(part.value), part.offset)) return refusal;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_port(ValueId id) const {
    const auto is_in = [&](const std::vector<ValueId>& list) { return std::ranges::find(list, id) != list.end(); };
    return is_in(view_.region.inputs) || is_in(view_.region.outputs);
  }

  static std::optional<Refusal> compare(const Result<Buffer>& whole, const Result<Buffer>& part, std::size_t offset) {
    if (!whole || !part) return Refusal{RefusalReason::kFormat, whole ? part.error().saw : whole.error().saw};
    const bool is_there = offset + part->size() <= whole->size() &&
                          std::ranges::equal(whole->bytes().subspan(offset, part->size()), part->bytes());
    if (is_there) return std::nullopt;
    return wrong();
  }

  static Refusal wrong() { return {RefusalReason::kWrongResult, "its output's bytes are not those of its input"}; }

  /// The bytes of a port in its format.
  Result<Buffer> bytes_of(ValueId id) {
    for (std::size_t i = 0; i < view_.region.inputs.size(); ++i)
      if (view_.region.inputs[i] == id) return formatted(view_.inputs[i], view_.variant.input_formats[i]);
    for (std::size_t i = 0; i < view_.region.outputs.size(); ++i)
      if (view_.region.outputs[i] == id) return formatted(view_.outputs[i], view_.variant.output_formats[i]);
    if (const Tensor* constant = constant_of(view_.graph, id)) return constant->data;
    return fail(ExitCode::kBug, "measure/no-such-port", view_.graph.value(id).name, "no port", "a port of the region");
  }

  Result<Buffer> formatted(const Tensor& tensor, const Format& format) {
    const ValueType type = tensor.value_type();
    COLLAGE_TRY(const std::size_t size, converter_.bytes_of(type, format));
    Result<void> converted;
    Buffer bytes = Buffer::make(size, [&](std::span<std::byte> out) {
      converted = converter_.convert(type, plain(), tensor.data.bytes(), format, out, threads_);
    });
    if (!converted) return std::unexpected(converted.error());
    return bytes;
  }

  const ViewPorts& view_;
  FormatConverter& converter_;
  int threads_;
};

}  // namespace

std::optional<Refusal> judge_view(const ViewPorts& view, FormatConverter& converter, int threads) {
  return Judge(view, converter, threads).run();
}

}  // namespace collage
