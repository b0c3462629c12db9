#include "tests/api/c/plan_files.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <thread>

#include "tests/support/small_networks.h"

namespace collage::test {
namespace {

constexpr std::uint64_t kGraphSeed = 5;

void save(PlanCases cases, const std::filesystem::path& path) {
  EXPECT_TRUE(cases.domain.dimensions.empty() || share_weights(cases, relocate_external_data));
  const auto done = save_cases(cases, path.string());
  EXPECT_TRUE(done) << to_string(done.error());
}

void make_plans(const std::filesystem::path& folder) {
  save(single_case(increment_plan()), folder / "increment.collage");
  save(single_case(all_plain(sample_graph())), folder / "sample.collage");
  save(rows_cases({2, 8}, true), folder / "rows.collage");
  for (const int threads : {1, 2}) {
    const std::string end = std::to_string(threads) + ".collage";
    save(single_case(wide_plan(threads)), folder / ("host" + end));
    for (const std::string backend : {"native", "onednn"})
      if (auto plan = plan_of_backend(backend, convolution_graph(), threads))
        save(single_case(*std::move(plan)), folder / (backend + end));
  }
}

/// Numbers of this input's type.
void fill(void* data, std::size_t bytes, std::int32_t type, Dice& dice) {
  if (type == COLLAGE_FLOAT32) {
    for (float& value : std::span(static_cast<float*>(data), bytes / sizeof(float)))
      value = static_cast<float>(dice.below(2001)) / 500.0F - 2.0F;
  } else {
    std::memset(data, 0, bytes);  // right for indices and conditions too
  }
}

}  // namespace

RealisedPlan wide_plan(int threads) {
  Graph graph;
  graph.opsets = {{"", 26}};
  const Extents image = {1, 48, 32, 32};
  const ValueId x = add_input(graph, "x", image);
  const ValueId a = add_op(graph, "Mul", {x, add_floats(graph, {48, 1, 1}, 1)}, image);
  const ValueId b = add_op(graph, "HardSwish", {a}, image);
  const ValueId c = add_op(graph, "Concat", {b, x}, {1, 96, 32, 32}, {{"axis", std::int64_t{1}}});
  const ValueId d = add_op(graph, "Transpose", {c}, {1, 32, 32, 96}, {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
  const ValueId e = add_op(graph, "LayerNormalization", {d, add_floats(graph, {96}, 2)}, {1, 32, 32, 96});
  graph.outputs = {add_op(graph, "Softmax", {e}, {1, 32, 32, 96})};
  RealisedPlan plan = all_plain(graph);
  plan.plan.threads = threads;
  return plan;
}

Graph convolution_graph() {
  testing_support::NetworkBuilder net(kGraphSeed);
  const Extents image = {1, 32, 48, 48};
  const ValueId x = net.input("x", image);
  const ValueId y = testing_support::add_conv(net, x, 32, 3);
  return net.take({net.add("Relu", {net.add("Add", {y, x}, image)}, image)});
}

std::optional<RealisedPlan> plan_of_backend(const std::string& name, const Graph& graph, int threads) {
  const auto found = test_registry().get(name);
  if (!found) return std::nullopt;
  Backend& backend = **found;
  NodeSet nodes(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) nodes.insert(i);
  const Region region = make_region(graph, uses_of(graph), nodes);
  const CompileOptions options{.threads = threads};
  const auto variants = backend.support(graph, region, options);
  if (!variants) return std::nullopt;
  const auto is_plain = [](const Format& format) { return format.is_plain(); };
  const auto variant = std::ranges::find_if(*variants, [&](const Variant& one) {
    return std::ranges::all_of(one.input_formats, is_plain) && std::ranges::all_of(one.output_formats, is_plain);
  });
  if (variant == variants->end()) return std::nullopt;
  const CompileRequest one{.graph = &graph, .region = region, .variant = *variant, .model_bytes = std::nullopt};
  const auto artifacts = backend.compile({&one, 1}, options);
  if (!artifacts.front()) return std::nullopt;
  const Cover cover{.steps = {{.backend = name, .work = CoverKernel{region, *variant}}}, .cost_ns = 0};
  RealiseRequest request;
  request.graph = &graph;
  request.cover = &cover;
  request.artifacts = {&*artifacts.front()};
  request.header.backends = {{name, backend.info().version, backend.info().build}};
  request.header.threads = threads;
  return realise(request).value();
}

const std::vector<PlanFile>& plan_files() {
  static const ScratchFolder folder;
  static std::vector<PlanFile> files;
  if (!files.empty()) return files;
  const char* const given = std::getenv("COLLAGE_PLANS");
  const std::filesystem::path where = given == nullptr ? folder.path() : std::filesystem::path(given);
  if (std::filesystem::is_empty(where)) make_plans(where);
  for (const auto& entry : std::filesystem::directory_iterator(where))
    if (entry.path().extension() == ".collage") files.push_back({entry.path().stem().string(), entry.path().string()});
  std::ranges::sort(files, {}, &PlanFile::name);
  EXPECT_FALSE(files.empty());
  return files;
}

std::vector<std::int64_t> open_extents_of(const collage_plan* plan) {
  std::size_t count = 0;
  EXPECT_TRUE(is_good(c_api().plan_input_count(plan, &count)));
  for (std::size_t i = 0; i < count; ++i) {
    collage_tensor_info info{};
    info.size = sizeof info;
    EXPECT_TRUE(is_good(c_api().plan_input_info(plan, i, &info)));
    if (std::ranges::count(std::span(info.extents, static_cast<std::size_t>(std::max(info.rank, 0))), -1) > 0)
      return {2, 8, 3, 16};
  }
  return {0};
}

collage_session_options pool_options(collage_parallel_for parallel_for, void* pool, std::int32_t threads) {
  collage_session_options options{};
  options.size = sizeof options;
  options.parallel_for = parallel_for;
  options.pool = pool;
  options.pool_threads = threads;
  return options;
}

void on_new_threads(void*, std::size_t count, void (*task)(void*, std::size_t), void* data) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back(task, data, i);
  for (std::thread& thread : threads) thread.join();
}

Runner::Runner(const collage_plan* plan, const collage_session_options* options) {
  std::size_t count = 0;
  EXPECT_TRUE(is_good(c_api().plan_input_count(plan, &count)));
  EXPECT_TRUE(is_good(c_api().plan_output_count(plan, &outputs_)));
  for (std::size_t i = 0; i < count; ++i) {
    collage_tensor_info info{};
    info.size = sizeof info;
    EXPECT_TRUE(is_good(c_api().plan_input_info(plan, i, &info)));
    inputs_.emplace_back(info.extents, info.extents + std::max(info.rank, 0));
  }
  collage_session* session = nullptr;
  error_ = code_of(c_api().session_create(plan, options, &session));
  session_.reset(session);
}

collage_status* Runner::set_extents(std::int64_t extent) {
  std::vector<Extents> extents = inputs_;
  std::vector<collage_shape> shapes;
  for (Extents& one : extents) {
    std::ranges::replace(one, -1, extent);
    shapes.push_back({one.data(), one.size()});
  }
  return c_api().session_set_shapes(session_.get(), shapes.data(), shapes.size());
}

collage_status* Runner::fill_inputs(std::uint64_t seed) {
  Dice dice(seed);
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    void* data = nullptr;
    std::size_t size = 0;
    collage_tensor_info info{};
    info.size = sizeof info;
    if (collage_status* const status = c_api().session_input(session_.get(), i, &data, &size)) return status;
    if (collage_status* const status = c_api().session_input_info(session_.get(), i, &info)) return status;
    fill(data, size, info.element_type, dice);
  }
  return nullptr;
}

collage_status* Runner::take_outputs(std::string& bytes) {
  for (std::size_t i = 0; i < outputs_; ++i) {
    collage_tensor tensor{};
    tensor.size = sizeof tensor;
    if (collage_status* const status = c_api().session_output(session_.get(), i, &tensor)) return status;
    bytes.append(static_cast<const char*>(tensor.data), tensor.bytes);
  }
  return nullptr;
}

std::string Runner::run(std::int64_t extent, std::uint64_t seed, std::string& bytes) {
  if (session_ == nullptr) return error_;
  collage_status* status = extent > 0 ? set_extents(extent) : nullptr;
  if (status == nullptr) status = fill_inputs(seed);
  if (status == nullptr) status = c_api().session_run(session_.get());
  if (status == nullptr) status = take_outputs(bytes);
  return code_of(status);
}

std::string Runner::outputs(std::int64_t extent, std::uint64_t seed) {
  std::string bytes;
  EXPECT_EQ(run(extent, seed, bytes), "");
  return bytes;
}

}  // namespace collage::test
