#include "workload/workload.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"
#include "workload/networks.h"

namespace collage {
namespace {

struct Entry {
  std::string_view name;
  Graph (*make)(const WorkloadOptions&);
  bool has_tokens = false;
  bool has_layers = false;
  bool opens_tokens = false;  ///< takes dynamic_seq
  bool has_table = false;     ///< of positions, which bounds open tokens
};

constexpr std::array kWorkloads = {
    Entry{.name = "bert_base",
          .make = networks::bert_base,
          .has_tokens = true,
          .has_layers = true,
          .opens_tokens = true,
          .has_table = true},
    Entry{
        .name = "bert_full", .make = networks::bert_full, .has_tokens = true, .has_layers = true, .opens_tokens = true},
    Entry{.name = "dcgan", .make = networks::dcgan},
    Entry{.name = "densenet121", .make = networks::densenet121},
    Entry{.name = "gpt2", .make = networks::gpt2, .has_tokens = true, .has_layers = true},
    Entry{.name = "mnist", .make = networks::mnist},
    Entry{.name = "mobilenet_v2", .make = networks::mobilenet_v2},
    Entry{.name = "nasneta", .make = networks::nasneta},
    Entry{.name = "resnet50", .make = networks::resnet50},
    Entry{.name = "resnet50_3d", .make = networks::resnet50_3d},
    Entry{.name = "resnext50_32x4d", .make = networks::resnext50_32x4d},
    Entry{.name = "squeezenet1_1", .make = networks::squeezenet1_1},
    Entry{.name = "unet", .make = networks::unet},
    Entry{.name = "vgg16", .make = networks::vgg16},
    Entry{.name = "vit_small", .make = networks::vit_small, .has_layers = true},
    Entry{.name = "yolov3", .make = networks::yolov3},
};

}  // namespace

std::vector<std::string_view> workload_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kWorkloads) names.push_back(entry.name);
  return names;
}

Result<Graph> make_workload(std::string_view name, const WorkloadOptions& options) {
  const auto found = std::find_if(kWorkloads.begin(), kWorkloads.end(), [&](const Entry& e) { return e.name == name; });
  if (found == kWorkloads.end()) {
    const std::vector<std::string_view> names = workload_names();
    const std::vector<std::string> known(names.begin(), names.end());
    return fail(ExitCode::kUsage, "workload/unknown-name", "workload", std::string(name) + did_you_mean(name, known),
                fmt::format("{}", fmt::join(known, ", ")));
  }
  if (options.batch < 1 || options.batch > 4096)
    return fail(ExitCode::kUsage, "workload/bad-size", "--batch", std::to_string(options.batch), "1 to 4096");
  if (options.seq < 0 || options.seq > 4096 || (options.seq > 0 && !found->has_tokens))
    return fail(ExitCode::kUsage, "workload/bad-size", "--seq", std::to_string(options.seq),
                found->has_tokens ? "1 to 4096" : "no --seq: " + std::string(name) + " has no tokens");
  if (options.dynamic_seq && !found->opens_tokens)
    return fail(ExitCode::kUsage, "workload/bad-size", "--dynamic-seq", std::string(name), "bert_base, bert_full");
  if (options.dynamic_seq && options.seq > 0 && !found->has_table)
    return fail(ExitCode::kUsage, "workload/bad-size", "--seq", std::to_string(options.seq),
                "no --seq with --dynamic-seq: " + std::string(name) + " has no bound on its tokens");
  if (options.layers < 0 || options.layers > 256 || (options.layers > 0 && !found->has_layers))
    return fail(ExitCode::kUsage, "workload/bad-size", "--layers", std::to_string(options.layers),
                found->has_layers ? "1 to 256" : "no --layers: " + std::string(name) + " has a fixed number of them");
  return found->make(options);
}

}  // namespace collage
