// The family of operators that only move elements: which node is which program, in which formats, and when it is a
// view.
#include <algorithm>
#include <array>

#include "movement/move.h"
#include "region/containment.h"

namespace collage::host {
namespace {

/// Which pairs of input and output formats an operator is tried in.
enum class Formats : std::uint8_t { kUniform, kFree };

struct Operator {
  std::string_view name;
  Programmed (*program)(const MoveSite& at);
  Formats formats = Formats::kUniform;
};

constexpr std::array kOperators = {
    Operator{"Transpose", move_transpose, Formats::kFree},
    Operator{"Reshape", move_reshape, Formats::kFree},
    Operator{"Flatten", move_reshape, Formats::kFree},
    Operator{"Squeeze", move_reshape, Formats::kFree},
    Operator{"Unsqueeze", move_reshape, Formats::kFree},
    Operator{"Identity", move_reshape, Formats::kFree},
    Operator{"Dropout", move_reshape, Formats::kFree},
    Operator{"Cast", move_reshape, Formats::kFree},
    Operator{"Concat", move_concat},
    Operator{"Split", move_split},
    Operator{"Slice", move_slice},
    Operator{"Gather", move_gather},
    Operator{"Expand", move_expand},
    Operator{"Tile", move_tile},
    Operator{"Resize", move_resize},
    Operator{"Pad", move_pad},
    Operator{"DepthToSpace", move_depth_to_space},
    Operator{"SpaceToDepth", move_space_to_depth},
};

const Operator* operator_of(const Node& node) {
  if (!node.domain.empty()) return nullptr;
  const auto found = std::ranges::find(kOperators, std::string_view(node.op_type), &Operator::name);
  return found == kOperators.end() ? nullptr : &*found;
}

bool knows(const Node& node) { return operator_of(node) != nullptr; }

/// What the name of the operator alone does not tell.
std::optional<Refusal> objection(const Site& site) {
  const Node& node = site.node;
  if (node.op_type == "Cast" && site.input_type(0).element != site.output_type(0).element)
    return Refusal{RefusalReason::kOperator, "a Cast that changes the type"};
  if (node.op_type == "Dropout") {
    const auto training = site.integers(2);
    if (input_of(node, 2).valid() && (!training || training->size() != 1 || training->front() != 0))
      return Refusal{RefusalReason::kAttribute, "Dropout in training"};
    if (node.outputs.size() > 1 && node.outputs[1].valid() && site.output_port(node.outputs[1]))
      return Refusal{RefusalReason::kStructure, "a Dropout mask that is read"};
  }
  if (!site.input_port(node.inputs[0]) && node.op_type != "Concat")
    return Refusal{RefusalReason::kStructure, "constant data"};
  for (const ValueId id : site.region.inputs)
    if (bits_of(site.type(id).element) % 8 != 0) return Refusal{RefusalReason::kType, "elements of less than a byte"};
  return std::nullopt;
}

/// A program over narrow ports: what it writes besides them must be narrow, too.
std::optional<Refusal> narrow_parts(const Site& site, CopyProgram& program) {
  for (Block& block : program.blocks) {
    if (block.fill.empty() && block.input >= site.region.inputs.size())
      return Refusal{RefusalReason::kFormat, "a constant among narrow values"};
    if (std::ranges::any_of(block.fill, [](std::uint8_t byte) { return byte != 0; }))
      return Refusal{RefusalReason::kFormat, "narrow values filled up with other numbers than 0"};
    if (!block.fill.empty()) block.fill.resize(static_cast<std::size_t>(program.element_bytes));
  }
  return std::nullopt;
}

Programmed program_of(const Site& site, const Variant& variant) {
  Programmed program = operator_of(site.node)->program(MoveSite{site, variant});
  if (!program) return program;
  const ElementType full = site.type(site.region.outputs.front()).element;
  const ElementType stored = stored_element(site.type(site.region.outputs.front()), variant.output_formats.front());
  program->element_bytes = bits_of(stored) / 8;
  for (std::size_t i = 0; i < site.region.inputs.size(); ++i) {
    const ValueType& type = site.type(site.region.inputs[i]);
    if (type.element == full && stored_element(type, variant.input_formats[i]) != stored)
      return refuse(RefusalReason::kFormat, "ports of different elements");
  }
  if (stored != full)
    if (auto no = narrow_parts(site, *program)) return std::unexpected(*no);
  for (Block& block : program->blocks) block = normalised(std::move(block));
  std::erase_if(program->blocks, [](const Block& block) { return !block.axes.empty() && block.axes[0].extent == 0; });
  return program;
}

std::vector<Variant> format_choices(const Site& site, Formats formats) {
  if (formats == Formats::kUniform) return uniform_variants(site);
  std::vector<Variant> choices;
  const std::uint32_t data = *site.input_port(site.node.inputs[0]);
  for (const Format& from : {plain(), channels_last()}) {
    for (const Format& to : {plain(), channels_last()}) {
      if (!from.is_plain() && !can_be_channels_last(site.input_type(0))) continue;
      if (!to.is_plain() && !can_be_channels_last(site.output_type(0))) continue;
      Variant choice = uniform_variant(site, plain(), 0);
      choice.input_formats[data] = from;
      choice.output_formats.front() = to;
      choices.push_back(std::move(choice));
    }
  }
  return choices;
}

/// Whether the parts of a Concat, Split or Slice lie at their places in the whole with nothing to copy.
bool shares_parts(const Site& site, const Variant& variant) {
  const auto containment = containment_of(site.graph, site.node, variant.output_formats.front());
  return containment && can_lie_in_place(site.graph, site.node, *containment);
}

Variants support(const Site& site) {
  if (auto no = objection(site)) return std::unexpected(*no);
  const Operator& op = *operator_of(site.node);
  std::vector<Variant> variants;
  std::optional<Refusal> first_refusal;
  for (Variant& choice : format_choices(site, op.formats)) {
    const Programmed program = program_of(site, choice);
    if (!program) {
      if (!first_refusal) first_refusal = program.error();
      continue;
    }
    const auto data = site.input_port(site.node.inputs[0]);
    const std::int64_t elements = element_count(site.output_type(0).extents());
    const bool is_whole = element_count(site.input_type(0).extents()) == elements;
    const bool shows_input = is_whole && site.region.outputs.size() == 1 && data && is_view(*program, *data, elements);
    choice.name = shows_input || shares_parts(site, choice) ? "view" : "copy";
    variants.push_back(std::move(choice));
  }
  if (variants.empty()) return std::unexpected(*first_refusal);
  return variants;
}

/// Leaves in the program only the constants it reads and lists them.
std::vector<ValueId> renumber_constants(CopyProgram& program, const Region& region) {
  std::vector<ValueId> used;
  const std::size_t ports = region.inputs.size();
  for (Block& block : program.blocks) {
    if (!block.fill.empty() || block.input < ports) continue;
    const ValueId constant = region.constants[block.input - ports];
    const auto found = std::ranges::find(used, constant);
    block.input = static_cast<std::uint32_t>(ports + static_cast<std::size_t>(found - used.begin()));
    if (found == used.end()) used.push_back(constant);
  }
  return used;
}

Drafted compile(const Site& site, const Variant& variant) {
  if (auto no = objection(site)) return std::unexpected(*no);
  Programmed program = program_of(site, variant);
  if (!program) return std::unexpected(program.error());
  std::vector<ValueId> constants = renumber_constants(*program, site.region);
  return Draft{.program = to_json(*program), .constants = std::move(constants)};
}

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& program, const LoadRequest& request) {
  return load_copy(copy_program_of(program), request);
}

}  // namespace

const Family kMovement = {.name = "movement",
                          .knows = knows,
                          .support = support,
                          .compile = compile,
                          .load = load,
                          .takes_chains = false,
                          .takes_narrow = true};

Strides MoveSite::in_strides(std::size_t i) const {
  const std::optional<std::uint32_t> port = site.input_port(node().inputs[i]);
  return strides_of(in_extents(i), port ? variant.input_formats[*port] : plain());
}

Strides MoveSite::out_strides(std::size_t i) const {
  return strides_of(out_extents(i), variant.output_formats[out_port(i)]);
}

std::uint32_t MoveSite::in_port(std::size_t i) const {
  if (const auto port = site.input_port(node().inputs[i])) return *port;
  const auto& constants = site.region.constants;
  const auto found = std::ranges::find(constants, node().inputs[i]);
  COLLAGE_CHECK(found != constants.end(), "an input that is neither computed nor constant");
  return static_cast<std::uint32_t>(site.region.inputs.size() + static_cast<std::size_t>(found - constants.begin()));
}

}  // namespace collage::host
