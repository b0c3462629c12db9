#include "bench/serve/load_plan.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/plan_cases.h"
#include "serve/datatype.h"

namespace collage::load {
namespace {

using Clock = std::chrono::steady_clock;

ShapePoint point_to_load(const PlanCases& cases) {
  if (!cases.generic && !cases.cases.empty()) return cases.cases.front().point;
  ShapePoint point;
  for (const DimensionRange& range : cases.domain.dimensions) point.push_back(std::max<std::int64_t>(range.low, 1));
  return point;
}

Extents extents_at(const LoadedPlan& plan, const ShapePoint& point, const ValueType& type) {
  const ValueType bound = type_at(plan.domain(), point, type);
  Extents extents;
  for (const Dim& dim : *bound.shape) extents.push_back(dim.is_static() ? dim.extent : 1);
  return extents;
}

std::string made_up(ElementType type, const Extents& extents, std::mt19937& random) {
  std::string bytes(byte_count(type, extents), '\0');
  if (type != ElementType::kFloat32) return bytes;  // whole numbers may be indices: 0 is always one
  std::normal_distribution<float> normal;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(float)) {
    const float value = normal(random);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  }
  return bytes;
}

Result<void> call(Session& session, const LoadSubject& subject, std::vector<std::string>& outputs) {
  if (subject.plan.has_open_inputs()) COLLAGE_TRY_VOID(session.set_shapes(subject.extents));
  for (std::size_t i = 0; i < subject.inputs.size(); ++i)
    std::memcpy(session.input(i).data(), subject.inputs[i].data(), subject.inputs[i].size());
  COLLAGE_TRY_VOID(session.run());
  outputs.resize(subject.plan.outputs().size());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    COLLAGE_TRY(const DynamicOutput output, session.output_tensor(o));
    outputs[o].assign(static_cast<const char*>(output.data), byte_count(output.type, output.extents));
  }
  return {};
}

void make_request(LoadSubject& subject) {
  std::string tensors;
  subject.json = R"({"parameters":{"binary_data_output":true},"inputs":[)";
  for (std::size_t i = 0; i < subject.inputs.size(); ++i) {
    const TensorPort& port = subject.plan.inputs()[i];
    subject.json += fmt::format(
        R"({}{{"name":"{}","datatype":"{}","shape":[{}],"parameters":{{"binary_data_size":{}}}}})", i > 0 ? "," : "",
        port.name, datatype_of(port.type.element), fmt::join(subject.extents[i], ","), subject.inputs[i].size());
    tensors += subject.inputs[i];
  }
  subject.json += "]}";
  subject.body = subject.json + tensors;
}

}  // namespace

Speed speed_of(std::vector<double>& times, double seconds) {
  if (times.empty()) return {};
  std::ranges::sort(times);
  return {.per_second = static_cast<double>(times.size()) / seconds,
          .p50 = times[times.size() / 2],
          .p99 = times[times.size() * 99 / 100]};
}

Result<LoadSubject> load_subject(const std::string& path) {
  COLLAGE_TRY(LoadedPlan plan, LoadedPlan::load(path));
  const ShapePoint point = point_to_load(plan.cases());
  std::mt19937 random(1);
  LoadSubject subject{
      .plan = plan, .extents = {}, .inputs = {}, .outputs = {}, .output_types = {}, .json = {}, .body = {}};
  for (const TensorPort& port : plan.inputs()) {
    subject.extents.push_back(extents_at(plan, point, port.type));
    subject.inputs.push_back(made_up(port.type.element, subject.extents.back(), random));
  }
  for (const TensorPort& port : plan.outputs()) subject.output_types.push_back(port.type.element);
  COLLAGE_TRY(Session session, plan.make_session());
  COLLAGE_TRY_VOID(call(session, subject, subject.outputs));
  make_request(subject);
  return subject;
}

Result<Speed> in_process_speed(const LoadSubject& subject, int sessions, double seconds) {
  std::vector<Session> made;
  for (int s = 0; s < sessions; ++s) {
    COLLAGE_TRY(Session session, subject.plan.make_session());
    made.push_back(std::move(session));
  }
  std::vector<std::vector<double>> times(made.size());
  std::vector<std::thread> threads;
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  for (std::size_t s = 0; s < made.size(); ++s)
    threads.emplace_back([&, s] {
      std::vector<std::string> outputs;
      for (Clock::time_point from = Clock::now(); from < end;) {
        if (!call(made[s], subject, outputs)) return;
        const Clock::time_point to = Clock::now();
        times[s].push_back(std::chrono::duration<double>(to - from).count());
        from = to;
      }
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& some : times) all.insert(all.end(), some.begin(), some.end());
  return speed_of(all, std::chrono::duration<double>(Clock::now() - begin).count());
}

}  // namespace collage::load
