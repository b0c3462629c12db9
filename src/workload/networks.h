// The networks, grouped by family. make_workload() (workload.h) selects one by name.
#pragma once

#include "workload/builder.h"

namespace collage::networks {

inline constexpr auto kFloat = ElementType::kFloat32;

// The cores of the Collage paper's evaluation.
Graph bert_full(const WorkloadOptions& options);
Graph dcgan(const WorkloadOptions& options);
Graph nasneta(const WorkloadOptions& options);
Graph resnet50_3d(const WorkloadOptions& options);
Graph resnext50_32x4d(const WorkloadOptions& options);

// Complete convolutional networks.
Graph mnist(const WorkloadOptions& options);
Graph resnet50(const WorkloadOptions& options);
Graph mobilenet_v2(const WorkloadOptions& options);
Graph squeezenet1_1(const WorkloadOptions& options);
Graph vgg16(const WorkloadOptions& options);
Graph densenet121(const WorkloadOptions& options);
Graph yolov3(const WorkloadOptions& options);
Graph unet(const WorkloadOptions& options);

// Complete transformers.
Graph bert_base(const WorkloadOptions& options);
Graph gpt2(const WorkloadOptions& options);
Graph vit_small(const WorkloadOptions& options);

}  // namespace collage::networks
