#include "tests/readers/run_plan.h"

#include <cstring>

#include "api/run/loaded_plan.h"
#include "base/hash.h"
#include "tests/runtime/runtime_fixture.h"

namespace collage::test {
namespace {

/// Numbers that are small whatever their type: as an index, as a count of loops, as a float.
void fill(std::span<std::byte> bytes) {
  std::memset(bytes.data(), 0, bytes.size());
  for (std::size_t i = 0; i < bytes.size(); i += 8) bytes[i] = std::byte{1};
}

Result<void> run_once(Session& session, std::string& text) {
  for (std::size_t i = 0; i < session.inputs().size(); ++i) fill(session.input(i));
  // Of a changed plan, a loop may go on for ever.
  COLLAGE_TRY_VOID(session.run({.cancel = {}, .deadline = Clock::now() + std::chrono::seconds(2)}));
  for (std::size_t i = 0; i < session.outputs().size(); ++i) {
    COLLAGE_TRY(const DynamicOutput output, session.output_tensor(i));
    text += to_string(ValueType::tensor(output.type, output.extents)) + ' ';
    text += hash_hex(output.data, byte_count(output.type, output.extents)) + ' ';
  }
  return {};
}

/// Of open inputs, all open extents.
std::vector<Extents> extents_at(const LoadedPlan& plan, std::int64_t open) {
  std::vector<Extents> all;
  for (const TensorPort& port : plan.inputs()) {
    Extents& extents = all.emplace_back();
    for (const Dim& dim : port.type.shape.value_or(Shape{})) extents.push_back(dim.is_static() ? dim.extent : open);
  }
  return all;
}

/// What a run says is about the values and the machine, no more about the file.
Result<std::string> run_loaded(const LoadedPlan& plan, bool runs) {
  COLLAGE_TRY(Session session, plan.make_session());
  std::string text;
  if (!runs) return text;
  if (!plan.has_open_inputs()) {
    COLLAGE_TRY_VOID(run_once(session, text));
    return text;
  }
  for (const std::int64_t open : {2, 8, 3}) {
    const auto set = session.set_shapes(extents_at(plan, open));
    if (!set) {
      text += set.error().code + ' ';
      // What the plan does not serve is no damage.
      if (!set.error().code.starts_with("shape/")) return std::unexpected(set.error());
      continue;
    }
    COLLAGE_TRY_VOID(run_once(session, text));
  }
  return text;
}

}  // namespace

Answer run_plan(const std::string& path, bool runs) {
  const auto plan = LoadedPlan::load(path, test_registry());
  if (!plan) return refused(plan.error());
  Answer answer = answer_of([&] { return run_loaded(*plan, runs); });
  if (!answer.is_accepted) answer.text += " of " + path;
  return answer;
}

}  // namespace collage::test
