#include "python_kernel.h"

#include <algorithm>

#include "base/json.h"

namespace collage::python {
namespace {

std::unexpected<Error> failed(const std::string& instance, std::string raised) {
  return fail(ExitCode::kUnsupported, "backend/library-failed", instance, std::move(raised));
}

class PythonCall final : public Call {
 public:
  PythonCall(Bridge bridge, std::string instance, Object bound)
      : bridge_(std::move(bridge)), instance_(std::move(instance)), bound_(std::move(bound)) {}

  Result<void> run() override {
    auto ran = bridge_.run(bound_);
    if (!ran) return failed(instance_, std::move(ran).error());
    return {};
  }

 private:
  Bridge bridge_;
  std::string instance_;
  Object bound_;
};

class PythonKernel final : public Kernel {
 public:
  PythonKernel(Bridge bridge, std::string instance, Object loaded, const LoadRequest& request)
      : bridge_(std::move(bridge)),
        instance_(std::move(instance)),
        loaded_(std::move(loaded)),
        input_bytes_(bytes_of(request.inputs)),
        output_bytes_(bytes_of(request.outputs)) {}

  [[nodiscard]] Result<std::unique_ptr<Call>> bind(const Buffers& buffers) const override {
    std::vector<Memory> inputs;
    for (std::size_t i = 0; i < input_bytes_.size(); ++i)
      inputs.push_back({.data = buffers.inputs[i], .bytes = input_bytes_[i], .writable = false});
    std::vector<Memory> outputs;
    for (std::size_t i = 0; i < output_bytes_.size(); ++i)
      outputs.push_back({.data = buffers.outputs[i], .bytes = output_bytes_[i], .writable = true});
    const Argument arguments[] = {loaded_.get(), std::span<const Memory>(inputs), std::span<const Memory>(outputs)};
    auto bound = bridge_.call("bind", arguments);
    if (!bound) return failed(instance_, std::move(bound).error());
    return std::make_unique<PythonCall>(bridge_, instance_, *std::move(bound));
  }

 private:
  static std::vector<std::size_t> bytes_of(const std::vector<Port>& ports) {
    std::vector<std::size_t> bytes;
    for (const Port& port : ports) bytes.push_back(byte_count(port.type.element, port.type.extents()));
    return bytes;
  }

  Bridge bridge_;
  std::string instance_;
  Object loaded_;
  std::vector<std::size_t> input_bytes_;
  std::vector<std::size_t> output_bytes_;
};

/// The ports of the step, which the memory is of, in place of those the artifact was made for.
Json ports_json(const std::vector<Port>& ports, const Json& described) {
  Json list = Json::array();
  for (std::size_t i = 0; i < ports.size(); ++i)
    list.push_back({{"name", described.at(i).at("name")},
                    {"type", name_of(ports[i].type.element)},
                    {"shape", ports[i].type.extents()}});
  return list;
}

Json constants_json(const std::vector<Tensor>& constants, const Json& described) {
  Json list = Json::array();
  for (std::size_t i = 0; i < constants.size(); ++i)
    list.push_back(
        {{"name", described.at(i).at("name")}, {"type", name_of(constants[i].type)}, {"shape", constants[i].extents}});
  return list;
}

bool is_fit(const LoadRequest& request, const Json& region) {
  const auto fits = [](const Port& port) {
    return port.type.is_static() && has_array_type(port.type.element) && port.place.format.is_plain();
  };
  return std::ranges::all_of(request.inputs, fits) && std::ranges::all_of(request.outputs, fits) &&
         std::ranges::all_of(request.constants, [](const Tensor& one) { return has_array_type(one.type); }) &&
         region.at("inputs").size() == request.inputs.size() && region.at("outputs").size() == request.outputs.size() &&
         region.at("constants").size() == request.constants.size();
}

/// An artifact, with the ports of the step.
struct FunctionOfStep {
  std::string module;
  std::string function;
  std::string region;
};

Result<FunctionOfStep> function_of(const std::string& instance, const LoadRequest& request) {
  const auto bad = [&](const std::string&, std::string saw) {
    return fail(ExitCode::kBadInput, "backend/bad-artifact", instance, std::move(saw), "one of this backend");
  };
  COLLAGE_TRY(Json json, parse_json(request.artifact.bytes, instance));
  return read_json(
      [&] {
        Json& region = json.at("region");
        if (!is_fit(request, region)) throw JsonFault{instance, "other ports than those of the step"};
        region["inputs"] = ports_json(request.inputs, region.at("inputs"));
        region["outputs"] = ports_json(request.outputs, region.at("outputs"));
        region["constants"] = constants_json(request.constants, region.at("constants"));
        return FunctionOfStep{.module = json.at("module").get<std::string>(),
                              .function = json.at("function").get<std::string>(),
                              .region = to_line(region)};
      },
      bad);
}

}  // namespace

bool has_array_type(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
    case ElementType::kUint8:
    case ElementType::kInt8:
    case ElementType::kUint16:
    case ElementType::kInt16:
    case ElementType::kInt32:
    case ElementType::kInt64:
    case ElementType::kBool:
    case ElementType::kFloat16:
    case ElementType::kFloat64:
    case ElementType::kUint32:
    case ElementType::kUint64:
      return true;
    default:
      return false;
  }
}

Result<std::unique_ptr<Kernel>> load_function(const Bridge& bridge, const std::string& instance,
                                              const LoadRequest& request) {
  COLLAGE_TRY(const FunctionOfStep step, function_of(instance, request));
  std::vector<Memory> constants;
  for (const Tensor& constant : request.constants)
    constants.push_back({.data = constant.data.data(), .bytes = constant.data.size(), .writable = false});
  const Argument arguments[] = {std::string_view(step.module), std::string_view(step.function),
                                std::string_view(step.region), std::span<const Memory>(constants),
                                static_cast<long>(request.threads)};
  auto loaded = bridge.call("load", arguments);
  if (!loaded) return failed(instance, std::move(loaded).error());
  return std::make_unique<PythonKernel>(bridge, instance, *std::move(loaded), request);
}

}  // namespace collage::python
