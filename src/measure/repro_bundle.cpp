#include "measure/repro_bundle.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "backend/roles.h"
#include "base/file.h"
#include "ir/check_value.h"
#include "ir/fits_shape.h"
#include "measure/jobs.h"
#include "onnx/export.h"
#include "onnx/files/value_file.h"
#include "onnx/import.h"

namespace collage {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostTextBytes = 4 << 20;
constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{2} << 30;
constexpr std::size_t kMostPorts = 100'000;

// ---- writing
// ---------------------------------------------------------------------------------------------------------

/// Writes an array in the first form that holds its type exactly; its entry of repro.json.
Result<Json> write_array(const std::string& folder, const std::string& stem, const std::string& name,
                         const Tensor& tensor) {
  // NumPy has no 16-bit brain floats, and nothing smaller than a byte.
  const bool is_numpy =
      tensor.type != ElementType::kBfloat16 && bits_of(tensor.type) >= 8 && !name_of(tensor.type).starts_with("f8");
  const std::string file = stem + (is_numpy ? ".npy" : ".pb");
  const std::string path = folder + "/" + file;
  COLLAGE_TRY_VOID(write_value(path, tensor));
  const std::string type = tensor.container ? to_string(*tensor.container) : std::string(name_of(tensor.type));
  return Json{{"name", name}, {"file", file}, {"type", type}, {"shape", tensor.extents}};
}

Result<Json> write_arrays(const std::string& folder, const std::string& kind, const Graph& graph,
                          const std::vector<ValueId>& values, const std::vector<Tensor>& tensors) {
  Json list = Json::array();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    COLLAGE_TRY(Json entry,
                write_array(folder, fmt::format("{}_{}", kind, i), graph.value(values[i]).name, tensors[i]));
    list.push_back(std::move(entry));
  }
  return list;
}

std::string command_for(const std::string& path) { return "collage repro '" + path + "'"; }

double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

Json description(const ReproBundle& bundle, const std::string& final_path) {
  return {{"schema", kReproSchema},
          {"command", command_for(final_path)},
          {"backend",
           {{"name", bundle.backend}, {"kind", bundle.kind}, {"version", bundle.version}, {"build", bundle.build}}},
          {"variant", to_json(bundle.variant)},
          {"labels", to_json(bundle.labels)},
          {"conversion", to_json(bundle.conversion)},
          {"options", {{"threads", bundle.options.threads}, {"accuracy", name_of(bundle.options.accuracy)}}},
          {"seed", bundle.seed},
          {"displaced_bytes", bundle.displaced_bytes},
          {"limits", {{"compile_s", seconds(bundle.compile_limit)}, {"run_s", seconds(bundle.run_limit)}}},
          {"failure",
           {{"stage", bundle.stage}, {"reason", name_of(bundle.refusal.reason)}, {"detail", bundle.refusal.detail}}},
          {"machine", bundle.machine},
          {"versions", {{"collage", COLLAGE_VERSION}, {"onnx_opset", 26}}},
          {"inputs", Json::array()},
          {"outputs", Json::array()}};
}

std::string read_me(const ReproBundle& bundle, const std::string& final_path) {
  const std::string what = bundle.conversion ? "a conversion between memory formats"
                                             : fmt::format("the {} nodes of region.onnx", bundle.graph.nodes.size());
  return fmt::format(
      "{} {} (build {}) failed on {}.\n\n"
      "stage   {}\nreason  {}\ndetail  {}\n\n"
      "Replay it:\n    {}\n"
      "on another library:\n    {} --backends {}\n\n"
      "region.onnx is plain ONNX. input_*.npy are inputs it met, output_*.npy what the unoptimised reference gave for\n"
      "them (.pb: a serialised TensorProto, for types that NumPy lacks). repro.json has everything else.\n"
      "The files hold weights and data of the model they come from.\n",
      bundle.backend, bundle.version, bundle.build, what, bundle.stage.empty() ? "not known" : bundle.stage,
      name_of(bundle.refusal.reason), bundle.refusal.detail, command_for(final_path), command_for(final_path),
      kReferenceEngine);
}

// ---- reading
// ---------------------------------------------------------------------------------------------------------

std::unexpected<Error> damaged(const std::string& where, std::string saw) {
  return fail(ExitCode::kBadInput, "repro/damaged", where, std::move(saw), "a folder that a tune wrote");
}

/// A plain file of bounded size right in the folder: no link that leads elsewhere, no pipe that never ends.
Result<std::string> file_in(const std::string& folder, const std::string& name, std::uintmax_t most_bytes) {
  const std::string path = folder + "/" + name;
  const bool is_plain = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
                        name.find('\0') == std::string::npos;
  if (!is_plain) return damaged(folder, "file name " + name.substr(0, 80));
  std::error_code error;
  if (fs::symlink_status(path, error).type() != fs::file_type::regular) return damaged(path, "no regular file");
  const std::uintmax_t size = fs::file_size(path, error);
  if (error || size > most_bytes) return damaged(path, error ? error.message() : fmt::format("{} bytes", size));
  return path;
}

/// Static, and small enough to be made.
bool is_reasonable(const ValueType& type) {
  if (!type.is_static()) return false;
  std::uintmax_t bytes = 16;  // of the largest element
  for (const std::int64_t extent : type.extents())
    if (__builtin_mul_overflow(bytes, static_cast<std::uintmax_t>(extent), &bytes)) return false;
  return bytes <= kMostFileBytes;
}

/// An instance's name goes into a module's file name.
bool is_instance_name(const std::string& name) {
  const std::string kind = name.substr(0, name.find(':'));
  return !kind.empty() && name.size() < 1000 &&
         std::ranges::all_of(kind, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
}

Result<Tensor> read_array(const std::string& folder, const Json& entry, const Graph& graph, ValueId id) {
  const auto name = entry.at("name").get<std::string>();
  const auto file = entry.at("file").get<std::string>();
  if (name != graph.value(id).name) return damaged(folder, "array " + name + " for value " + graph.value(id).name);
  COLLAGE_TRY(const std::string path, file_in(folder, file, kMostFileBytes));
  const ValueType& type = graph.value(id).type;
  auto tensor = read_value(path, type);
  if (!tensor) return damaged(path, tensor.error().saw);
  const bool fits = type.is_static() ? tensor->value_type() == type
                    : type.is_held() ? check_value(path, type, *tensor).has_value()
                                     : tensor->type == type.element && fits_shape(type, tensor->extents);
  if (!fits) return damaged(path, to_string(tensor->value_type()) + " for a value of type " + to_string(type));
  return std::move(*tensor);
}

Result<std::vector<Tensor>> read_arrays(const std::string& folder, const Json& list, const Graph& graph,
                                        const std::vector<ValueId>& values) {
  if (!list.is_array() || list.size() != values.size())
    return damaged(folder, fmt::format("{} arrays for {} values", list.size(), values.size()));
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    COLLAGE_TRY(Tensor tensor, read_array(folder, list[i], graph, values[i]));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<void> read_region(const std::string& folder, const Json& json, ReproBundle& bundle) {
  COLLAGE_TRY(const std::string path, file_in(folder, "region.onnx", kMostFileBytes));
  COLLAGE_TRY(const Buffer bytes, Buffer::map_file(path));
  // Weights lie inside: nothing of the folder is opened by names in the model.
  auto graph = read_graph(std::string(bytes.text()), "");
  if (!graph) return damaged(path, to_string(graph.error()));
  bundle.graph = std::move(*graph);
  if (bundle.graph.nodes.empty() || bundle.graph.inputs.size() + bundle.graph.outputs.size() > kMostPorts)
    return damaged(path, fmt::format("{} nodes", bundle.graph.nodes.size()));
  const Variant& variant = bundle.variant;
  if (variant.input_formats.size() != bundle.graph.inputs.size() ||
      variant.output_formats.size() != bundle.graph.outputs.size())
    return damaged(folder, "another number of formats than the region has inputs and outputs");
  COLLAGE_TRY(bundle.inputs, read_arrays(folder, json.at("inputs"), bundle.graph, bundle.graph.inputs));
  COLLAGE_TRY(bundle.expected, read_arrays(folder, json.at("outputs"), bundle.graph, bundle.graph.outputs));
  return {};
}

std::chrono::nanoseconds limit_from(const Json& json) {
  return std::chrono::nanoseconds(static_cast<std::int64_t>(std::clamp(json.get<double>(), 0.001, 3600.0) * 1e9));
}

Result<ReproBundle> bundle_from(const std::string& folder, const Json& json) {
  if (json.at("schema") != kReproSchema) return damaged(folder, "schema " + json.at("schema").dump().substr(0, 80));
  ReproBundle bundle;
  const Json& backend = json.at("backend");
  bundle.backend = backend.at("name").get<std::string>();
  bundle.kind = backend.at("kind").get<std::string>();
  bundle.version = backend.at("version").get<std::string>();
  bundle.build = backend.at("build").get<std::string>();
  if (!is_instance_name(bundle.backend)) return damaged(folder, "backend " + bundle.backend.substr(0, 80));
  bundle.variant = variant_from(json.at("variant"));
  if (json.contains("labels")) bundle.labels = labels_from(json.at("labels"));
  bundle.conversion = conversion_from(json.at("conversion"));
  const Json& options = json.at("options");
  const auto accuracy = accuracy_of(options.at("accuracy").get<std::string>());
  bundle.options.threads = options.at("threads").get<int>();
  if (!accuracy || bundle.options.threads < 1 || bundle.options.threads > 1024)
    return damaged(folder, "options " + options.dump().substr(0, 80));
  bundle.options.accuracy = *accuracy;
  bundle.seed = json.at("seed").get<std::uint64_t>();
  bundle.displaced_bytes = std::clamp<std::int64_t>(json.at("displaced_bytes").get<std::int64_t>(), 0, 1 << 30);
  bundle.compile_limit = limit_from(json.at("limits").at("compile_s"));
  bundle.run_limit = limit_from(json.at("limits").at("run_s"));
  bundle.refusal = refusal_from(json.at("failure"));
  bundle.stage = json.at("failure").at("stage").get<std::string>();
  bundle.machine = json.at("machine").get<std::string>();
  bundle.product = json.at("versions").at("collage").get<std::string>();
  if (!bundle.conversion) {
    COLLAGE_TRY_VOID(read_region(folder, json, bundle));
  } else if (!is_reasonable(bundle.conversion->type)) {
    return damaged(folder, "a conversion of " + to_string(bundle.conversion->type));
  }
  return bundle;
}

}  // namespace

std::size_t bundle_bytes(const ReproBundle& bundle) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : bundle.inputs) bytes += tensor.data.size();
  for (const Tensor& tensor : bundle.expected) bytes += tensor.data.size();
  for (const Value& value : bundle.graph.values)
    if (value.constant) bytes += value.constant->data.size();
  return bytes;
}

Result<void> write_bundle(const std::string& folder, const std::string& final_path, const ReproBundle& bundle) {
  Json json = description(bundle, final_path);
  if (!bundle.conversion) {
    COLLAGE_TRY_VOID(write_file(folder + "/region.onnx", export_graph(bundle.graph)));
    COLLAGE_TRY(json["inputs"], write_arrays(folder, "input", bundle.graph, bundle.graph.inputs, bundle.inputs));
    COLLAGE_TRY(json["outputs"], write_arrays(folder, "output", bundle.graph, bundle.graph.outputs, bundle.expected));
  }
  COLLAGE_TRY_VOID(write_file(folder + "/README.txt", read_me(bundle, final_path)));
  return write_file(folder + "/repro.json", json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

Result<ReproBundle> read_bundle(const std::string& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return fail(ExitCode::kBadInput, "repro/no-folder", folder, error ? error.message() : "no folder",
                "a folder that a tune wrote");
  COLLAGE_TRY(const std::string path, file_in(folder, "repro.json", kMostTextBytes));
  COLLAGE_TRY(const Buffer bytes, Buffer::map_file(path));
  const auto json = parse_json(bytes.text(), path);
  if (!json) return damaged(path, "no JSON");
  auto read = read_json(path, [&] { return bundle_from(folder, *json); });
  if (!read) return damaged(path, read.error().saw);
  return std::move(*read);
}

}  // namespace collage
