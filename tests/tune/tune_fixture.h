// Shared by the tests of this folder: a scratch folder that also holds all temporaries of the process and its workers,
// a small model as a file, and what is left behind after a tune.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backend/registry.h"
#include "ir/graph.h"
#include "onnx/export.h"
#include "tests/support/paths.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/session_of.h"
#include "tune/tune.h"

namespace collage::test {

/// A folder that goes away with the object; until then temporary files of this process and of its children go to
/// "temporary" inside.
class Scratch {
 public:
  Scratch() {
    std::filesystem::create_directory(temporary());
    const char* before = std::getenv("TMPDIR");
    before_ = before != nullptr ? before : "";
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  ~Scratch() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::string temporary() const { return file("temporary"); }

  /// Names of what lies in a folder of this one.
  [[nodiscard]] std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(file(folder)))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  /// Temporaries of ours; ONNX Runtime leaves a file of its own.
  [[nodiscard]] std::vector<std::string> temporaries() const {
    std::vector<std::string> names = names_in("temporary");
    std::erase_if(names, [](const std::string& name) { return !name.starts_with("collage"); });
    return names;
  }

  /// Processes other than this one, zombies included for children, that belong to this scratch folder.
  [[nodiscard]] std::vector<pid_t> processes() const {
    std::vector<pid_t> found;
    DIR* proc = ::opendir("/proc");
    for (const dirent* entry = ::readdir(proc); entry != nullptr; entry = ::readdir(proc)) {
      const pid_t pid = std::atoi(entry->d_name);
      if (pid <= 0 || pid == ::getpid()) continue;
      if (is_child(pid) || text_of(pid, "environ").find(folder_.path().string()) != std::string::npos)
        found.push_back(pid);
    }
    ::closedir(proc);
    return found;
  }

 private:
  static std::string text_of(pid_t pid, const char* what) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/" + what);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static bool is_child(pid_t pid) {
    const std::string stat = text_of(pid, "stat");
    const std::size_t end = stat.rfind(')');
    return end != std::string::npos && std::atoi(stat.c_str() + end + 4) == ::getpid();
  }

  ScratchFolder folder_;
  std::string before_;
};

inline std::vector<std::string> module_folders() {
  const std::string build = test::build_path();
  return {build + "/lib/collage", build + "/tests/modules"};
}
inline std::vector<std::string> worker_command() {
  std::vector<std::string> command = {test::build_path("/tests/tune_worker")};
  for (std::string& folder : module_folders()) command.push_back(std::move(folder));
  return command;
}

/// That a pause of the machine does not use up: what a small tune finds and leaves to the next is that of a finished
/// one.
constexpr double kAmpleBudgetSeconds = 20;

/// Of "model.onnx" into "model.collage" with the store "costs", all in the folder.
inline TuneOptions small_tune(const Scratch& scratch, std::vector<std::string> backends) {
  TuneOptions made;
  made.model = scratch.file("model.onnx");
  made.output = scratch.file("model.collage");
  made.backends = std::move(backends);
  made.store = scratch.file("costs");
  made.budget_s = kAmpleBudgetSeconds;
  made.worker_command = worker_command();
  return made;
}

inline Tensor numbers(const Extents& extents, float scale) {
  std::vector<float> values(static_cast<std::size_t>(element_count(extents)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * std::sin(static_cast<float>(i) + scale);
  return make_tensor<float>(ElementType::kFloat32, extents, values);
}

/// x[6,16] -> Add(w) "a" -> Relu "b" -> Add(v) "c" -> Relu "y". Every backend takes all of it.
inline Graph small_graph() {
  Graph graph;
  graph.name = "small";
  graph.opsets = {{"", 26}};
  const ValueType type = ValueType::tensor(ElementType::kFloat32, {6, 16});
  const auto op = [&](const std::string& name, const std::string& op_type, const std::vector<ValueId>& inputs) {
    const ValueId out = add_value(graph, name, type);
    add_node(graph, {.name = name + "_node",
                     .domain = "",
                     .op_type = op_type,
                     .inputs = inputs,
                     .outputs = {out},
                     .captures = {},
                     .attributes = {}});
    return out;
  };
  const ValueId x = add_value(graph, "x", type);
  graph.inputs = {x};
  const ValueId w = add_constant(graph, "w", numbers({6, 16}, 0.5F));
  const ValueId v = add_constant(graph, "v", numbers({6, 16}, 0.7F));
  const ValueId a = op("a", "Add", {x, w});
  const ValueId b = op("b", "Relu", {a});
  const ValueId c = op("c", "Add", {b, v});
  graph.outputs = {op("y", "Relu", {c})};
  return graph;
}

/// y for an x, computed here.
inline std::vector<float> small_graph_output(const Tensor& x) {
  const Tensor w = numbers({6, 16}, 0.5F);
  const Tensor v = numbers({6, 16}, 0.7F);
  std::vector<float> y(6 * 16);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const float b = std::max(x.data.as<float>()[i] + w.data.as<float>()[i], 0.0F);
    y[i] = std::max(b + v.data.as<float>()[i], 0.0F);
  }
  return y;
}

/// The plan of a small graph gives its numbers for every one of some inputs, one after the other.
inline void expect_small_graph_numbers(const std::string& plan, Registry& registry, const std::vector<float>& scales) {
  auto session = session_of(plan, registry);
  ASSERT_TRUE(session) << to_string(session.error());
  for (const float scale : scales) {
    const Tensor x = numbers({6, 16}, scale);
    ASSERT_TRUE(session->set_inputs(std::vector{x}));
    const auto ran = session->run();
    ASSERT_TRUE(ran) << to_string(ran.error());
    const auto outputs = session->copy_outputs();
    ASSERT_TRUE(outputs);
    const std::vector<float> expected = small_graph_output(x);
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(outputs->at(0).data.as<float>()[i], expected[i], 1e-5) << i;
  }
}

inline void write_model(const Graph& graph, const std::string& path) {
  std::ofstream(path, std::ios::binary) << export_graph(graph, {.external = {}, .node_metadata = {}});
}

}  // namespace collage::test
