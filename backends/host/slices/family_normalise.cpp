// LayerNormalization and RMSNormalization of f32 tensors over their last axes, plain format; scale and bias as
// constants or inputs with the normalised axes' elements.
#include "backend/float_ports.h"
#include "family.h"
#include "slices/slices.h"

namespace collage::host {
namespace {

bool knows(const Node& node) { return is_op(node, "LayerNormalization") || is_op(node, "RMSNormalization"); }

struct NormaliseProgram {
  Slices slices;
  bool is_layer = true;
  float epsilon = 1e-5F;
  std::uint32_t input = 0;  ///< sources count the input ports, then the constants
  std::uint32_t scale = 0;
  std::int64_t bias = -1;  ///< -1 = none
  int threads = 1;
};

std::expected<NormaliseProgram, Refusal> program_of(const Site& site, std::vector<ValueId>& constants) {
  const Node& node = site.node;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i].valid() && site.output_port(node.outputs[i]))
      return refuse(RefusalReason::kStructure, "mean or deviation that is read");
  if (attribute_or<std::int64_t>(node, "stash_type", 1) != 1)
    return refuse(RefusalReason::kAttribute, "another stash type than f32");
  const Extents extents = site.input_type(0).extents();
  const std::int64_t axis = from_front(attribute_or<std::int64_t>(node, "axis", -1), extents.size());
  if (axis < 0 || axis >= static_cast<std::int64_t>(extents.size()))
    return refuse(RefusalReason::kAttribute, "axis outside the rank");
  NormaliseProgram program;
  const auto first = extents.begin() + axis;
  program.slices = {element_count({extents.begin(), first}), element_count({first, extents.end()}), 1};
  program.is_layer = node.op_type == "LayerNormalization";
  program.epsilon = attribute_or<float>(node, "epsilon", 1e-5F);
  const auto source = [&](ValueId id) {
    if (const auto port = site.input_port(id)) return *port;
    constants.push_back(id);
    return static_cast<std::uint32_t>(site.region.inputs.size() + constants.size() - 1);
  };
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    if (site.input_type(i).element != ElementType::kFloat32) return refuse(RefusalReason::kType, "no f32");
    if (!site.input_type(i).is_static()) return refuse(RefusalReason::kShape, "a dynamic shape");
    const std::int64_t elements = element_count(site.input_type(i).extents());
    if (i > 0 && elements != program.slices.length)
      return refuse(RefusalReason::kShape, "a scale or bias of other size");
  }
  if (!input_of(node, 1).valid()) return refuse(RefusalReason::kStructure, "no scale");
  program.input = source(node.inputs[0]);
  program.scale = source(node.inputs[1]);
  if (input_of(node, 2).valid()) program.bias = source(node.inputs[2]);
  return program;
}

Variants support(const Site& site) {
  std::vector<ValueId> ignored;
  if (auto program = program_of(site, ignored); !program) return std::unexpected(program.error());
  return std::vector<Variant>{uniform_variant(site, plain(), 0)};
}

Drafted compile(const Site& site, const Variant&) {
  Draft draft;
  const auto program = program_of(site, draft.constants);
  if (!program) return std::unexpected(program.error());
  draft.program = {{"outer", program->slices.outer}, {"length", program->slices.length}, {"layer", program->is_layer},
                   {"epsilon", program->epsilon},    {"input", program->input},          {"scale", program->scale},
                   {"bias", program->bias}};
  // Each row is read as a whole before it is written.
  if (program->input < site.region.inputs.size()) draft.in_place = {{0, program->input}};
  return draft;
}

class NormaliseCall final : public Call {
 public:
  NormaliseCall(const NormaliseProgram& program, const SliceLoops& loops, ThreadPool* pool, const float* in, float* out,
                const float* scale, const float* bias)
      : program_(program), loops_(loops), pool_(pool), in_(in), out_(out), scale_(scale), bias_(bias) {}
  Result<void> run() override {
    in_outer_ranges(pool_, program_.threads, program_.slices, [this](const Slices& part, std::int64_t first, int) {
      const std::int64_t offset = first * program_.slices.length;
      if (program_.is_layer) {
        loops_.layer_norm(part, in_ + offset, out_ + offset, scale_, bias_, program_.epsilon);
      } else {
        loops_.rms_norm(part, in_ + offset, out_ + offset, scale_, program_.epsilon);
      }
    });
    return {};
  }

 private:
  NormaliseProgram program_;
  SliceLoops loops_;
  ThreadPool* pool_;
  const float* in_;
  float* out_;
  const float* scale_;
  const float* bias_;
};

class NormaliseKernel final : public Kernel {
 public:
  NormaliseKernel(const NormaliseProgram& program, const std::vector<Tensor>& constants) : program_(program) {
    for (const Tensor& constant : constants) constants_.push_back(constant.data.data());
  }
  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    const auto source = [&](std::uint32_t k) {
      const void* data = k < buffers.inputs.size() ? buffers.inputs[k] : constants_[k - buffers.inputs.size()];
      return static_cast<const float*>(data);
    };
    return std::make_unique<NormaliseCall>(
        program_, slice_loops(), buffers.pool, source(program_.input), static_cast<float*>(buffers.outputs[0]),
        source(program_.scale), program_.bias < 0 ? nullptr : source(static_cast<std::uint32_t>(program_.bias)));
  }
  [[nodiscard]] std::optional<ConstantBytes> packed_constants() const override { return ConstantBytes(); }

 private:
  NormaliseProgram program_;
  std::vector<const void*> constants_;
};

Result<std::unique_ptr<Kernel>> load(const nlohmann::json& json, const LoadRequest& request) {
  NormaliseProgram program;
  program.slices = {json.at("outer").get<std::int64_t>(), json.at("length").get<std::int64_t>(), 1};
  program.is_layer = json.at("layer").get<bool>();
  program.epsilon = json.at("epsilon").get<float>();
  program.input = json.at("input").get<std::uint32_t>();
  program.scale = json.at("scale").get<std::uint32_t>();
  program.bias = json.at("bias").get<std::int64_t>();
  program.threads = request.threads;
  const auto elements = [&](std::int64_t k) { return floats_in(request, static_cast<std::uint64_t>(k)); };
  const std::int64_t all = stated_size({program.slices.outer, program.slices.length});
  const bool fits = all >= 0 && elements(program.input) == all && elements(program.scale) == program.slices.length &&
                    (program.bias < 0 || elements(program.bias) == program.slices.length) &&
                    request.outputs.size() == 1 && floats_in(request.outputs[0]) == all;
  if (!fits)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "host", "a normalisation outside its ports",
                "one inside them");
  return std::make_unique<NormaliseKernel>(program, request.constants);
}

}  // namespace

const Family kNormalise = {
    .name = "normalise", .knows = knows, .support = support, .compile = compile, .load = load, .takes_chains = false};

}  // namespace collage::host
