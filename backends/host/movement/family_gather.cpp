// Gather along one axis by computed or many indices: rows of bytes picked one by one. Plain format.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "family.h"
#include "slices/slices.h"

namespace collage::host {
namespace {

struct GatherProgram {
  std::int64_t outer = 1;      ///< elements of the axes before
  std::int64_t extent = 1;     ///< of the gathered axis
  std::int64_t row_bytes = 4;  ///< of the axes after it
  std::int64_t indices = 1;
  std::uint32_t data = 0;  ///< counts the input ports, then the constants
  std::uint32_t index = 0;
  bool wide = true;  ///< 64-bit indices
};

bool knows(const Node& node) { return is_op(node, "Gather"); }

std::optional<Refusal> objection(const Site& site) {
  if (bits_of(site.output_type(0).element) % 8 != 0)
    return Refusal{RefusalReason::kType, "elements of less than a byte"};
  if (!site.input_type(0).is_static() || !site.input_type(1).is_static())
    return Refusal{RefusalReason::kShape, "a dynamic shape"};
  return std::nullopt;
}

Variants support(const Site& site) {
  if (auto no = objection(site)) return std::unexpected(*no);
  return std::vector<Variant>{uniform_variant(site, plain(), 0)};
}

Drafted compile(const Site& site, const Variant&) {
  if (auto no = objection(site)) return std::unexpected(*no);
  const Extents extents = site.input_type(0).extents();
  const auto axis =
      static_cast<std::size_t>(from_front(attribute_or<std::int64_t>(site.node, "axis", 0), extents.size()));
  if (axis >= extents.size()) return refuse(RefusalReason::kAttribute, "axis outside the rank");
  const auto middle = extents.begin() + static_cast<std::ptrdiff_t>(axis);
  Draft draft;
  const auto source = [&](ValueId id) {
    if (const auto port = site.input_port(id)) return *port;
    draft.constants.push_back(id);
    return static_cast<std::uint32_t>(site.region.inputs.size() + draft.constants.size() - 1);
  };
  draft.program = {{"outer", element_count({extents.begin(), middle})},
                   {"extent", extents[axis]},
                   {"row_bytes", element_count({middle + 1, extents.end()}) * bits_of(site.input_type(0).element) / 8},
                   {"indices", element_count(site.input_type(1).extents())},
                   {"data", source(site.node.inputs[0])},
                   {"index", source(site.node.inputs[1])},
                   {"wide", site.input_type(1).element == ElementType::kInt64}};
  return draft;
}

class GatherCall final : public Call {
 public:
  GatherCall(const GatherProgram& program, const std::byte* data, const void* index, std::byte* out)
      : program_(program), data_(data), index_(index), out_(out) {}

  Result<void> run() override {
    if (program_.indices == 0 || program_.row_bytes == 0) return {};
    std::byte* out = out_;
    const std::byte* slab = data_;
    for (std::int64_t outer = 0; outer < program_.outer; ++outer) {
      for (std::int64_t k = 0; k < program_.indices; ++k) {
        const std::int64_t index = row(k);
        if (index < 0) return refuse_index(k);
        std::memcpy(out, slab + index * program_.row_bytes, static_cast<std::size_t>(program_.row_bytes));
        out += program_.row_bytes;
      }
      slab += program_.extent * program_.row_bytes;
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t raw(std::int64_t k) const {
    return program_.wide ? static_cast<const std::int64_t*>(index_)[k] : static_cast<const std::int32_t*>(index_)[k];
  }
  /// The row behind the k-th index; negative when it lies outside the axis.
  [[nodiscard]] std::int64_t row(std::int64_t k) const {
    const std::int64_t index = raw(k);
    const std::int64_t from_start = index < 0 ? index + program_.extent : index;
    return from_start < program_.extent ? from_start : -1;
  }
  [[nodiscard]] std::unexpected<Error> refuse_index(std::int64_t k) const {
    return fail(ExitCode::kBadInput, "host/bad-index", "Gather", fmt::format("index {}", raw(k)),
                fmt::format("{} to {}", -program_.extent, program_.extent - 1));
  }

  GatherProgram program_;
  const std::byte* data_;
  const void* index_;
  std::byte* out_;
};

class GatherKernel final : public Kernel {
 public:
  GatherKernel(const GatherProgram& program, const std::vector<Tensor>& constants) : program_(program) {
    for (const Tensor& constant : constants) constants_.push_back(constant.data.data());
  }
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    const auto source = [&](std::uint32_t k) -> const void* {
      return k < buffers.inputs.size() ? buffers.inputs[k] : constants_[k - buffers.inputs.size()];
    };
    return std::make_unique<GatherCall>(program_, static_cast<const std::byte*>(source(program_.data)),
                                        source(program_.index), static_cast<std::byte*>(buffers.outputs[0]));
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  GatherProgram program_;
  std::vector<const void*> constants_;
};

/// Bytes behind the k-th source of a request; nothing when there is none.
std::optional<std::size_t> source_bytes(const LoadRequest& request, std::uint32_t k) {
  if (k < request.inputs.size()) {
    const ValueType& type = request.inputs[k].type;
    return type.is_static() ? std::optional(byte_count(type.element, type.extents())) : std::nullopt;
  }
  const std::size_t constant = k - request.inputs.size();
  if (constant >= request.constants.size()) return std::nullopt;
  return request.constants[constant].data.size();
}

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& json, const LoadRequest& request) {
  const GatherProgram program{.outer = json.at("outer").get<std::int64_t>(),
                              .extent = json.at("extent").get<std::int64_t>(),
                              .row_bytes = json.at("row_bytes").get<std::int64_t>(),
                              .indices = json.at("indices").get<std::int64_t>(),
                              .data = json.at("data").get<std::uint32_t>(),
                              .index = json.at("index").get<std::uint32_t>(),
                              .wide = json.at("wide").get<bool>()};
  const auto is_within = [](std::int64_t a, std::int64_t b, std::int64_t c, std::optional<std::size_t> bytes) {
    const std::int64_t product = stated_size({a, b, c});
    return bytes && product >= 0 && static_cast<std::size_t>(product) <= *bytes;
  };
  const auto out_bytes =
      request.outputs.size() == 1 && request.outputs[0].type.is_static()
          ? std::optional(byte_count(request.outputs[0].type.element, request.outputs[0].type.extents()))
          : std::nullopt;
  const bool fits = is_within(program.outer, program.extent, program.row_bytes, source_bytes(request, program.data)) &&
                    is_within(program.outer, program.indices, program.row_bytes, out_bytes) &&
                    is_within(1, program.indices, program.wide ? 8 : 4, source_bytes(request, program.index));
  if (!fits)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", "a Gather outside its ports", "one inside them");
  return std::make_unique<GatherKernel>(program, request.constants);
}

}  // namespace

const Family kGather = {
    .name = "gather", .knows = knows, .support = support, .compile = compile, .load = load, .takes_chains = false};

}  // namespace collage::host
