#include "runtime/case_session.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "plan/cases_file.h"
#include "runtime/case_table.h"
#include "runtime/memory_block.h"

namespace collage {

struct CaseSession::State {
  State(PlanCases all, BackendSource source, LoadOptions load_options)
      : cases(std::move(all)),
        table(cases),
        backends(std::move(source)),
        options(std::move(load_options)),
        loaded(cases.cases.size()) {
    for (const PlanCase& one : cases.cases) arena_bytes = std::max(arena_bytes, one.plan.plan.arena_bytes);
    if (cases.generic) arena_bytes = std::max(arena_bytes, cases.generic->plan.arena_bytes);
  }

  /// The session of a case, CaseTable::kNone for the generic plan.
  [[nodiscard]] Result<const Session*> session(std::size_t which) {
    const std::scoped_lock lock(mutex);
    std::optional<Session>& found = which == CaseTable::kNone ? generic : loaded[which];
    if (found) return &*found;
    const RealisedPlan& plan = which == CaseTable::kNone ? *cases.generic : cases.cases[which].plan;
    COLLAGE_TRY(found, Session::load(plan, backends, options));
    return &*found;
  }

  PlanCases cases;
  CaseTable table;
  BackendSource backends;
  LoadOptions options;
  std::size_t arena_bytes = 0;  ///< of the largest plan
  std::mutex mutex;             ///< of the sessions below
  std::vector<std::optional<Session>> loaded;
  std::optional<Session> generic;
};

namespace {

/// Looks points up by spans, so that a look-up makes no vector.
struct PointOrder {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  }
};

struct GenericContext {
  Context context;
  std::size_t last_use = 0;
};

}  // namespace

struct CaseContext::State {
  explicit State(std::shared_ptr<CaseSession::State> of) : session(std::move(of)), known(session->cases.cases.size()) {}

  [[nodiscard]] Result<Context> make(std::size_t which, std::vector<Extents> inputs) {
    COLLAGE_TRY(const Session* const loaded, session->session(which));
    if (arena == nullptr) {
      COLLAGE_TRY(MemoryBlock block, MemoryBlock::allocate(session->arena_bytes, "arena"));
      arena = std::make_shared<const MemoryBlock>(std::move(block));
    }
    return loaded->make_context({.inputs = std::move(inputs), .arena = arena});
  }

  [[nodiscard]] Result<Context*> generic_at(const ShapePoint& point) {
    COLLAGE_TRY_VOID(plan_for(session->cases, point));
    std::vector<Extents> inputs;
    for (const CaseInput& input : session->cases.inputs) {
      const ValueType type = type_at(session->cases.domain, point, input.type);
      if (!type.is_static())
        return fail(ExitCode::kBadInput, "plan/damaged", "input " + input.name, to_string(type),
                    "no open dimension but those of the domain");
      inputs.push_back(type.extents());
    }
    COLLAGE_TRY(Context made, make(CaseTable::kNone, std::move(inputs)));
    if (generic.size() >= kMostGeneric)
      generic.erase(std::ranges::min_element(generic, {}, [](const auto& entry) { return entry.second.last_use; }));
    return &generic.emplace(point, GenericContext{std::move(made), ++uses}).first->second.context;
  }

  std::shared_ptr<CaseSession::State> session;
  std::shared_ptr<const MemoryBlock> arena;
  std::vector<std::optional<Context>> known;  ///< by case
  std::map<ShapePoint, GenericContext, PointOrder> generic;
  std::size_t uses = 0;
};

Result<CaseSession> CaseSession::load(const std::string& path, Registry& registry, const LoadOptions& options) {
  COLLAGE_TRY(PlanCases cases, load_cases(path, Checked::kWhatRuns));
  return load(
      std::move(cases), [&registry](const std::string& instance) { return registry.get(instance); }, options);
}

Result<CaseSession> CaseSession::load(PlanCases cases, const BackendSource& backends, const LoadOptions& options) {
  COLLAGE_TRY_VOID(verify(cases));
  return CaseSession(std::make_shared<State>(std::move(cases), backends, options));
}

const PlanCases& CaseSession::cases() const { return state_->cases; }

Result<ShapePoint> CaseSession::point_of(std::span<const Extents> inputs) const {
  if (inputs.size() != cases().inputs.size())
    return fail(ExitCode::kBadInput, "input/wrong-count", "inputs", std::to_string(inputs.size()),
                std::to_string(cases().inputs.size()));
  std::map<std::string, std::int64_t> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const CaseInput& input = cases().inputs[i];
    COLLAGE_TRY_VOID(read_extents(domain(), input.name, input.type, inputs[i], extents));
  }
  return collage::point_of(domain(), extents);
}

std::size_t CaseSession::loaded_count() const {
  const std::scoped_lock lock(state_->mutex);
  return static_cast<std::size_t>(std::ranges::count_if(state_->loaded, [](const auto& one) { return !!one; })) +
         (state_->generic ? 1U : 0U);
}

CaseContext CaseSession::make_context() const { return CaseContext(std::make_unique<CaseContext::State>(state_)); }

CaseContext::CaseContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
CaseContext::CaseContext(CaseContext&&) noexcept = default;
CaseContext& CaseContext::operator=(CaseContext&&) noexcept = default;
CaseContext::~CaseContext() = default;

Result<Context*> CaseContext::at(std::span<const std::int64_t> point) {
  if (const std::size_t which = state_->session->table.find(point); which != CaseTable::kNone) {
    std::optional<Context>& known = state_->known[which];
    if (!known) {
      COLLAGE_TRY(known, state_->make(which, {}));
    }
    return &*known;
  }
  const auto found = state_->generic.find(point);
  if (found == state_->generic.end()) return state_->generic_at(ShapePoint(point.begin(), point.end()));
  found->second.last_use = ++state_->uses;
  return &found->second.context;
}

}  // namespace collage
