#include "workload/workload.h"

#include <algorithm>
#include <array>

#include "workload/networks.h"

namespace collage {
namespace {

struct Entry {
  std::string_view name;
  Graph (*make)(const WorkloadOptions&);
  bool has_tokens;
  bool opens_tokens = false;  ///< takes dynamic_seq
};

constexpr std::array kWorkloads = {
    Entry{"bert_base", networks::bert_base, true, true},
    Entry{"bert_full", networks::bert_full, true, true},
    Entry{"dcgan", networks::dcgan, false},
    Entry{"densenet121", networks::densenet121, false},
    Entry{"gpt2", networks::gpt2, true},
    Entry{"mnist", networks::mnist, false},
    Entry{"mobilenet_v2", networks::mobilenet_v2, false},
    Entry{"nasneta", networks::nasneta, false},
    Entry{"resnet50", networks::resnet50, false},
    Entry{"resnet50_3d", networks::resnet50_3d, false},
    Entry{"resnext50_32x4d", networks::resnext50_32x4d, false},
    Entry{"squeezenet1_1", networks::squeezenet1_1, false},
    Entry{"unet", networks::unet, false},
    Entry{"vgg16", networks::vgg16, false},
    Entry{"vit_small", networks::vit_small, false},
    Entry{"yolov3", networks::yolov3, false},
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
    std::string known;
    for (const Entry& entry : kWorkloads) known += (known.empty() ? "" : ", ") + std::string(entry.name);
    return fail(ExitCode::kUsage, "workload/unknown-name", "workload", std::string(name), known);
  }
  if (options.batch < 1 || options.batch > 4096)
    return fail(ExitCode::kUsage, "workload/bad-size", "--batch", std::to_string(options.batch), "1 to 4096");
  if (options.seq < 0 || options.seq > 4096 || (options.seq > 0 && !found->has_tokens))
    return fail(ExitCode::kUsage, "workload/bad-size", "--seq", std::to_string(options.seq),
                found->has_tokens ? "1 to 4096" : "no --seq: " + std::string(name) + " has no tokens");
  if (options.dynamic_seq && !found->opens_tokens)
    return fail(ExitCode::kUsage, "workload/bad-size", "--dynamic-seq", std::string(name), "bert_base, bert_full");
  if (options.layers < 0 || options.layers > 256)
    return fail(ExitCode::kUsage, "workload/bad-size", "--layers", std::to_string(options.layers), "1 to 256");
  return found->make(options);
}

}  // namespace collage
