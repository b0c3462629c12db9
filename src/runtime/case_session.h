// Runs a plan of many shapes. A CaseSession is the loaded plan: kernels of a case are loaded when a context first needs
// them. A CaseContext is one thread's place to run it: it keeps a Context for every shape it has met, so that a run of
// a known shape is a look-up and a loop over bound calls. Its contexts share one arena, as large as the largest case's.
// In: a plan file, or cases, and the backends they name. Out: contexts for shapes.
// Cost: loading a case at its first use; of a known shape the look-up (runtime/case_table.h).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/plan_cases.h"
#include "runtime/session.h"

namespace collage {

class CaseContext;

class CaseSession {
 public:
  /// Loads a plan file of either schema. Errors as of load_cases; plan/missing-backend for backends that are not here.
  [[nodiscard]] static Result<CaseSession> load(const std::string& path, Registry& registry,
                                                const LoadOptions& options = {});
  /// Cases in memory, which the session shares. Backends from `backends` outlive the session.
  [[nodiscard]] static Result<CaseSession> load(PlanCases cases, const BackendSource& backends,
                                                const LoadOptions& options = {});

  [[nodiscard]] const PlanCases& cases() const;
  [[nodiscard]] const ShapeDomain& domain() const { return cases().domain; }

  /// The point of inputs of these extents, in the order of cases().inputs. Errors: input/wrong-count,
  /// input/wrong-shape, shape/outside.
  [[nodiscard]] Result<ShapePoint> point_of(std::span<const Extents> inputs) const;

  /// Sessions loaded so far, of cases and of the generic plan. Thread-safe.
  [[nodiscard]] std::size_t loaded_count() const;

  /// Thread-safe; loads nothing.
  [[nodiscard]] CaseContext make_context() const;

  struct State;

 private:
  explicit CaseSession(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

/// One thread at a time. Keeps its session's state alive.
class CaseContext {
 public:
  CaseContext(CaseContext&&) noexcept;
  CaseContext& operator=(CaseContext&&) noexcept;
  ~CaseContext();

  /// The context for this point, which is made when it is asked for first; one of the generic plan may be dropped when
  /// many other shapes have been asked for since. It is the caller's until the next call. Errors: shape/outside,
  /// shape/no-case; those of Session::load and Session::make_context.
  [[nodiscard]] Result<Context*> at(std::span<const std::int64_t> point);

  /// Shapes of the generic plan that are kept ready.
  static constexpr std::size_t kMostGeneric = 64;

 private:
  friend class CaseSession;
  struct State;
  explicit CaseContext(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace collage
